"""Sachs: tell HOST what is known, then ask the bootstrap how sure the rest is.

Eleven proteins in 853 cells. Suppose it is known that the kinases PKC and PKA stand upstream of the others, that Raf
activates Mek, and that Akt has no effect among the eleven. Run it with `python examples/sachs_knowledge.py`.
"""

from heterodag import HOST, PriorKnowledge, bootstrap, load_sachs, metrics


def main() -> None:
    sachs = load_sachs()
    others = [name for name in sachs.data.columns if name not in ("pkc", "pka")]
    known = PriorKnowledge(tiers=[["pkc", "pka"], others], required=[("raf", "mek")], leaves=["akt"])

    for title, knowledge in (("without knowledge", None), ("with knowledge", known)):
        model = HOST(prior_knowledge=knowledge).fit(sachs.data)
        names = model.names()
        divergence = metrics.order_divergence(model.order_, sachs.adjacency)
        print(f"{title}: order divergence {divergence:.0f}, SHD {metrics.shd(model.adjacency_, sachs.adjacency):.0f}")
        print("  order:", *(names[i] for i in model.order_))

    result = bootstrap(HOST(prior_knowledge=known), sachs.data, n_resamples=10, random_state=0)
    print(f"stability of the order: {result.order_stability():.2f}")
    print("how often each edge came back, of 10 resamples:")
    print(result.frame().head(12).to_string(index=False, float_format="{:.2f}".format))
    print("edges of the consensus graph:", int(result.consensus(0.5).sum()))
    result.plot().figure.savefig("sachs_bootstrap.png")


if __name__ == "__main__":
    main()
