"""What would this row have been? A counterfactual, checked against the simulated truth.

The model is fitted to 5000 rows. One other row is looked at: its noise is recovered, one cause is changed, and the rest
follows. Since the rows are simulated, the true answer is known. Run it with `python examples/counterfactual.py`.
"""

import numpy as np
import pandas as pd

from heterodag import HeteroscedasticSCM

NAMES = ["rain", "growth", "price"]
CHAIN = pd.DataFrame([[0, 1, 0], [0, 0, 1], [0, 0, 0]], index=NAMES, columns=NAMES)


def simulate(noise: np.ndarray, rain: float | None = None) -> pd.DataFrame:
    """Return rows for given noise; `rain` sets the first variable."""
    first = 3.0 + noise[:, 0] if rain is None else np.full(len(noise), rain)
    growth = 2.0 * first + np.exp(0.4 * first - 1.0) * noise[:, 1]
    price = 20.0 - growth + 0.5 * noise[:, 2]
    return pd.DataFrame({"rain": first, "growth": growth, "price": price})


def main() -> None:
    rng = np.random.default_rng(0)
    model = HeteroscedasticSCM.from_dag(CHAIN, simulate(rng.standard_normal((5000, 3))), form="location-scale")

    noise = rng.standard_normal((1, 3))
    row = simulate(noise)
    table = pd.concat([
        row,
        model.counterfactual(row, {"rain": 5.0}),
        simulate(noise, rain=5.0),
        model.noise(row),
        pd.DataFrame(noise, columns=NAMES),
    ])  # fmt: skip
    table.index = ["the row", "if rain had been 5", "the truth", "noise recovered", "true noise"]
    print(table.to_string(float_format="{:.2f}".format))

    again = model.counterfactual(row, {"rain": row["rain"].to_numpy()})
    print("set to what it was, the row comes back:", np.allclose(again, row, rtol=1e-12))
    low, high = model.predict_interval({"rain": 5.0}, "growth", level=0.9)[["lower", "upper"]].iloc[0]
    print(f"growth at rain 5 without knowing the row: 90 % between {low:.1f} and {high:.1f}")


if __name__ == "__main__":
    main()
