"""Simulate a table, learn its graph, and see how close it comes: a first look in a few seconds.

Run it anywhere heterodag is installed: `python quickstart.py`.
"""

from heterodag import HOST, metrics, simulate


def main() -> None:
    data = simulate(2000, 6, graph="ER", degree=1, random_state=1)
    model = HOST().fit(data.to_frame())

    names = model.names()
    print("order, causes first:", " ".join(names[i] for i in model.order_))
    print(model.edges().to_string(index=False, float_format="{:.1e}".format))

    print("order divergence:", metrics.order_divergence(model.order_, data.adjacency))
    print("structural Hamming distance:", metrics.shd(model.adjacency_, data.adjacency))


if __name__ == "__main__":
    main()
