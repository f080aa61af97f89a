"""Shares of work: parts within parts, and what was said is never taken back."""

from __future__ import annotations

import pytest

from heterodag.runtime.work import OutOfTime, Work


def test_parts_are_nested_and_end_with_their_block():
    told = []
    with Work(progress=told.append) as work:
        with work.part(0.0, 0.5):
            with work.part(0.2, 0.6):
                work.report(0.0)
                work.report(0.5)
                work.report(1.0)
            work.report(1.0)
        with work.part(0.5, 0.9):
            work.report(0.5)
        work.report(1.0)
    assert told == pytest.approx([0.1, 0.2, 0.3, 0.5, 0.7, 1.0])


def test_a_part_that_is_given_up_ends_too():
    told = []
    work = Work(progress=told.append)
    with pytest.raises(OutOfTime), work.part(0.0, 0.5):
        raise OutOfTime
    work.report(1.0)
    assert told == [1.0]


def test_shares_never_fall_and_stay_within_their_part():
    told = []
    work = Work(progress=told.append)
    with work.part(0.0, 0.5):
        for share in (0.8, 0.2, 7.0, -1.0):
            work.report(share)
    assert told == [0.4, 0.4, 0.5, 0.5]
