"""HOST: Algorithms 1 to 3 of the paper as one scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from heterodag.core.gaussian import Array
from heterodag.errors import (
    AssumptionWarning,
    DataError,
    HeterodagError,
    check_choice,
    remembered_warnings,
    renamed_time_limit,
    warn,
)
from heterodag.estimators.base import GraphEstimator, check_graph_parameters
from heterodag.estimators.description import (
    fit_findings,
    fitted_mechanisms,
    graph_strengths,
    settled_directions,
    sure_directions,
)
from heterodag.estimators.long_study import check_supported, read_long_study
from heterodag.estimators.targets import judging, target_table
from heterodag.independence.contract import EdgeProblem, FoundModels
from heterodag.independence.recover import DAGResult, edge_candidates, find_dag, limits_of
from heterodag.io.inputs import named_rows
from heterodag.io.opened import OpenTable, as_open_table
from heterodag.knowledge import PriorKnowledge, Study, read_study
from heterodag.ordering.causal_order import FoundOrder, OrderSettings, find_order, order_settings
from heterodag.ordering.directions import OPEN_BELOW
from heterodag.ordering.result import Refinement
from heterodag.runtime.progress import progress_bar
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.work import ALMOST, OutOfTime, Work
from heterodag.scm.model import HeteroscedasticSCM
from heterodag.scores.describe import mechanism_table
from heterodag.scores.fit import Effort
from heterodag.scores.local import LocalScores, parents_of
from heterodag.scores.long import CHOSEN_ON, LongScores, passes_from

#: Shares of the progress bar at which edges and directions begin and end; the order takes most of the time.
_SHARES = 0.9, 0.95, ALMOST


def _models(found: FoundOrder, scores: LocalScores) -> FoundModels:
    """Return what the edge tests are told of the models that found the order."""
    return FoundModels(scores, {} if found.search is None else found.search.state.parents, found.plausibility)


def _shares(scores: LocalScores) -> tuple[float, float, float]:
    """Return these shares; passes over the rows of a long table move the bar themselves."""
    if not isinstance(scores, LongScores):
        return _SHARES
    begin = passes_from(scores.n_rows)
    return begin, begin, begin


class HOST(GraphEstimator):
    """Learn a causal graph when the spread of each variable may depend on its causes.

    Every variable is mean plus spread times noise, and its causes may move mean and spread. The order of the
    variables is the one in which the best mechanisms of all variables together explain the table best. Then every
    pair of an earlier and a later variable is tested for an edge, and the evidence for the direction of every edge is
    measured.

    Parameters
    ----------
    parametrization : {"auto", "linear", "spline", "mlp"}, default="auto"
        How mean and spread depend on the causes: straight lines, sums of smooth curves, or neural networks ("mlp",
        needs torch; its edges are tested with splines). "auto" takes lines or curves for each variable, whichever the
        likelihood prefers, with a penalty on every coefficient.
    form : {"auto", "natural", "location-scale"}, default="auto"
        What depends on the causes: the natural parameters of a Gaussian (the paper), or mean and log standard
        deviation. "auto" takes the better for each variable.
    noise : {"auto", "gaussian", "flexible"}, default="auto"
        Distribution of the noise: normal (the paper), a fitted density, or the better of the two for each variable.
        With "mlp", always normal.
    normality : str or callable, default="shapiro"
        "shapiro", "shapiro-francia", "anderson-darling", "dagostino", "jarque-bera", or a function of a sample
        that returns a number, larger for more normal samples.
    tolerance : float, default=1e-4
        Variables within this distance of the best score form a layer; 0 places one variable at a time.
    refine : bool, default=True
        Improve the order by the penalised likelihood of the variables' models; False keeps the paper's order (by
        lines, unless splines or networks are requested). The paper's order is also kept with "mlp", with a warning,
        and with `noise="gaussian"` when the residuals of all variables are far from normal, because their likelihoods
        then mean little.
    conditioning : {"auto", "full", "sparse"}, default="auto"
        While ordering by normality, fit each variable given all those already placed ("full", the paper), or given
        parents chosen among them ("sparse"); "auto" is "full" up to 20 variables and "sparse" beyond.
    max_seconds : float, optional
        Time limit in seconds. When it is reached, `fit` keeps the best order and the parents chosen so far
        (`refinement_.complete` says whether the time was enough). If there is no graph yet by then, or an edge test
        other than "likelihood" is not finished, it raises `TimeLimitError`.
    selection : str or callable, default="likelihood"
        Edge test; see `recover_dag`.
    alpha : float, default=0.001
        Significance level of the edge test.
    correction : {"none", "holm", "bh"}, default="none"
        Correction for multiple testing over all tested pairs.
    prior_knowledge : PriorKnowledge, optional
        Required and forbidden edges, tiers, roots and leaves; obeyed strictly by the order and by the edges.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that have missing values: raise an error that counts them, or leave them out with a warning.
    data_check : {"refuse", "warn", "ignore"}, default="refuse"
        The table is checked before the fit (`check_table`), and every amber or red finding is a warning. "refuse"
        raises `DataError` if nothing can be learned because rows continue each other in most columns, as in a random
        walk. "warn" fits all the same; "ignore" skips the check.
    n_jobs : int, optional
        Parallel workers, as joblib understands it; the result does not depend on it.
    random_state : int, Generator or None
        Seed of what needs randomness ("lcit", "mlp"); the rest is deterministic.
    verbose : int, default=0
        1 shows a progress bar on a terminal.
    max_time : float, optional
        Former name of `max_seconds`.

    Attributes
    ----------
    order_ : ndarray of shape (d,)
        Column indices, causes first.
    layers_ : list of list of int
        Columns that were placed together; concatenated, they are the order.
    scores_ : ndarray of shape (rounds, d)
        Normality statistic of every variable not yet placed in a round, NaN for the others.
    refinement_ : Refinement
        With `refine` only: the order by normality from which the search started, the scores of that order and of the
        final one, and whether the search was complete.
    adjacency_ : ndarray of shape (d, d), int8
        `adjacency_[i, j] == 1` means column i -> column j.
    pvalues_ : ndarray of shape (d, d)
        P-value of the edge i -> j; NaN where no test was made, as for required and forbidden edges.
    required_ : ndarray of shape (d, d), bool
        Only if prior knowledge requires edges: True for those.
    nats_ : ndarray of shape (d, d)
        Evidence for the edge i -> j in nats. With `selection="likelihood"` the p-value is `exp(-nats)`; with other
        tests the evidence is the loss of log-likelihood without the cause, for learned edges only. Missing with
        "mlp".
    direction_nats_ : ndarray of shape (d, d)
        With `refine` only: for every edge, how much worse (nats) the best graph is in which the effect comes before
        the cause; NaN where there is no edge, infinite where prior knowledge decides.
    open_ : ndarray of shape (d, d), bool
        With `refine` only: edges whose direction has too little evidence to be drawn as an arrow.
    mechanisms_ : pandas.DataFrame
        One row per variable: parents, form, curves (parents that act by curves), spread, noise, rows.
    mean_pvalues_, variance_pvalues_ : ndarray of shape (d, d)
        With `form="location-scale"` and `selection="likelihood"` only: p-values of whether the cause acts on the mean
        and on the spread of the effect; missing if the time limit was reached.
    rows_ : ndarray of shape (d,)
        Number of rows to which each variable's model was fitted: all except those in which the variable was set.
    interventional_nats_ : ndarray of shape (d, d)
        With interventions only: how much of `direction_nats_` is due to them, that is, the evidence on all rows minus
        the evidence on the rows in which nothing was done.
    targets_ : pandas.DataFrame
        With shifts or unknown targets only (not with "mlp"): condition, variable, kind ("shift" or "unknown"), pvalue
        and nats of the effect of the condition on the variable given its causes, by likelihood ratio, and acts,
        whether it is part of the variable's model.
    strengths_ : dict of str to ndarray of shape (d, d)
        How strong every edge is; see `edges`. Missing with "mlp".
    table_findings_ : Findings
        What the check of the table found.
    fit_findings_ : list of Finding
        What speaks against the model, or leaves directions open.
    warnings_ : list of str
        Every warning of the fit.
    left_out_ : list of Finding
        What was left out of the table.
    sample_, sample_free_ : ndarray of shape (at most 2000, d)
        Evenly spaced rows of the table, for pictures; `sample_free_` is False where a value was set or changed from
        outside.
    n_features_in_, n_rows_ : int
        Number of columns, and of rows used.
    feature_names_in_ : ndarray of shape (d,), object
        Column names; only if the table had them.

    Notes
    -----
    Duong and Nguyen, "Heteroscedastic Causal Structure Learning", ECAI 2023. Deviations: each target has a free
    location (the paper's linear `eta1` is not closed under shifts, so its invariance theorem needs it); the
    conditional models are fitted to their optimum by a Newton-type solver; mechanisms and densities of the noise
    compete (`scores.competition`); the order is found by likelihood, and edges are decided by likelihood ratios
    between stepwise chosen models. `HOST.paper()` gives the paper's choices.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from heterodag import HOST
    >>> rng = np.random.default_rng(0)
    >>> dose = rng.standard_normal(500)
    >>> response = 2 * dose + np.exp(dose / 2) * rng.standard_normal(500)  # the dose moves mean and spread
    >>> model = HOST().fit(pd.DataFrame({"response": response, "dose": dose}))
    >>> model.edges()[["cause", "effect", "mean_effect", "spread_effect"]].round(1)
      cause    effect  mean_effect  spread_effect
    0  dose  response          0.9            1.7
    >>> [model.names()[column] for column in model.order_]
    ['dose', 'response']
    """

    def __init__(
        self,
        parametrization: str = "auto",
        form: str = "auto",
        noise: str = "auto",
        normality: str | Callable[[Array], float] = "shapiro",
        tolerance: float = 1e-4,
        refine: bool = True,
        conditioning: str = "auto",
        max_seconds: float | None = None,
        selection: str | Callable[..., Any] = "likelihood",
        alpha: float = 0.001,
        correction: str = "none",
        prior_knowledge: PriorKnowledge | Mapping[str, Any] | None = None,
        missing: str = "refuse",
        data_check: str = "refuse",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        max_time: float | None = None,
    ) -> None:
        self.parametrization = parametrization
        self.form = form
        self.noise = noise
        self.normality = normality
        self.tolerance = tolerance
        self.refine = refine
        self.conditioning = conditioning
        self.max_seconds = max_seconds
        self.selection = selection
        self.alpha = alpha
        self.correction = correction
        self.prior_knowledge = prior_knowledge
        self.missing = missing
        self.data_check = data_check
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.max_time = max_time

    @classmethod
    def paper(cls, **changes: Any) -> HOST:
        """Return HOST with the paper's choices: lines, normal noise, order by W, tolerance 1e-4, LCIT at alpha 0.001.

        Parameters
        ----------
        **changes
            Parameters that differ from the paper's.

        Returns
        -------
        HOST
            Not fitted yet. The edge test "lcit" needs torch.

        Examples
        --------
        >>> from heterodag import HOST, simulate
        >>> model = HOST.paper(selection="gam-classical")  # the paper's other edge test, without torch
        >>> model.fit(simulate(500, 3, random_state=1).to_frame()).edges()[["cause", "effect"]]
          cause effect
        0    x1     x2
        1    x2     x0
        2    x1     x0
        """
        settings: dict[str, Any] = {
            "parametrization": "linear", "form": "natural", "noise": "gaussian", "refine": False,
            "conditioning": "full", "selection": "lcit", "tolerance": 1e-4, "alpha": 0.001,
        }  # fmt: skip
        return cls(**(settings | changes))

    def fit(self, X: Any, y: None = None, interventions: Any = None) -> HOST:
        """Learn the order and the graph.

        Parameters
        ----------
        X : array, pandas or polars DataFrame, or OpenTable, of shape (n, d)
            Continuous observations, one column per variable; names are kept. Rows of a table that `open_table` has
            opened, of a polars LazyFrame and of a Dask DataFrame are read part by part, never all at once.
        y : ignored
            For compatibility with scikit-learn.
        interventions : optional
            Which variables were set from outside in which rows: (n, d) values True and False, as an array or as a
            frame with columns of `X`; or a list with one entry per row, None, a column, or several; or
            `Interventions`, which knows conditions, shifts and unknown targets too. A variable's model is fitted on
            the rows in which it was not set.

        Returns
        -------
        HOST
            The fitted estimator.

        Examples
        --------
        >>> from heterodag import HOST, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(600, 3, mechanism="straight", adjacency=chain, interventions=100, random_state=1)
        >>> model = HOST().fit(data.to_frame(), interventions=data.interventions)
        >>> model.rows_  # each variable was set in 100 rows, which tell nothing about its causes
        array([500, 500, 500])
        >>> model.edges()[["cause", "effect", "open"]]
          cause effect   open
        0    x1     x2  False
        1    x0     x1  False
        """
        self._check_parameters()
        seed = seed_sequence(self.random_state)
        limit = renamed_time_limit(self.max_seconds, self.max_time)
        settings = self._order_settings()
        X = X if (opened := as_open_table(X)) is None else opened
        with (
            remembered_warnings() as said,
            progress_bar("learning", enabled=bool(self.verbose)) as bar,
            Work(self.n_jobs, limit, bar, "HOST") as work,
        ):
            study = self._study(X, interventions, settings, seed, work)
            self._remember(study.d, study.own_names)
            self._look_at(X, study, self.data_check)
            scores = self._scores(study, settings, seed, work)
            edges, directions, end = _shares(scores)
            with work.part(0.0, edges):
                found = find_order(scores, study.names, settings, study.knowledge)
            judged = judging(found.scores, study)
            with work.part(edges, directions):
                graph = self._find_graph(study, seed, found, _models(found, judged))
                if isinstance(found.scores, LongScores) and found.search and self.selection == "likelihood":
                    found, graph = settled_directions(
                        found, graph, study, self._price, partial(self._find_graph, study, seed)
                    )
            self._store(found, graph, study)
            with work.part(directions, end):
                self._describe(found, judged, graph, study)
            self._set_or_forget("fit_findings_", None)
            with suppress(OutOfTime):  # without time for further fits, the warnings that need them are left out
                self._doubt(found, graph, study)
            self.warnings_ = said
            work.report(1.0)
        return self

    def _study(
        self, X: Any, interventions: Any, settings: OrderSettings, seed: np.random.SeedSequence, work: Work
    ) -> Study:
        """Read the table; if it is not in memory and not short, look at all rows once."""
        table = X if isinstance(X, OpenTable) else None
        if table is not None and table.n_rows > CHOSEN_ON:
            check_supported(settings.scores, self.selection, interventions)
            rng = np.random.default_rng(0 if self.random_state is None else seed)
            checked = self.data_check != "ignore"
            return read_long_study(table, self.prior_knowledge, self.missing, rng, work.map, checked)
        X = X if table is None else table.head(table.n_rows)
        return read_study(X, interventions, self.prior_knowledge, self.missing)

    def _scores(self, study: Study, settings: OrderSettings, seed: np.random.SeedSequence, work: Work) -> LocalScores:
        if study.long is not None:
            return LongScores(study.long, settings.scores.fitter(seed), work)
        if not settings.refine:  # the paper's order uses all rows
            return settings.scores.make(study.array, seed, work, study.experiments)
        return settings.scores.make_for_graph(study.array, seed, work, study.experiments, self.random_state)

    def _find_graph(
        self, study: Study, seed: np.random.SeedSequence, found: FoundOrder, models: FoundModels
    ) -> DAGResult:
        problem = EdgeProblem(
            study.array, found.result.order, edge_candidates(found.result.order, study.knowledge), seed, self.n_jobs,
            found.scores.work.tick, float(self.alpha), self._order_settings().scores, limits_of(study.knowledge),
            models, study.experiments,
        )  # fmt: skip
        return find_dag(problem, self.selection, float(self.alpha), self.correction, study.names, study.knowledge)

    def _store(self, found: FoundOrder, graph: DAGResult, study: Study) -> None:
        order, graph = found.result.of_first(study.d, study.own_names), graph.of_first(study.d, study.own_names)
        self.order_, self.layers_, self.scores_ = order.order, order.layers, order.scores
        self._set_or_forget("refinement_", None if found.search is None else Refinement.of(order))
        self.adjacency_, self.pvalues_ = graph.adjacency, graph.pvalues
        self._remember_required(study.knowledge)
        for name in ("nats", "mean_pvalues", "variance_pvalues"):
            self._set_or_forget(f"{name}_", graph.details.get(name))

    def _describe(self, found: FoundOrder, judged: LocalScores, graph: DAGResult, study: Study) -> None:
        """Store how sure and how strong the arrows are, the mechanism of every variable, and what experiments did."""
        nats, due = sure_directions(found, self.adjacency_, study, self._price)
        self._set_or_forget("direction_nats_", nats)
        self._set_or_forget("interventional_nats_", due)
        self._set_or_forget("open_", None if nats is None else (self.adjacency_ == 1) & (nats < OPEN_BELOW))
        self.rows_ = np.array([found.scores.rows_of(j) for j in range(study.d)])
        told: dict[str, Any] = dict.fromkeys(("mechanisms_", "targets_", "strengths_", "_mechanisms"))
        if found.scores.fitter.comparable:
            with suppress(OutOfTime):
                keys = [(j, parents_of(graph.adjacency[:, j])) for j in range(study.d)]
                scores = found.scores.best_known(keys)
                fits = scores.fits(keys)
                told["mechanisms_"] = mechanism_table(fits, self.names(), self.rows_.tolist())
                told["targets_"] = target_table(judged, graph, study) if study.contexts else None
                told["_mechanisms"] = fitted_mechanisms(scores, fits, study.d)
                told["strengths_"] = graph_strengths(scores, fits, told["_mechanisms"], graph.details.get("nats"))
        for name, value in told.items():
            self._set_or_forget(name, value)
        if told["strengths_"] is not None and "nats" in told["strengths_"]:
            self.nats_ = told["strengths_"].pop("nats")

    def _doubt(self, found: FoundOrder, graph: DAGResult, study: Study) -> None:
        """Warn of every sign that the table does not follow the model."""
        settings, undecided = self._order_settings().scores, getattr(self, "open_", None)
        self.fit_findings_ = fit_findings(settings, found, graph, study, undecided)
        for finding in self.fit_findings_:
            warn(finding.text, AssumptionWarning, stacklevel=3)

    def to_scm(self) -> HeteroscedasticSCM:
        """Return the causal model of the learned graph, with the mechanisms that were fitted to learn it.

        Returns
        -------
        HeteroscedasticSCM
            After a fit with interventions, the mechanisms are those of the reference condition.

        Examples
        --------
        >>> from heterodag import HOST, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> scm = HOST().fit(data.to_frame()).to_scm()
        >>> scm.sample_do({"x0": 1.0}, 1000, random_state=0).mean().round(1)
        x0    1.0
        x1   -1.6
        x2   -1.3
        dtype: float64
        """
        check_is_fitted(self, "adjacency_")
        if not hasattr(self, "_mechanisms"):
            raise HeterodagError(
                "This fit has no mechanisms (networks, or the time was over): make a causal model with "
                "HeteroscedasticSCM.from_host(model, X) or from_dag(model.adjacency_, X)."
            )
        return HeteroscedasticSCM(self.names(), list(self._mechanisms), self._order_settings().scores)

    def _set_or_forget(self, name: str, value: Any) -> None:
        """Store a fitted attribute, or remove what an earlier fit with other settings left there."""
        if value is not None:
            setattr(self, name, value)
        elif hasattr(self, name):
            delattr(self, name)

    def latents(self, X: Any, interventions: Any = None) -> Any:
        """Return the latents `U` (Algorithm 1) of every variable given all that precede it in the order.

        If the model holds, they look like independent standard normal samples. If the noise of a variable is a fitted
        density, its residuals are first transformed by it to the normal scale.

        Parameters
        ----------
        X : table of shape (n, d)
            The data the model was fitted to, or other rows of the same variables; the conditional models are
            fitted to these rows. Rows with missing values are treated as in `fit`.
        interventions : optional
            Which variables were set or changed in which rows, as in `fit`; latents of values that were set are NaN.

        Returns
        -------
        ndarray or pandas.DataFrame of shape (n, d)
            In the table's column order; a pandas frame with its names if the table has some, and with its index if it
            is a pandas frame and no rows were left out.

        Examples
        --------
        >>> from heterodag import HOST, simulate
        >>> table = simulate(500, 3, random_state=1).to_frame()
        >>> HOST().fit(table).latents(table).std().round(1).tolist()
        [1.0, 1.0, 1.0]
        """
        check_is_fitted(self, "adjacency_")
        study = read_study(X, interventions, None, self.missing)
        names = study.own_names
        if names is not None and hasattr(self, "feature_names_in_") and names != list(self.feature_names_in_):
            raise DataError("The columns of `X` are not those the model was fitted to, in that order.")
        if study.d != self.n_features_in_:
            raise DataError(f"`X` has {study.d} columns; the model was fitted to {self.n_features_in_}.")
        scores = self._order_settings().scores.make(
            study.array, seed_sequence(self.random_state), None, study.experiments
        )
        order, contexts = self.order_.tolist(), range(study.d, scores.d)
        keys = [(j, (*sorted(order[:position]), *contexts)) for position, j in enumerate(order)]
        U = np.full((scores.n_rows, study.d), np.nan)
        for fit in scores.fits(keys, Effort.FINAL):
            free = slice(None) if study.experiments is None else ~study.experiments.fixed[:, fit.target]
            U[free, fit.target] = fit.latents(scores.table_of(fit.target))
        return named_rows(U, self.names(), X) if hasattr(X, "columns") else U

    @property
    def _price(self) -> float:
        """What an edge must gain to be significant (nats)."""
        return -float(np.log(self.alpha))

    def _order_settings(self) -> OrderSettings:
        return order_settings(
            self.parametrization,
            self.form,
            self.noise,
            self.normality,
            self.tolerance,
            self.refine,
            self.conditioning,
        )

    def _check_parameters(self) -> None:
        self._order_settings()
        check_choice("data_check", self.data_check, ("refuse", "warn", "ignore"))
        check_graph_parameters(self)
