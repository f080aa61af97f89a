"""HOST: Algorithms 1 to 3 of the paper as one scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from heterodag.core.gaussian import Array
from heterodag.errors import (
    AssumptionWarning,
    DataError,
    renamed_time_limit,
)
from heterodag.estimators.assumptions import doubts, doubts_of_mechanisms, not_normal
from heterodag.estimators.base import GraphEstimator, check_graph_parameters
from heterodag.estimators.mechanisms import mechanism_table, target_table
from heterodag.independence.contract import EdgeProblem, FoundModels
from heterodag.independence.recover import DAGResult, edge_candidates, find_dag, limits_of
from heterodag.io.inputs import column_labels
from heterodag.knowledge import PriorKnowledge, Study, read_study
from heterodag.ordering.causal_order import FoundOrder, OrderSettings, find_order, order_settings
from heterodag.ordering.directions import OPEN_BELOW, direction_nats, observational_choices
from heterodag.ordering.result import Refinement
from heterodag.ordering.search import LEVELS, order_choices, respected
from heterodag.runtime.progress import progress_bar
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.work import ALMOST, OutOfTime, Work
from heterodag.scores.fit import Effort
from heterodag.scores.local import parents_of
from heterodag.scores.plausibility import judge

#: Shares of the progress bar at which edges and directions begin; the order takes most of the time.
_EDGES_FROM, _DIRECTIONS_FROM = 0.7, 0.9


class HOST(GraphEstimator):
    """Learn a causal graph when the spread of each variable may depend on its causes.

    Every variable is mean plus spread times noise, and its causes may move both. The order of the variables is the one
    along which the best mechanism of each explains the table best; then every pair of an earlier and a later variable is
    tested for an edge, and every edge says how sure its direction is.

    Parameters
    ----------
    parametrization : {"auto", "linear", "spline", "mlp"}, default="auto"
        How mean and spread depend on the causes: straight lines, sums of smooth curves, or neural networks ("mlp",
        needs torch; its edges are tested with splines). "auto" takes lines or curves for each variable, whichever the
        likelihood prefers, with a price on every coefficient.
    form : {"auto", "natural", "location-scale"}, default="auto"
        What depends on the causes: the natural parameters of a Gaussian (the paper), or mean and log standard deviation.
        "auto" takes the better for each variable.
    noise : {"auto", "gaussian", "flexible"}, default="auto"
        Distribution of the noise: normal (the paper), a fitted density, or the better of the two for each variable.
        With "mlp", always normal.
    normality : str or callable, default="shapiro"
        "shapiro", "shapiro-francia", "anderson-darling", "dagostino", "jarque-bera", or a function of a sample
        that returns a number, larger for more normal samples.
    tolerance : float, default=1e-4
        Variables within this distance of the best score form a layer; 0 places one variable at a time.
    refine : bool, default=True
        Improve the order by the penalised likelihood of the variables' models; False keeps the paper's order (by lines,
        unless splines or networks are asked for). It is kept as well with "mlp", with a warning, and with
        `noise="gaussian"` when the residuals of all variables are far from normal: their likelihoods mean little then.
    conditioning : {"auto", "full", "sparse"}, default="auto"
        While ordering by normality, fit a variable given all those placed (the paper), or given the parents chosen
        among them; "auto" is "full" up to 20 variables and "sparse" beyond.
    max_seconds : float, optional
        Seconds after which the order ends with the best one so far and edges with the parents chosen so far
        (`refinement_.complete` says whether the time sufficed). `TimeLimitError` if there is no graph yet by then; other
        edge tests than "likelihood" are given up in the same way.
    max_time : float, optional
        Former name of `max_seconds`.
    selection : str or callable, default="likelihood"
        Edge test; see `recover_dag`.
    alpha : float, default=0.001
        Significance level of the edge test.
    correction : {"none", "holm", "bh"}, default="none"
        Correction for multiple testing over all tested pairs.
    prior_knowledge : PriorKnowledge, optional
        Required and forbidden edges, tiers, roots and leaves; obeyed strictly by the order and by the edges.
    missing : {"refuse", "drop"}, default="refuse"
        Rows with missing values: an error that counts them, or left out with a warning that does.
    n_jobs : int, optional
        Parallel workers, as joblib understands it; the result does not depend on it.
    random_state : int, Generator or None
        Seed of what needs randomness ("lcit", "mlp"); the rest is deterministic.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    order_ : (d,) column indices, causes first.
    layers_ : list of lists of column indices; put together they are the order.
    scores_ : (rounds, d) normality statistic of every variable not yet placed, NaN for the others.
    refinement_ : with `refine` only: the order by normality it started from, the scores of both, and whether the
        search was complete.
    adjacency_ : (d, d) int8; `adjacency_[i, j] == 1` means column i -> column j.
    pvalues_ : (d, d); of the edge i -> j, NaN where no test was made (required and forbidden edges among them).
    nats_ : (d, d); evidence for the edge i -> j in nats, with `selection="likelihood"`; its p-value is `exp(-nats)`.
    direction_nats_ : (d, d); with `refine` only: for every edge, how much worse (nats) the best graph is in which the effect
        comes before the cause; NaN where there is no edge, infinite where prior knowledge decides.
    open_ : (d, d) bool; with `refine` only: edges whose direction has too little evidence to be drawn as an arrow.
    mechanisms_ : DataFrame with a row per variable: parents, form, curves (parents that act by curves), spread, noise, rows.
    mean_pvalues_, variance_pvalues_ : (d, d); with `form="location-scale"` and `selection="likelihood"` only: p-values
        of whether the cause acts on the mean and on the spread of the effect; not there if `max_seconds` were over.
    rows_ : (d,) rows that every variable's model was fitted on: all, less those in which it was set.
    interventional_nats_ : (d, d); with interventions only: how much of `direction_nats_` is due to them: the evidence on all
        rows less that on the rows in which nothing was done.
    targets_ : DataFrame; with shifts or unknown targets only (not with "mlp"): condition, variable, kind ("shift" or
        "unknown"), pvalue and nats of the effect of the condition on the variable given its causes, by likelihood ratio,
        and acts, whether it is part of the variable's model.
    n_features_in_, feature_names_in_ : width and column names (names only if the table had them).

    Notes
    -----
    Duong and Nguyen, "Heteroscedastic Causal Structure Learning", ECAI 2023. Deviations: each target has a free
    location (the paper's linear `eta1` is not closed under shifts, so its invariance theorem needs it); the
    conditional models are fitted to their optimum by a Newton-type solver; mechanisms and densities of the noise compete
    (`scores.competition`); the order is found by likelihood, and edges are decided by likelihood ratios between stepwise
    chosen models. `HOST.paper()` gives the paper's choices.

    Examples
    --------
    >>> from heterodag import HOST, simulate
    >>> data = simulate(1000, 5, degree=1, random_state=1)
    >>> model = HOST().fit(data.to_frame())
    >>> model.adjacency_.shape
    (5, 5)
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.max_time = max_time

    @classmethod
    def paper(cls, **changes: Any) -> HOST:
        """Return HOST with the paper's choices: lines, normal noise, order by W alone, layers of 1e-4, LCIT at 0.001.

        `changes` override single parameters, for instance `HOST.paper(selection="gam-classical")`.
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
        X : array, pandas or polars DataFrame of shape (n, d)
            Continuous observations, one column a variable; names are kept.
        y : ignored
            For compatibility with scikit-learn.
        interventions : optional
            Which variables were set from outside in which rows: (n, d) values True and False, as an array or as a frame
            with columns of `X`; or a list with one entry per row, None, a column, or several; or `Interventions`, which
            knows conditions, shifts and unknown targets too. A variable's model is fitted on the rows in which it was not
            set.

        Returns
        -------
        HOST
            The fitted estimator.
        """
        self._check_parameters()
        seed = seed_sequence(self.random_state)
        limit = renamed_time_limit(self.max_seconds, self.max_time)
        settings = self._order_settings()
        with (
            progress_bar("learning", enabled=bool(self.verbose)) as bar,
            Work(self.n_jobs, limit, bar, "HOST") as work,
        ):
            study = read_study(X, interventions, self.prior_knowledge, self.missing)
            self._remember(study.d, study.own_names)
            scores = settings.scores.make(study.array, seed, work, study.experiments)
            with work.part(0.0, _EDGES_FROM):
                found = find_order(scores, study.names, settings, study.knowledge)
            with work.part(_EDGES_FROM, _DIRECTIONS_FROM):
                graph = self._find_graph(study, seed, found)
            self._store(found, graph, study)
            with work.part(_DIRECTIONS_FROM, ALMOST):
                self._describe(found, graph, study)
            with suppress(OutOfTime):  # warnings that need further fits are left out then
                self._warn(study, found, graph)
            work.report(1.0)
        return self

    def _find_graph(self, study: Study, seed: np.random.SeedSequence, found: FoundOrder) -> DAGResult:
        parents = {} if found.search is None else found.search.state.parents
        problem = EdgeProblem(
            study.array, found.result.order, edge_candidates(found.result.order, study.knowledge), seed, self.n_jobs,
            found.scores.work.tick, float(self.alpha), self._order_settings().scores, limits_of(study.knowledge),
            FoundModels(found.scores, parents, found.plausibility), study.experiments,
        )  # fmt: skip
        return find_dag(problem, self.selection, float(self.alpha), self.correction, study.names, study.knowledge)

    def _store(self, found: FoundOrder, graph: DAGResult, study: Study) -> None:
        order, graph = found.result.of_first(study.d, study.own_names), graph.of_first(study.d, study.own_names)
        self.order_, self.layers_, self.scores_ = order.order, order.layers, order.scores
        self._set_or_forget("refinement_", None if found.search is None else Refinement.of(order))
        self.adjacency_, self.pvalues_ = graph.adjacency, graph.pvalues
        for name in ("nats", "mean_pvalues", "variance_pvalues"):
            self._set_or_forget(f"{name}_", graph.details.get(name))

    def _describe(self, found: FoundOrder, graph: DAGResult, study: Study) -> None:
        """Tell how sure each arrow is, which mechanism every variable got, and what experiments did."""
        nats, due = None, None
        if found.search is not None:
            edges = [(int(i), int(j)) for i, j in np.argwhere(self.adjacency_)]
            last = found.search.choices
            few = order_choices(found.scores.sample(LEVELS[0]), study.knowledge)
            levels = [last] if few.scores is last.scores else [few, last]
            told = found.search.state, edges, respected(study.knowledge)
            nats = direction_nats(levels, *told)[: study.d, : study.d]
            if study.experiments is not None:
                observed = [own for level in levels if (own := observational_choices(level)) is not None]
                without = direction_nats(observed, *told)[: study.d, : study.d] if observed else np.zeros_like(nats)
                due = np.where(np.isinf(nats), 0.0, nats - np.where(np.isinf(nats), 0.0, without))
        self._set_or_forget("direction_nats_", nats)
        self._set_or_forget("interventional_nats_", due)
        self._set_or_forget("open_", None if nats is None else (self.adjacency_ == 1) & (nats < OPEN_BELOW))
        self.rows_ = np.array([found.scores.table_of(j).shape[0] for j in range(study.d)])
        mechanisms, targets = None, None
        if found.scores.fitter.comparable:
            with suppress(OutOfTime):
                keys = [(j, parents_of(graph.adjacency[:, j])) for j in range(study.d)]
                fits = found.scores.best_known(keys).fits(keys)
                mechanisms = mechanism_table(fits, self.names(), self.rows_.tolist())
                targets = target_table(found.scores, graph, study) if study.contexts else None
        self._set_or_forget("mechanisms_", mechanisms)
        self._set_or_forget("targets_", targets)

    def _warn(self, study: Study, found: FoundOrder, graph: DAGResult) -> None:
        """Warn, with what was seen, when the table does not look like the model."""
        names, scores, plausibility = (
            study.names,
            found.scores,
            found.plausibility or graph.details.get("plausibility"),
        )
        if self._order_settings().scores.compete:
            sentences = doubts_of_mechanisms(
                scores.sample(LEVELS[0]),
                graph.adjacency,
                getattr(self, "open_", None),
                column_labels(scores.d, names),
            )
        elif self.parametrization == "linear":
            labels, few = column_labels(scores.d, names), scores.sample(LEVELS[1])
            if plausibility is None:  # nobody has asked yet: the order is the paper's, the edge test another one
                plausibility = judge(few, {j: parents_of(graph.adjacency[:, j]) for j in range(scores.d)})
            order = found.result.of_first(study.d, study.own_names)
            sentences = doubts(few, order, graph.adjacency, labels, plausibility)
        else:  # the other signs are of lines
            sentences = [text for text in [not_normal(plausibility, scores.d)] if text is not None]
        for sentence in sentences:
            warnings.warn(sentence, AssumptionWarning, stacklevel=3)

    def _set_or_forget(self, name: str, value: Any) -> None:
        """Store a fitted attribute, or remove what an earlier fit with other settings left there."""
        if value is not None:
            setattr(self, name, value)
        elif hasattr(self, name):
            delattr(self, name)

    def latents(self, X: Any, interventions: Any = None) -> Array:
        """Return the latents `U` (Algorithm 1) of every variable given all that precede it in the order.

        They should look like independent standard normal samples if the model holds; where the noise of a variable is a
        fitted density, its residuals are brought to the normal scale by it.

        Parameters
        ----------
        X : table of shape (n, d)
            The data the model was fitted to, or other rows of the same variables; the conditional models are
            fitted to these rows. Rows with missing values are treated as in `fit`.
        interventions : optional
            Which variables were set or changed in which rows, as in `fit`; latents of values that were set are NaN.

        Returns
        -------
        (n, d) array
            In the table's column order.
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
        return U

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
        check_graph_parameters(self)
