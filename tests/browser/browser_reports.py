"""Reports to open in a browser: five small fits, one rival, and one large graph that is not worth fitting."""

import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from heterodag import HOST, HeteroscedasticSCM, VarSort, load_sachs, simulate
from heterodag.errors import HeterodagError
from heterodag.report import render_report
from heterodag.report.html import Comparison

NAMES = [
    "</script><script>window.hacked = 1</script>",
    "quo\"te' & <b>", "测量值的一个非常长的名字啊啊啊啊", "درجة الحرارة", "العمر",
    "🧬 gene 👩‍🔬", "x" * 300, "two\nlines\x00\x07", "W" * 30,
]  # fmt: skip


class Wide:
    """Forty variables and 184 edges, as if learned: mechanisms are fitted, the search is spared."""

    def __init__(self, d=40, n_edges=184):
        rng = np.random.default_rng(1)
        self.order_ = rng.permutation(d)
        upper = np.zeros(d * (d - 1) // 2, dtype=np.int8)
        upper[rng.permutation(len(upper))[:n_edges]] = 1
        adjacency = np.zeros((d, d), dtype=np.int8)
        adjacency[np.triu_indices(d, 1)] = upper
        self.adjacency_ = np.zeros((d, d), dtype=np.int8)
        self.adjacency_[np.ix_(self.order_, self.order_)] = adjacency
        edges = self.adjacency_ == 1
        self.nats_ = np.where(edges, rng.uniform(7, 2000, (d, d)), np.nan)
        self.pvalues_ = np.exp(-self.nats_)
        self.direction_nats_ = np.where(edges, rng.uniform(0, 80, (d, d)), np.nan)
        self.open_ = edges & (self.direction_nats_ < 9)
        self.strengths_ = {
            name: np.where(edges, rng.uniform(0.5, 2, (d, d)), np.nan)
            for name in ("mean_effect", "spread_effect", "share")
        }
        self.table = simulate(600, d, mechanism="straight", adjacency=self.adjacency_, random_state=1).to_frame()

    def names(self):
        return list(self.table.columns)

    def get_params(self, deep=False):
        return {"alpha": 0.001}

    def to_scm(self):
        return HeteroscedasticSCM.from_dag(
            self.adjacency_, self.table, parametrization="linear", form="location-scale"
        )


class Huge(Wide):
    """Too many variables for arrows, and no mechanisms, as when the time is over."""

    def __init__(self):
        super().__init__(100, 450)

    def to_scm(self):
        raise HeterodagError("The time was over.")


def five():
    table = simulate(400, 5, degree=2, mechanism="curved", spread="curved", random_state=3).to_frame()
    return render_report(HOST().fit(table), table, title="Five curved variables")


def sachs():
    data = load_sachs()
    return render_report(
        HOST(random_state=0).fit(data.data), data.data, comparison=Comparison(data.adjacency, "the consensus graph")
    )


def wide():
    model = Wide()
    return render_report(model, model.table, title="Forty variables")


def huge():
    model = Huge()
    return render_report(model, model.table)


def names():
    data = simulate(200, len(NAMES), degree=2, mechanism="straight", random_state=4)
    table = pd.DataFrame(data.X, columns=NAMES)
    model = HOST(parametrization="linear", form="natural", noise="gaussian").fit(table)
    return render_report(model, table, title=NAMES[0], source=NAMES[3])


def experiments():
    data = simulate(400, 4, degree=1, mechanism="straight", random_state=3, interventions={0: 50, 1: 50})
    table, told = data.to_frame(), data.interventions
    return render_report(HOST().fit(table, interventions=told), table, interventions=told)


def rival():
    table = simulate(300, 5, degree=2, random_state=1).to_frame()
    return render_report(VarSort(selection="gam").fit(table), table, title="VarSort")


REPORTS = {make.__name__: make for make in (five, sachs, wide, huge, names, experiments, rival)}


@cache
def text_of(name):
    """Return the report, made once per process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return REPORTS[name]()


def saved(name, folder):
    """Return the file with a report."""
    path = Path(folder) / f"{name}.html"
    if not path.exists():
        path.write_text(text_of(name), encoding="utf-8")
    return path
