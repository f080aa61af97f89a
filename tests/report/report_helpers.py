"""A fitted model as far as the report looks at it, and a reader of its page."""

import html
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd

EVIL = '<script>alert(1)</script> & "x"'
VOID = {"meta", "path", "rect", "br", "hr", "img", "link", "input"}


class Model:
    """A fitted model as far as the report looks at it, of any size, on a random DAG."""

    def __init__(self, d=6, density=0.3, names=None, alpha=0.001):
        rng = np.random.default_rng(d)
        self.alpha, self._names = alpha, list(names or [f"gene {k}" for k in range(d)])
        self.order_ = rng.permutation(d)
        upper = np.triu(rng.random((d, d)) < density, k=1)
        self.adjacency_ = np.zeros((d, d), dtype=np.int8)
        self.adjacency_[np.ix_(self.order_, self.order_)] = upper
        self.pvalues_ = np.where(self.adjacency_ == 1, 10.0 ** -rng.uniform(3, 30, (d, d)), np.nan)
        self.layers_ = [[int(k)] for k in self.order_]
        self.scores_ = np.full((d, d), np.nan)
        for k in range(d):
            self.scores_[k, self.order_[k:]] = np.sort(rng.uniform(0.8, 1, d - k))[::-1]

    def get_params(self, deep=True):
        return {"alpha": self.alpha, "tolerance": 1e-4, "normality": "shapiro"}

    def names(self):
        return self._names

    def latents(self, X):
        return np.asarray(X, dtype=float)


def certain(model, n_open=2):
    """Give the model what it needs to say how sure each edge is; the first edges are open, the last one is given."""
    edges = [(int(i), int(j)) for i, j in np.argwhere(model.adjacency_)]
    shape = model.adjacency_.shape
    model.nats_, model.direction_nats_, model.open_ = (
        np.full(shape, np.nan),
        np.full(shape, np.nan),
        np.zeros(shape, bool),
    )
    for k, edge in enumerate(edges):
        model.nats_[edge], model.direction_nats_[edge] = 1000.0 + k, 0.2 if k < n_open else 20.0 + k
    model.direction_nats_[edges[-1]] = np.inf
    for edge in edges[:n_open]:
        model.open_[edge] = True
    return model, edges


def mechanisms(model):
    rows = [
        {"variable": name, "parents": ", ".join(model.names()[i] for i in np.flatnonzero(model.adjacency_[:, k])),
         "form": "natural", "curves": "", "spread": "moving", "noise": "normal", "rows": np.int64(1234)}
        for k, name in enumerate(model.names())
    ]  # fmt: skip
    return pd.DataFrame(rows)


class Checker(HTMLParser):
    """Collects tags, text and the script's data, and insists that every element is closed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.tags, self.links, self.text, self.data = [], [], [], [], None

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        found = [value for name, value in attrs if name in {"src", "href", "xlink:href", "action"}]
        self.links += [value for value in found if not value.startswith("#")]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.stack, f"</{tag}> closes nothing"
        assert self.stack.pop() == tag

    def handle_data(self, data):
        if self.stack[-1:] not in (["script"], ["style"]):
            self.text.append(data)
        elif data.startswith("{"):
            self.data = json.loads(data)


def parse(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.stack == []
    return checker


def data(n=200, d=6):
    return np.random.default_rng(1).standard_normal((n, d))


def table_of(page, heading):
    """Return the rows of the first table after a heading, as lists of the texts of their cells."""
    table = page[page.index(f"<h2>{heading}</h2>") :].split("</table>")[0]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in table.split("<tr")[1:]]
    return [[html.unescape(re.sub(r"<[^>]*>", "", cell)).strip() for cell in row] for row in cells]
