"""Reports for the browser."""

import pytest
from browser_reports import saved


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """Return a function from the name of a report to its file."""
    folder = tmp_path_factory.mktemp("reports")
    return lambda name: saved(name, folder)
