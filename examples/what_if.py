"""What if we change this? Effects on the mean and on the spread, from observations alone.

A made-up dose: it lowers a blood value, and the more of it, the more patients differ. The blood value drives a
complaint score. We know how the table was made, so the answers can be checked. Run it with `python examples/what_if.py`.
"""

import numpy as np
import pandas as pd

from heterodag import HeteroscedasticSCM
from heterodag.scm import Shift

FLOAT = "{:.2f}".format


def simulate(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    severity = rng.normal(size=n)
    dose = 2.0 + 0.8 * severity + 0.5 * rng.normal(size=n)
    value = 10.0 + severity - 1.5 * dose + np.exp(-0.5 + 0.3 * dose) * rng.normal(size=n)
    complaints = 5.0 + 0.5 * value + rng.normal(size=n)
    return pd.DataFrame({"severity": severity, "dose": dose, "value": value, "complaints": complaints})


def main() -> None:
    table = simulate(4000)
    graph = pd.DataFrame(0, index=table.columns, columns=table.columns)
    graph.loc["severity", ["dose", "value"]] = graph.loc["dose", "value"] = graph.loc["value", "complaints"] = 1
    model = HeteroscedasticSCM.from_dag(graph, table, form="location-scale")

    # Severe cases get more: a plain regression of value on dose mixes the two up.
    slope = np.polyfit(table["dose"], table["value"], 1)[0]
    print(f"value per unit of dose, as observed: {slope:.2f}")
    print("what setting dose to 3 instead of 1 does to value:")
    effect = model.effect("dose", "value", (1.0, 3.0), random_state=0)
    print(effect.loc[["mean", "sd", "quantile 0.1", "quantile 0.9"]].to_string(float_format=FLOAT))
    at_low, at_high = (np.sqrt(np.exp(2 * (-0.5 + 0.3 * dose)) + 1.0) for dose in (1.0, 3.0))
    print(f"the truth: mean -3.00, sd {at_high - at_low:.2f}")

    print("complaints if everyone got 0.5 more than now:")
    shifted = model.describe_do({"dose": Shift(0.5)}, "complaints", random_state=0)
    print(shifted.loc[["mean", "sd"]].to_string(float_format=FLOAT))

    print("where the spread of value comes from:")
    print(model.attribute_spread("value", random_state=0).to_string(float_format=FLOAT))


if __name__ == "__main__":
    main()
