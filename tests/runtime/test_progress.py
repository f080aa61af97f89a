"""The time left: from all that was done, in words; and progress of a fit that goes with the work."""

import numpy as np
import pytest

from heterodag import HOST, simulate
from heterodag.estimators import host
from heterodag.runtime.progress import seconds_left, time_left
from heterodag.scores.competition import CompetingFitter


def test_the_time_left_is_that_of_work_at_the_same_speed():
    assert seconds_left(10.0, 0.25) == pytest.approx(30.0)
    assert seconds_left(10.0, 1.0) == 0.0
    assert seconds_left(10.0, 0.001) is None


@pytest.mark.parametrize(
    ("elapsed", "share", "said"),
    [
        (1.0, 0.0, ""),
        (30.0, 0.5, "about 30 s left"),
        (600.0, 0.5, "about 10 min left"),
        (9000.0, 0.5, "about 2.5 h left"),
    ],
)
def test_the_time_left_in_words(elapsed, share, said):
    assert time_left(elapsed, share) == said


def test_progress_never_falls_and_goes_with_the_models_fitted(monkeypatch):
    """Work is counted in models fitted: unlike seconds, it is the same on every machine."""
    data = simulate(400, 12, degree=1, mechanism="straight", spread="straight", random_state=1)
    fitted, said, fit = [0], [], CompetingFitter.fit

    def counted(self, table, keys, starts, effort):
        fitted[0] += len(keys)
        return fit(self, table, keys, starts, effort)

    class Recorder:
        def __enter__(self):
            return lambda share: said.append((fitted[0], share))

        def __exit__(self, *error):
            return None

    monkeypatch.setattr(CompetingFitter, "fit", counted)
    monkeypatch.setattr(host, "progress_bar", lambda label, enabled: Recorder())
    HOST().fit(data.X)
    work, shares = np.array(said).T
    assert (np.diff(shares) >= 0.0).all()
    assert shares[-1] == 1.0
    # Halfway through the models a bar that stands still would say 0.1 or less, one that runs ahead 0.9 or more.
    done = work / fitted[0]
    for moment in (0.3, 0.5, 0.7):
        assert abs(shares[np.searchsorted(done, moment)] - moment) < 0.3
