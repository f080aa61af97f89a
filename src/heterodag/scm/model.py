"""`HeteroscedasticSCM`: a graph with a fitted mechanism for every variable, and the questions it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency, descendants, topological_order
from heterodag.errors import ParameterError, check_integer, check_number
from heterodag.io.inputs import column_index, column_labels, warn_not_converged
from heterodag.knowledge.interventions import take_conditions
from heterodag.knowledge.study import read_study
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.threads import single_threaded
from heterodag.scm.files import model_text, read_model, write_model
from heterodag.scm.interventions import Actions, Set, read_actions
from heterodag.scm.mechanism import Mechanism, fit_mechanism
from heterodag.scm.propagate import abduct, draw_noise, propagate, stream
from heterodag.scm.questions import attributed, contrasted, described, question_about
from heterodag.scm.reading import own_rows, read_adjacency, read_host, read_host_targets, read_names, read_rows
from heterodag.scm.strength import strength_table
from heterodag.scores.describe import mechanism_table
from heterodag.scores.local import parents_of
from heterodag.scores.make import ScoreSettings, score_settings

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


class HeteroscedasticSCM:
    """A causal model in which causes move the mean and the spread of each variable.

    Every variable is `mu(parents) + sigma(parents) * noise` with independent noise. Each has its own mechanism: lines
    or curves, in either form, with normal noise or a fitted density; `summary` shows which. Make a model with
    `from_host`, `from_dag` or `load`. Columns are given by name or index (by label, if the table's own labels are
    whole numbers); tables are returned as pandas frames.

    Parameters
    ----------
    names : list of str
        Column names.
    mechanisms : list of Mechanism
        One per column. Users get a model from `HOST.to_scm`, `from_host`, `from_dag` or `load`.
    settings : ScoreSettings
        What was asked for: `settings.form`, `settings.parametrization` and `settings.noise`.

    Attributes
    ----------
    adjacency : ndarray of shape (d, d), int8
        `adjacency[i, j] == 1` means column i -> column j.
    order : ndarray of shape (d,)
        A causal order of the columns.
    form, parametrization : str
        Those of `settings`.

    Notes
    -----
    Coefficients maximise a Gaussian likelihood whatever the noise: means and spreads are consistent for any noise,
    and so is the sandwich covariance behind the intervals of effects. The density of the noise is fitted to the
    residuals and then held fixed. That does not affect intervals of means and spreads, but intervals of quantiles
    leave out the error of the density's shape.

    The log precision of a mechanism is kept within the range it had on the training rows: an exponential has no
    bounds, and outside the data the spread could become arbitrarily large or small. Means are extrapolated, those of
    splines along straight lines. Networks (`parametrization="mlp"`) are refused.

    Examples
    --------
    >>> from heterodag import HeteroscedasticSCM, simulate
    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
    >>> HeteroscedasticSCM.from_dag(data.adjacency, data.to_frame())
    HeteroscedasticSCM of 3 variables with 2 edges: x0 -> x1, x1 -> x2
    """

    def __init__(self, names: list[str], mechanisms: list[Mechanism], settings: ScoreSettings) -> None:
        self.names, self.mechanisms, self.settings = names, mechanisms, settings
        self.form, self.parametrization = settings.form, settings.parametrization
        self.adjacency: Adjacency = np.zeros((len(names), len(names)), dtype=np.int8)
        for mechanism in mechanisms:
            self.adjacency[list(mechanism.parents), mechanism.target] = 1
        self.order = topological_order(self.adjacency)

    # --- making one -----------------------------------------------------------------------------------------

    @classmethod
    def from_host(cls, model: Any, X: Any, interventions: Any = None) -> HeteroscedasticSCM:
        """Fit the mechanisms of a learned graph.

        Parameters
        ----------
        model : fitted HOST, or any fitted estimator with `adjacency_`
            Its graph, and its `form`, `parametrization` and `noise` if it has them.
        X : table of shape (n, d)
            The rows it was fitted to, or other rows of the same columns.
        interventions : optional
            Which variables were set or changed in which rows; see `HOST.fit`. A mechanism is fitted to the rows in
            which its variable was neither set nor changed. Conditions with unknown targets act on the variables that
            `model.targets_` names.

        Returns
        -------
        HeteroscedasticSCM
            The causal model. `HOST.to_scm` returns it without fitting again.

        Examples
        --------
        >>> from heterodag import HeteroscedasticSCM, VarSort, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> table = simulate(500, 3, mechanism="straight", adjacency=chain, random_state=1).to_frame()
        >>> HeteroscedasticSCM.from_host(VarSort().fit(table), table)
        HeteroscedasticSCM of 3 variables with 2 edges: x0 -> x1, x1 -> x2
        """
        X, interventions = take_conditions(X, interventions)
        adjacency, settings = read_host(model, X)
        return cls.from_dag(adjacency, X, interventions=read_host_targets(model, X, interventions), **settings)

    @classmethod
    def from_dag(
        cls,
        adjacency: Any,
        X: Any,
        *,
        form: str = "auto",
        parametrization: str = "auto",
        noise: str = "auto",
        names: Any = None,
        missing: str = "refuse",
        interventions: Any = None,
    ) -> HeteroscedasticSCM:
        """Fit the mechanism of every variable of a given DAG.

        Parameters
        ----------
        adjacency : (d, d) array or frame, or networkx DiGraph over the column names
            `adjacency[i, j] == 1` means column i -> column j. A frame or a graph is matched by name.
        X : table of shape (n, d)
            Continuous observations.
        form, parametrization, noise : str, default="auto"
            Kind of mechanisms; see `HOST`. "auto" takes the best for every variable, by penalised likelihood. The
            parametrization is "auto", "linear" or "spline". The paper's model is "natural", "linear", "gaussian".
        names : list of str, optional
            Column names for an array; by default x0, x1, ... .
        missing : {"refuse", "drop"}, default="refuse"
            What to do with rows that have missing values: raise an error that counts them, or leave them out and
            warn.
        interventions : optional
            Which variables were set or changed in which rows; see `HOST.fit`. A mechanism is fitted to the rows in
            which its variable was not set, and in which no condition changed it or may have changed it: it is the
            mechanism in the reference condition.

        Returns
        -------
        HeteroscedasticSCM
            The causal model.

        Examples
        --------
        >>> import networkx as nx
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> table = simulate(500, 3, random_state=1).to_frame()
        >>> HeteroscedasticSCM.from_dag(nx.DiGraph([("x1", "x2"), ("x1", "x0"), ("x2", "x0")]), table)
        HeteroscedasticSCM of 3 variables with 3 edges: x1 -> x0, x1 -> x2, x2 -> x0
        """
        settings = score_settings(parametrization, form, noise)
        study = read_study(X, interventions, None, missing)
        array = study.array[:, : study.d]
        labels = read_names(names, column_labels(study.d, study.own_names))
        graph = read_adjacency(adjacency, labels)
        topological_order(graph)  # refuses a cycle before any fit
        with single_threaded():
            parts = [
                fit_mechanism(own_rows(array, study.told, j, labels), j, parents_of(graph[:, j]), settings)
                for j in range(len(labels))
            ]
        warn_not_converged([p.target for p in parts if not p.fit.converged], labels)
        return cls(labels, parts, settings)

    def save(self, path: str | Path) -> None:
        """Write the model as JSON; `load` reads it.

        Parameters
        ----------
        path : str or Path
            The file, such as "model.json".

        Examples
        --------
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> data = simulate(300, 3, random_state=1)
        >>> HeteroscedasticSCM.from_dag(data.adjacency, data.X).save("model.json")
        >>> HeteroscedasticSCM.load("model.json")
        HeteroscedasticSCM of 3 variables with 3 edges: x1 -> x0, x1 -> x2, x2 -> x0
        """
        write_model(self.to_json(), Path(path))

    def to_json(self) -> str:
        """Return the text that `save` writes.

        Returns
        -------
        str
            JSON.
        """
        return model_text(self.names, self.mechanisms, self.settings)

    @classmethod
    def load(cls, path: str | Path) -> HeteroscedasticSCM:
        """Read a model that `save` wrote; raise an error that says what is wrong if the file is not such a model.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        HeteroscedasticSCM
            The same model.
        """
        return cls(*read_model(Path(path)))

    def summary(self) -> pd.DataFrame:
        """Return the mechanism of every variable.

        Returns
        -------
        pandas.DataFrame
            One row per variable: its parents, the form, which parents act by curves, and the noise.

        Examples
        --------
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> HeteroscedasticSCM.from_dag(chain, data.X).summary()[["variable", "parents", "noise"]]
          variable parents   noise
        0       x0          normal
        1       x1      x0  normal
        2       x2      x1  normal
        """
        fits = [replace(m.fit, target=m.target, parents=m.parents) for m in self.mechanisms]
        return mechanism_table(fits, self.names, [2] * len(fits))[["variable", "parents", "form", "curves", "noise"]]

    def strengths(self, X: Any) -> pd.DataFrame:
        """Return how strong every edge is over the rows of a table.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        pandas.DataFrame
            One row per edge, with the columns of `HOST.edges` for strengths, except `share`: that needs the models
            without each cause.

        Examples
        --------
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> strengths = HeteroscedasticSCM.from_dag(chain, data.X).strengths(data.X)
        >>> strengths[["cause", "effect", "mean_effect", "spread_effect"]].round(1)
          cause effect  mean_effect  spread_effect
        0    x0     x1         -0.7            1.4
        1    x1     x2          0.7            0.7
        """
        return strength_table(self.names, self.mechanisms, read_rows(X, self.names)[0])

    def __repr__(self) -> str:
        edges = [f"{self.names[i]} -> {self.names[j]}" for i, j in np.argwhere(self.adjacency)]
        more = f" and {len(edges) - 8} more" if len(edges) > 8 else ""
        listed = f": {', '.join(edges[:8])}{more}" if edges else ""
        return f"HeteroscedasticSCM of {len(self.names)} variables with {len(edges)} edges{listed}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.summary().to_html()}"

    # --- sampling -------------------------------------------------------------------------------------------

    def sample(self, n: int, random_state: Any = None) -> pd.DataFrame:
        """Draw rows from the model.

        Parameters
        ----------
        n : int
            Number of rows.
        random_state : int, Generator or None
            Seed.

        Returns
        -------
        pandas.DataFrame of shape (n, d)
            New rows.

        Examples
        --------
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> data = simulate(300, 3, random_state=1)
        >>> HeteroscedasticSCM.from_dag(data.adjacency, data.X).sample(1000, random_state=0).shape
        (1000, 3)
        """
        return self.sample_do({}, n, random_state)

    def sample_do(self, do: Mapping[Any, Any], n: int, random_state: Any = None) -> pd.DataFrame:
        """Draw n rows from the model under interventions.

        Parameters
        ----------
        do : mapping from columns to interventions
            A number (or `Set(number)`) sets the variable; `Shift(amount)` adds to the value that its mechanism gives;
            `Draw(source)` draws it from a SciPy distribution, a sample, or a function `(rng, n)`.
        n : int
            Number of rows.
        random_state : int, Generator or None
            The same seed gives the same noise whatever the intervention, so rows can be compared. Noise with a fitted
            density is made from the same normal numbers as normal noise.

        Returns
        -------
        pandas.DataFrame of shape (n, d)
            New rows.

        Examples
        --------
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> from heterodag.scm import Shift
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> scm = HeteroscedasticSCM.from_dag(chain, data.X)
        >>> rows = scm.sample_do({"x0": 1.0, "x1": Shift(2)}, 1000, random_state=0)
        >>> rows["x0"].unique().tolist()
        [1.0]
        """
        n, seed = check_integer("n", n, low=1), seed_sequence(random_state)
        actions = read_actions(do, self.names)
        noise = draw_noise(self.mechanisms, n, stream(seed, 0))
        return self._frame(propagate(self.mechanisms, self.order.tolist(), noise, actions, seed))

    # --- single rows ----------------------------------------------------------------------------------------

    def noise(self, rows: Any) -> pd.DataFrame:
        """Return the noise behind observed rows (abduction): their standardised residuals.

        If the model holds, they are independent of each other and of the parents, and each has the distribution of
        its mechanism's noise: standard normal, or the fitted density (`mechanisms[j].density`; mean about 0, variance
        about 1).

        Parameters
        ----------
        rows : table, or a mapping for one row
            Values of all columns.

        Returns
        -------
        pandas.DataFrame
            One value per row and variable.

        Examples
        --------
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> data = simulate(500, 3, random_state=1)
        >>> HeteroscedasticSCM.from_dag(data.adjacency, data.X).noise(data.X).std().round(1).tolist()
        [1.0, 1.0, 1.0]
        """
        X, index = read_rows(rows, self.names)
        return self._frame(abduct(self.mechanisms, X), index)

    def counterfactual(self, rows: Any, do: Mapping[Any, Any], random_state: Any = None) -> pd.DataFrame:
        """Return what observed rows would have been under an intervention.

        The noise of every row is recovered exactly and kept; variables that the intervention does not reach keep
        their values.

        Parameters
        ----------
        rows : table, or a mapping for one row
            Values of all columns.
        do : mapping from columns to interventions
            As in `sample_do`; `Set` and `Shift` also take one value per row.
        random_state : int, Generator or None
            Used by `Draw` only.

        Returns
        -------
        pandas.DataFrame
            The rows as they would have been.

        Examples
        --------
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> scm = HeteroscedasticSCM.from_dag(chain, data.X)
        >>> row = {"x0": 0.0, "x1": 1.0, "x2": 2.0}
        >>> scm.counterfactual(row, {"x1": 0.0}).round(1)  # x0, a cause of x1, keeps its value
            x0   x1   x2
        0  0.0  0.0  1.5
        """
        X, index = read_rows(rows, self.names)
        actions = read_actions(do, self.names)
        reach = descendants(self.adjacency)
        changed = frozenset(actions).union(*(np.flatnonzero(reach[j]).tolist() for j in actions))
        noise = abduct(self.mechanisms, X)
        order, seed = self.order.tolist(), seed_sequence(random_state)
        return self._frame(propagate(self.mechanisms, order, noise, actions, seed, X, changed), index)

    def log_likelihood(self, rows: Any, per_variable: bool = False) -> Any:
        """Return the log density of every row, or of every row and variable given its parents.

        The sum over rows is the log-likelihood of the table; small values mark unusual rows.

        Parameters
        ----------
        rows : table, or a mapping for one row
            Values of all columns.
        per_variable : bool, default=False
            Whether to keep the variables apart.

        Returns
        -------
        ndarray of shape (n,), or pandas.DataFrame of shape (n, d)
            Log densities.

        Examples
        --------
        >>> import numpy as np
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> data = simulate(500, 3, random_state=1)
        >>> scm = HeteroscedasticSCM.from_dag(data.adjacency, data.X)
        >>> rows = data.X[:3].copy()
        >>> rows[1, 1] = 9.0  # far from what x1 ever was
        >>> int(np.argmin(scm.log_likelihood(rows)))
        1
        """
        X, index = read_rows(rows, self.names)
        parts = np.empty_like(X)
        for mechanism in self.mechanisms:
            j = mechanism.target
            parts[:, j] = mechanism.log_density(X[:, list(mechanism.parents)], X[:, j])
        return self._frame(parts, index) if per_variable else parts.sum(axis=1)

    def predict_interval(self, rows: Any, target: Any, level: float = 0.9) -> pd.DataFrame:
        """Return mean, sd and the central interval of a variable given its parents in each row.

        The interval leaves out equal probabilities above and below, even if the density is skewed. It covers the
        noise, not the error of the estimates.

        Parameters
        ----------
        rows : table, or a mapping for one row
            Values of the parents; other columns may be missing.
        target : column
            The variable.
        level : float, default=0.9
            The probability of the noise that the interval covers.

        Returns
        -------
        pandas.DataFrame
            One line per row: mean, sd, lower, upper.

        Examples
        --------
        >>> import pandas as pd
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> scm = HeteroscedasticSCM.from_dag(chain, data.X)
        >>> scm.predict_interval(pd.DataFrame({"x0": [-1.0, 1.0]}), "x1").round(1)
           mean   sd  lower  upper
        0   1.4  0.6    0.4    2.3
        1  -1.6  1.6   -4.1    1.0
        """
        import pandas as pd

        level = check_number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
        mechanism = self.mechanisms[column_index("target", target, self.names)]
        X, index = read_rows(rows, self.names, needed=mechanism.parents)
        parents = X[:, list(mechanism.parents)]
        (mean, sd), (lower, upper) = mechanism.moments(parents), mechanism.interval(parents, level)
        return pd.DataFrame({"mean": mean, "sd": sd, "lower": lower, "upper": upper}, index=index)

    # --- effects --------------------------------------------------------------------------------------------

    def describe_do(
        self, do: Mapping[Any, Any], target: Any, *, quantiles: Sequence[float] = (0.1, 0.5, 0.9), level: float = 0.9,
        n: int = 10_000, random_state: Any = None,
    ) -> pd.DataFrame:  # fmt: skip
        """Return mean, sd, variance and quantiles of a variable under an intervention, with intervals.

        Parameters
        ----------
        do : mapping from columns to interventions
            As in `sample_do`; an empty mapping describes the variable without intervention.
        target : column
            The variable to describe.
        quantiles : sequence of float
            Which quantiles.
        level : float
            Level of the intervals, which cover the errors of the estimated mechanisms and of the simulation, but not
            those of the graph or of a fitted density's shape.
        n : int
            Simulated rows.
        random_state : int, Generator or None
            Seed.

        Returns
        -------
        pandas.DataFrame
            One row per quantity: value, lower, upper.

        Examples
        --------
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> scm = HeteroscedasticSCM.from_dag(chain, data.X)
        >>> list(scm.describe_do({"x0": 1.0}, "x2", random_state=0).index)
        ['mean', 'sd', 'variance', 'quantile 0.1', 'quantile 0.5', 'quantile 0.9']
        """
        options = {"level": level, "n": n, "random_state": random_state}
        return described(self, question_about(self, target, quantiles), read_actions(do, self.names), options)

    def contrast(
        self, do: Mapping[Any, Any], target: Any, against: Mapping[Any, Any] | None = None, *,
        quantiles: Sequence[float] = (0.1, 0.5, 0.9), level: float = 0.9, n: int = 10_000, random_state: Any = None,
    ) -> pd.DataFrame:  # fmt: skip
        """Return by how much an intervention changes a variable.

        Parameters
        ----------
        do : mapping from columns to interventions
            As in `sample_do`.
        target : column
            The variable of interest.
        against : mapping from columns to interventions, optional
            What to compare with; by default no intervention.
        quantiles, level, n, random_state
            As in `describe_do`.

        Returns
        -------
        pandas.DataFrame
            One row per quantity: before, after, their difference, and the interval (lower, upper) of the difference.

        Examples
        --------
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> scm = HeteroscedasticSCM.from_dag(chain, data.X)
        >>> scm.contrast({"x0": 1.0}, "x1", random_state=0).loc[["mean", "sd"]].round(1)
              before  after  difference  lower  upper
        mean    -0.1   -1.6        -1.5   -1.6   -1.4
        sd       1.4    1.6         0.2    0.0    0.3
        """
        actions = [read_actions(against or {}, self.names), read_actions(do, self.names)]
        options = {"level": level, "n": n, "random_state": random_state}
        return contrasted(self, question_about(self, target, quantiles), actions, ("before", "after"), options)

    def effect(
        self, cause: Any, effect: Any, values: Sequence[float] | None = None, *,
        quantiles: Sequence[float] = (0.1, 0.5, 0.9), level: float = 0.9, n: int = 10_000, random_state: Any = None,
    ) -> pd.DataFrame:  # fmt: skip
        """Return what setting one variable does to the mean, the spread and the quantiles of another.

        Parameters
        ----------
        cause, effect : columns
            The variable that is set, and the variable of interest.
        values : (low, high), optional
            The two values of the cause; by default its mean, and its mean plus one standard deviation.
        quantiles, level, n, random_state
            As in `describe_do`.

        Returns
        -------
        pandas.DataFrame
            One row per quantity: at_low, at_high, their difference, and the interval (lower, upper) of the
            difference.

        Examples
        --------
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> scm = HeteroscedasticSCM.from_dag(chain, data.X)
        >>> scm.effect("x0", "x1", [0.0, 1.0], random_state=0).loc[["mean", "sd"], ["at_low", "at_high"]].round(1)
              at_low  at_high
        mean    -0.1     -1.6
        sd       1.0      1.6
        """
        index, question = column_index("cause", cause, self.names), question_about(self, effect, quantiles)
        own = self.mechanisms[index]
        given = (own.location[-1], own.location[-1] + own.scale[-1]) if values is None else tuple(values)
        if len(given) != 2:
            raise ParameterError("values", "be two numbers, (low, high)", values)
        actions: list[Actions] = [{index: Set(check_number("values", value))} for value in given]
        options = {"level": level, "n": n, "random_state": random_state}
        return contrasted(self, question, actions, ("at_low", "at_high"), options)

    def attribute_spread(self, target: Any, n: int = 20_000, random_state: Any = None) -> pd.DataFrame:
        """Return where the spread of a variable comes from.

        Parameters
        ----------
        target : column
            The variable.
        n : int
            Simulated rows.
        random_state : int, Generator or None
            Seed.

        Returns
        -------
        pandas.DataFrame
            One row per ancestor, and one for the variable itself. `variance` is the part of the target's variance
            that comes from the noise of that variable, and `share` is that part as a share of the whole: Shapley
            values, which add up. `log_spread` (parents only) is the parent's share of the variance of the log of the
            target's conditional standard deviation. `heterodag.scm.attribution` has the definitions.

        Examples
        --------
        >>> from heterodag import HeteroscedasticSCM, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> scm = HeteroscedasticSCM.from_dag(chain, data.X)
        >>> scm.attribute_spread("x2", random_state=0)["share"].round(2)
        x0    0.25
        x1    0.28
        x2    0.46
        Name: share, dtype: float64
        """
        return attributed(self, target, n, random_state)

    # --- other tools ----------------------------------------------------------------------------------------

    def to_networkx(self) -> nx.DiGraph:
        """Return the graph for networkx.

        Returns
        -------
        networkx.DiGraph
            The column names are the nodes.
        """
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from((self.names[i], self.names[j]) for i, j in np.argwhere(self.adjacency))
        return graph

    def to_dowhy(self) -> Any:
        """Return the model for DoWhy (needs the extra `dowhy`).

        Returns
        -------
        dowhy.gcm.InvertibleStructuralCausalModel
            With the mechanisms of this model.
        """
        from heterodag.scm.dowhy_model import dowhy_model

        return dowhy_model(self)

    def _frame(self, values: Array, index: Any = None) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(values, columns=self.names, index=index)
