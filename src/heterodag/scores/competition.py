"""proto"""
from __future__ import annotations
from collections import Counter
from dataclasses import dataclass, replace
import time
import numpy as np
from heterodag.core.densities import EXTRA, fit_densities
from heterodag.core.gaussian import LOCATION_SCALE, NATURAL, Array, Form
from heterodag.core.table import Table
from heterodag.scores.curves import CurveFitter, _gains_of, _line_part
from heterodag.scores.fit import Effort, Fit, Key, LinearFit
from heterodag.scores.lines import LineFitter, cut
from heterodag.scores.smooth import Batch
STAT = Counter()

class clock:
    def __init__(self, name): self.name = name
    def __enter__(self): self.t = time.perf_counter()
    def __exit__(self, *a): STAT[self.name] += time.perf_counter() - self.t

@dataclass(frozen=True)
class CompetingFitter:
    natural: bool = True
    natural_curves: bool = False
    noise: bool = True
    polish: int = 0
    comparable = True
    form = LOCATION_SCALE

    def batches(self, table, keys):
        by = {}
        for key in keys: by.setdefault(len(key[1]), []).append(key)
        for k, some in by.items():
            at = max(1, 2**18 // ((1 + 8 * k) * table.shape[0]))
            for s in range(0, len(some), at): yield some[s:s+at]

    def gain_batches(self, table, keys):
        return CurveFitter(self.form).batches(table, keys)

    def fit(self, table, keys, starts, effort):
        STAT["keys"] += len(keys)
        rivals = [[] for _ in keys]
        with clock("design"): batch = Batch.of(table, keys, starts)
        def add(fits, some=None):
            for i, f in zip(range(len(keys)) if some is None else some, fits): rivals[i].append(f)
        with clock("lines"): add(batch.lines(effort))
        if keys[0][1]:
            with clock("const"): add(batch.constant_spread(effort))
            with clock("curves"): add(batch.curves(effort))
            with clock("natural"):
                moving = [i for i, r in enumerate(rivals) if min(r[0].loss, r[2].loss) < r[1].loss]
                STAT["nat"] += len(moving)
                if moving and self.natural:
                    st = [_line_part(starts[i]) if isinstance(starts[i], LinearFit) else None for i in moving]
                    add(LineFitter(NATURAL).fit(table, [keys[i] for i in moving], st, effort), moving)
            with clock("natcurves"):
                if moving and self.natural_curves:
                    add(CurveFitter(NATURAL).fit(table, [keys[i] for i in moving], [starts[i] if isinstance(starts[i], LinearFit) and starts[i].form is NATURAL else None for i in moving], effort), moving)
        with clock("noise"):
            return self.judge(table, rivals)

    def judge(self, table, rivals):
        n = table.shape[0]
        flat = [f for r in rivals for f in r]
        if self.noise:
            E = np.array([f.residuals(table) for f in flat])
            dens = fit_densities(E)
            price = 0.5 * EXTRA * np.log(n)
            gain = n * dens.gain - price
            flat = [replace(f, loss=f.loss - g, noise=dens.one(i)) if g > 0 else f for i, (f, g) in enumerate(zip(flat, gain))]
        out = []; at = 0
        for r in rivals:
            out.append(min(flat[at:at+len(r)], key=lambda f: f.loss)); at += len(r)
        if self.polish:
            out = [self.polished(table, f) if f.noise is not None else f for f in out]
        return out

    def polished(self, table, fit):
        from heterodag.core.noise_steps import refine_under_noise
        from heterodag.core.design import Design
        from heterodag.scores.spline_design import curve_penalties
        from heterodag.scores.ridge import ridge_strength
        from heterodag.core.splines import SplineBasis
        n = table.shape[0]
        if isinstance(fit.basis, SplineBasis) and fit.form is LOCATION_SCALE:
            from heterodag.scores.smooth import smooth_basis
            Z = np.vstack([np.ones((1, n)), *(smooth_basis(table, j)[1][:w] for j, w in zip(fit.parents, fit.basis.widths))])
        else:
            Z = Design(table, fit.parents, (fit.target,), fit.basis).regressors(slice(None))
        y = table.take([fit.target])[0]
        pen = curve_penalties(fit)
        r = fit.shape.ridge(ridge_strength(n))[:, 0]
        pen = np.where(pen > 0, pen, r)
        if fit.strengths is not None:  # closed coefficients
            pen = np.where((fit.theta == 0.0) & (np.arange(len(pen)) % fit.shape.width != 0), 1e12, pen)
        before = 0.5 * pen @ fit.theta**2
        e = fit.residuals(table); A, s, m = fit.predictors(table, slice(None))
        old = 0.5 * (e @ e - s.sum()) - fit.noise.log_ratio(e).sum() + before
        theta, dens, value = refine_under_noise(fit.shape, Z, y, fit.theta, pen, fit.noise, self.polish)
        STAT["polished"] += 1; STAT["polishgain"] += old - value
        return replace(fit, theta=theta, noise=dens, loss=fit.loss + value - old)

    def gains(self, table, fits):
        with clock("gains"):
            return np.array([_gains_of(table, fit) for fit in fits])

    def residuals(self, table, fits):
        return np.array([fit.residuals(table) for fit in fits])
