"""Memory that is free: a number where the system tells, nothing where it does not."""

import pytest

from heterodag.simulation import memory


def test_some_memory_is_free_here():
    free = memory.available_memory()
    assert free is None or 10**7 < free < 10**15


def test_the_size_of_the_machine_stands_in_where_the_system_says_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "none")
    monkeypatch.setattr(
        memory.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.__getitem__, raising=False
    )
    assert memory.available_memory() == 4096 * 1000


@pytest.mark.parametrize(("size", "said"), [(3e10, "30 GB"), (1.24e9, "1.2 GB"), (4.5e7, "45 MB"), (10.0, "1 MB")])
def test_sizes_in_words(size, said):
    assert memory.in_words(size) == said
