"""Findings of checks: each is a sentence with a severity and a remedy, in the same words everywhere.

The terminal, the report, the files and notebooks all show `Finding.text`; none of them writes its own sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: How much a finding matters, mildest first. Green: as it should be. Amber: read the result with care.
#: Red: the result may well mean nothing until the remedy has been tried.
SEVERITIES = ("green", "amber", "red")


@dataclass(frozen=True)
class Finding:
    """One thing that a check found.

    Attributes
    ----------
    severity : {"green", "amber", "red"}
        How much it matters. Green: as it should be. Amber: read the result with care. Red: the result may well mean nothing.
    topic : str
        What it is about, one or two words, such as "rows" or "columns".
    check : str
        Stable name of the check, such as "autocorrelation".
    sentence : str
        What was found, for people.
    remedy : str
        What to do about it, a sentence; empty if there is nothing to do.
    columns : tuple of str
        Names of the columns it is about.
    rows : tuple of int
        Positions of the rows it is about; rows are counted from 0.

    Examples
    --------
    >>> from heterodag import Finding
    >>> Finding("amber", "columns", "counts", "Column 'a' holds counts.", "Read edges with care.").text
    "Column 'a' holds counts. Read edges with care."
    """

    severity: str
    topic: str
    check: str
    sentence: str
    remedy: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The sentence and the remedy."""
        return f"{self.sentence} {self.remedy}".strip()

    def record(self) -> dict[str, Any]:
        """Return the finding as plain values, for JSON.

        Returns
        -------
        dict
            The values by the names of the attributes.
        """
        return {
            "severity": self.severity,
            "topic": self.topic,
            "check": self.check,
            "sentence": self.sentence,
            "remedy": self.remedy,
            "columns": list(self.columns),
            "rows": list(self.rows),
        }


def from_records(records: Iterable[Mapping[str, Any]]) -> list[Finding]:
    """Return the findings from what `Finding.record` returned."""
    return [
        Finding(**dict(record) | {"columns": tuple(record["columns"]), "rows": tuple(record["rows"])})
        for record in records
    ]


@dataclass(frozen=True)
class Findings:
    """What the checks found, in the order in which they were made.

    Parameters
    ----------
    items : iterable of Finding
        The findings. The object can be iterated, measured with `len` and indexed like a sequence.
    title : str, default=""
        A heading.

    Examples
    --------
    >>> from heterodag import Finding, Findings
    >>> found = Findings([Finding("amber", "columns", "counts", "Column 'a' holds counts.", "Read edges with care.")])
    >>> print(found)
    amber  columns: Column 'a' holds counts. Read edges with care.
    >>> found.worst
    'amber'
    """

    items: tuple[Finding, ...] = field(default=())
    title: str = ""

    def __init__(self, items: Iterable[Finding] = (), title: str = "") -> None:
        object.__setattr__(self, "items", tuple(items))
        object.__setattr__(self, "title", title)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, position: int) -> Finding:
        return self.items[position]

    @property
    def worst(self) -> str:
        """The highest severity among the findings; "green" if there are none."""
        return max((item.severity for item in self.items), key=SEVERITIES.index, default="green")

    def of(self, *severities: str) -> list[Finding]:
        """Return the findings of some severities.

        Parameters
        ----------
        *severities : str
            "green", "amber" or "red".

        Returns
        -------
        list of Finding
            Those findings.

        Examples
        --------
        >>> import numpy as np
        >>> from heterodag import check_table
        >>> walk = np.cumsum(np.random.default_rng(0).standard_normal((300, 3)), axis=0)
        >>> [finding.topic for finding in check_table(walk).of("red")]
        ['rows']
        """
        return [item for item in self.items if item.severity in severities]

    def lines(self) -> list[str]:
        """Return the findings as text.

        Returns
        -------
        list of str
            One line per finding: severity, topic, sentence, remedy.
        """
        width = max((len(item.severity) for item in self.items), default=0)
        return [f"{item.severity:<{width}}  {item.topic}: {item.text}" for item in self.items]

    def frame(self) -> pd.DataFrame:
        """Return the findings as a table.

        Returns
        -------
        pandas.DataFrame
            One row per finding: severity, topic, check, sentence, remedy, columns, rows.
        """
        import pandas as pd

        keys = list(Finding("", "", "", "").record())
        return pd.DataFrame([item.record() for item in self.items], columns=keys)

    def records(self) -> list[dict[str, Any]]:
        """Return the findings as plain values, for JSON.

        Returns
        -------
        list of dict
            One per finding; see `Finding.record`.
        """
        return [item.record() for item in self.items]

    def __str__(self) -> str:
        return "\n".join([*([self.title] if self.title else []), *self.lines()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colours = {"green": "#1f7a4d", "amber": "#b35c00", "red": "#b3261e"}
        rows = "".join(
            f'<tr><td style="color:{colours[item.severity]};font-weight:600">{item.severity}</td>'
            f'<td>{escape(item.topic)}</td><td style="text-align:left">{escape(item.text)}</td></tr>'
            for item in self.items
        )
        title = f"<b>{escape(self.title)}</b>" if self.title else ""
        return f'<div>{title}<table style="font-size:inherit">{rows}</table></div>'
