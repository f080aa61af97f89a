"""The causal model for `dowhy.gcm`: every node has our mechanism, so DoWhy's queries run on it unchanged.

DoWhy passes the parents of a node in sorted order; the adapters put them back into ours. Refitting such a mechanism,
as DoWhy does for confidence intervals, fits our conditional model, noise included, to the given rows. DoWhy draws
from NumPy's global state: seed its samples with `dowhy.gcm.util.general.set_random_seed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.core.densities import Density
from heterodag.core.gaussian import Array
from heterodag.errors import MissingExtraError
from heterodag.scm.mechanism import Mechanism, fit_mechanism
from heterodag.scm.noise import from_normal
from heterodag.scores.make import ScoreSettings

if TYPE_CHECKING:
    from heterodag.scm.model import HeteroscedasticSCM

try:
    from dowhy import gcm
    from dowhy.gcm.causal_mechanisms import InvertibleFunctionalCausalModel, StochasticModel
    from dowhy.gcm.causal_models import PARENTS_DURING_FIT
    from dowhy.graph import get_ordered_predecessors
except ImportError as error:
    raise MissingExtraError("Handing the model to DoWhy", "dowhy") from error


class HeteroscedasticRoot(StochasticModel):  # type: ignore[misc]
    """A node without parents: `mu + sigma * noise`, with standard normal noise or a fitted density.

    Parameters
    ----------
    model : ScoreSettings
        What `fit` fits.
    mechanism : Mechanism or None
        What was fitted.
    """

    def __init__(self, model: ScoreSettings, mechanism: Mechanism | None = None) -> None:
        self.model = model
        self.mechanism = mechanism

    def fit(self, X: Array) -> None:
        """Fit mean, spread and noise to values of the node."""
        self.mechanism = fit_mechanism(_rows(X), 0, (), self.model)

    def draw_samples(self, num_samples: int) -> Array:
        """Draw values of the node, from NumPy's global state as DoWhy's own models do."""
        mechanism = _fitted(self.mechanism)
        return mechanism.value(np.empty((num_samples, 0)), _draw(mechanism.density, num_samples))[:, None]

    def clone(self) -> HeteroscedasticRoot:
        """Return an unfitted copy."""
        return HeteroscedasticRoot(self.model)


class HeteroscedasticMechanism(InvertibleFunctionalCausalModel):  # type: ignore[misc]
    """A node with parents: `mu(parents) + sigma(parents) * noise`, with standard normal noise or a fitted density.

    Parameters
    ----------
    model : ScoreSettings
        What `fit` fits.
    mechanism : Mechanism or None
        What was fitted; its parents are numbered in the order in which DoWhy passes them.
    """

    def __init__(self, model: ScoreSettings, mechanism: Mechanism | _Reordered | None = None) -> None:
        self.model = model
        self.mechanism = mechanism

    def fit(self, X: Array, Y: Array) -> None:
        """Fit mean, spread and noise to rows of the parents `X` and the node `Y`."""
        table = np.column_stack([X, Y]).astype(float)
        k = table.shape[1] - 1
        self.mechanism = fit_mechanism(table, k, range(k), self.model)

    def draw_noise_samples(self, num_samples: int) -> Array:
        """Draw noise, from NumPy's global state as DoWhy's own models do."""
        return _draw(_fitted(self.mechanism).density, num_samples)[:, None]

    def evaluate(self, parent_samples: Array, noise_samples: Array) -> Array:
        """Return the values of the node, given rows of its parents and its noise."""
        value = _fitted(self.mechanism).value(
            _rows(parent_samples), np.asarray(noise_samples, dtype=float).reshape(-1)
        )
        return value[:, None]

    def estimate_noise(self, target_samples: Array, parent_samples: Array) -> Array:
        """Return the noise behind observed values, exactly."""
        values = np.asarray(target_samples, dtype=float).reshape(-1)
        return _fitted(self.mechanism).noise(_rows(parent_samples), values)[:, None]

    def clone(self) -> HeteroscedasticMechanism:
        """Return an unfitted copy."""
        return HeteroscedasticMechanism(self.model)


def dowhy_model(scm: HeteroscedasticSCM) -> Any:
    """Return the model as `dowhy.gcm.InvertibleStructuralCausalModel`."""
    model = gcm.InvertibleStructuralCausalModel(scm.to_networkx())
    for mechanism in scm.mechanisms:
        name = scm.names[mechanism.target]
        ordered = get_ordered_predecessors(model.graph, name)
        if ordered:
            columns = [scm.names.index(p) for p in ordered]
            node: Any = HeteroscedasticMechanism(scm.settings, _Reordered(mechanism, columns))
        else:
            node = HeteroscedasticRoot(scm.settings, mechanism)
        model.set_causal_mechanism(name, node)
        model.graph.nodes[name][PARENTS_DURING_FIT] = ordered
    return model


class _Reordered:
    """A mechanism whose parents come in another order, with the methods that `HeteroscedasticMechanism` needs."""

    def __init__(self, mechanism: Mechanism, columns: list[int]) -> None:
        self.mechanism = mechanism
        self.density = mechanism.density
        self.place = [columns.index(j) for j in mechanism.parents]

    def value(self, parents: Array, noise: Array) -> Array:
        return self.mechanism.value(parents[:, self.place], noise)

    def noise(self, parents: Array, values: Array) -> Array:
        return self.mechanism.noise(parents[:, self.place], values)


def _fitted(mechanism: Mechanism | _Reordered | None) -> Mechanism | _Reordered:
    if mechanism is None:
        raise RuntimeError("This mechanism is not fitted: call fit, or dowhy.gcm.fit on the whole model.")
    return mechanism


def _draw(density: Density | None, n: int) -> Array:
    return from_normal(density, np.random.normal(size=n))  # noqa: NPY002


def _rows(samples: Array) -> Array:
    rows = np.asarray(samples, dtype=float)
    return rows[:, None] if rows.ndim == 1 else rows
