"""The natural form with smooth curves, many models at once: the loop of `core.location_scale` with other derivatives.

`A = Z'a`, `s = Z'b`, `e = h (y - m) - A/h` with `h = exp(s/2)`. Given `b`, a weighted regression finds the best `a`
and `m`, so the search runs over `b` alone, by scoring: the matrix is the expected information of `b` minus the part
that `a` and `m` account for. It depends on the coefficients, so a step costs three weighted products.
"""

from __future__ import annotations

import numpy as np

from heterodag.core.gaussian import Array, Mask
from heterodag.core.location_scale import SmoothFit, SmoothProblem, SmoothSolution, inverses


def fit_natural_curves(
    problem: SmoothProblem, b: Array, strengths: Array, tolerance: float, max_steps: int
) -> SmoothSolution:
    """Fit all models as `fit_smoothly` does; the last of the coefficients `a` is the location `m`.

    The ridge must penalise the intercept of `a`, which competes with the location.
    """
    found = SmoothSolution.empty(problem, strengths, b.shape[1] + 1, b.shape[1])
    with np.errstate(all="ignore"):
        _NaturalFit(problem, b, strengths, found, tolerance).run(max_steps)
    return found


class _NaturalFit(SmoothFit):
    per_model = (*SmoothFit.per_model, "sums", "moment", "mixed")
    found_at = (*SmoothFit.found_at, "h", "A")

    def _begin(self) -> None:
        Z = self.problem.Z
        self.sums, self.moment = Z.sum(axis=2), np.matmul(Z, self.problem.Y[:, :, None])[:, :, 0]
        self.mixed = np.zeros((len(Z), Z.shape[1] + 1, Z.shape[1]))

    def _evaluate(self, b: Array) -> None:
        Z, Y = self.problem.Z, self.problem.Y
        m, p = b.shape
        s = np.matmul(b[:, None, :], Z)[:, 0]
        self.h = np.exp(0.5 * s)
        precision = self.h * self.h
        normal, moment = np.empty((m, p + 1, p + 1)), np.empty((m, p + 1))
        normal[:, :p, :p] = np.matmul(Z * (1.0 / precision)[:, None, :], Z.transpose(0, 2, 1))
        normal[:, p, :p] = normal[:, :p, p] = self.sums
        normal[:, p, p] = precision.sum(axis=1)
        normal.reshape(m, -1)[:, : p * (p + 2) : p + 2] += self.penalty[:, 0]
        moment[:, :p], moment[:, p] = self.moment, np.einsum("mn,mn->m", precision, Y)
        bad: Mask = np.asarray(~np.isfinite(normal).all(axis=(1, 2)))
        if bad.any():
            normal[bad] = np.eye(p + 1)
        self.inverse_a, self.normal = inverses(normal), normal
        self.a = np.matmul(self.inverse_a, moment[:, :, None])[:, :, 0]
        self.A = np.matmul(self.a[:, None, :p], Z)[:, 0]
        self.residual = self.h * (Y - self.a[:, p:]) - self.A / self.h
        self._add_up(b, s, bad)

    def _slope(self) -> Array:
        return np.asarray(0.5 * (self.square - 1.0) + self.residual * self.A / self.h)

    def _inform(self) -> None:
        Z, p = self.problem.Z, self.b.shape[1]
        turned, r = Z.transpose(0, 2, 1), self.A / self.h
        self.mixed[:, :p] = np.matmul(Z * (-r / self.h)[:, None, :], turned)
        self.mixed[:, p] = -np.matmul(Z, self.A[:, :, None])[:, :, 0]
        own = np.matmul(Z * (0.5 + r * r)[:, None, :], turned)
        self.gram = own - np.matmul(self.mixed.transpose(0, 2, 1), np.matmul(self.inverse_a, self.mixed))
        self.inverse_b = inverses(self.gram + self.penalty[:, 1][:, :, None] * np.eye(p))

    def _variances(self) -> Array:
        """Return the variances of `a`, including what the uncertainty of `b` adds to them."""
        p = self.b.shape[1]
        shared = np.matmul(self.inverse_a[:, :p], self.mixed)
        more = np.einsum("mpq,mpq->mp", np.matmul(shared, self.inverse_b), shared)
        return np.asarray(np.einsum("mpp->mp", self.inverse_a)[:, :p] + more)
