"""Questions about one variable under interventions, answered as frames: its distribution, and how much it changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.graph import ancestors
from heterodag.errors import check_integer, check_number
from heterodag.io.inputs import column_index
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.threads import single_threaded
from heterodag.scm.attribution import log_spread_shares, variance_shares
from heterodag.scm.effects import Question, answers, half_width
from heterodag.scm.interventions import Actions
from heterodag.scm.propagate import draw_noise, propagate, stream

if TYPE_CHECKING:
    import pandas as pd

    from heterodag.scm.model import HeteroscedasticSCM


def question_about(scm: HeteroscedasticSCM, target: Any, quantiles: Sequence[float]) -> Question:
    """Return the question about a variable, or raise an error if there is no such variable or quantile."""
    index = column_index("target", target, scm.names)
    wanted = tuple(check_number("quantiles", q, low=0.0, high=1.0) for q in quantiles)
    above = ancestors(scm.adjacency)[index]
    return Question(index, (*(int(j) for j in scm.order if above[j]), index), wanted)


def described(
    scm: HeteroscedasticSCM, question: Question, action: Actions, options: Mapping[str, Any]
) -> pd.DataFrame:
    """Return mean, sd, variance and quantiles under an intervention: value, lower, upper."""
    import pandas as pd

    main, changes = _answers(scm, question, [action], **options)
    half = half_width(changes[:, 0], options["level"])
    columns = {"value": main[0], "lower": main[0] - half, "upper": main[0] + half}
    return pd.DataFrame(columns, index=question.quantities)


def contrasted(
    scm: HeteroscedasticSCM,
    question: Question,
    actions: Sequence[Actions],
    names: tuple[str, str],
    options: Mapping[str, Any],
) -> pd.DataFrame:
    """Return the quantities under two interventions, their difference and its interval."""
    import pandas as pd

    main, changes = _answers(scm, question, actions, **options)
    difference, half = main[1] - main[0], half_width(changes[:, 1] - changes[:, 0], options["level"])
    columns = {names[0]: main[0], names[1]: main[1], "difference": difference}
    columns |= {"lower": difference - half, "upper": difference + half}
    return pd.DataFrame(columns, index=question.quantities)


def _answers(
    scm: HeteroscedasticSCM,
    question: Question,
    actions: Sequence[Actions],
    *,
    level: float,
    n: int,
    random_state: Any,
) -> tuple[Array, Array]:
    check_number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    n, seed = check_integer("n", n, low=2), seed_sequence(random_state)
    noise = draw_noise(scm.mechanisms, n, stream(seed, 0))
    with single_threaded():
        return answers(scm.mechanisms, question, noise, actions, seed)


def attributed(scm: HeteroscedasticSCM, target: Any, n: int, random_state: Any) -> pd.DataFrame:
    """Return where the spread of a variable comes from: one row per ancestor, and one for the variable itself."""
    import pandas as pd

    n, seed = check_integer("n", n, low=2), seed_sequence(random_state)
    question = question_about(scm, target, ())
    with single_threaded():
        parts, total = variance_shares(scm.mechanisms, question.order, n, seed)
    mechanism = scm.mechanisms[question.target]
    noise = draw_noise(scm.mechanisms, n, stream(seed, 0))
    X = propagate(scm.mechanisms, question.order, noise, {}, seed)
    shares = log_spread_shares(mechanism, X[:, list(mechanism.parents)])
    log_spread = dict(zip(mechanism.parents, shares, strict=True))
    own = [log_spread.get(j, np.nan) for j in question.order]
    columns = {"variance": parts, "share": parts / total, "log_spread": np.array(own)}
    return pd.DataFrame(columns, index=[scm.names[j] for j in question.order])
