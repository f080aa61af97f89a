"""
Say what you know: proteins
===========================

Eleven proteins in 853 cells (Sachs et al., 2005): the standard test of this field, with a graph that biologists agree
on. Learned from the cells alone, most arrows point the wrong way. This example tells HOST what is known, and asks
by resampling how sure the rest is.
"""

import matplotlib.pyplot as plt

from heterodag import HOST, PriorKnowledge, bootstrap, load_sachs, metrics

sachs = load_sachs()
without = HOST().fit(sachs.data)

# %%
# Suppose it is known that the kinases PKC and PKA stand upstream of the others, that Raf activates Mek, and
# that Akt has no effect among the eleven. Knowledge is obeyed strictly: what it says is not tested.
others = [name for name in sachs.data.columns if name not in ("pkc", "pka")]
known = PriorKnowledge(tiers=[["pkc", "pka"], others], required=[("raf", "mek")], leaves=["akt"])
model = HOST(prior_knowledge=known).fit(sachs.data)

for title, fitted in (("without knowledge", without), ("with knowledge", model)):
    divergence = metrics.order_divergence(fitted.order_, sachs.adjacency)
    print(f"{title}: order divergence {divergence:.0f}, SHD {metrics.shd(fitted.adjacency_, sachs.adjacency):.0f}")
    print("  order:", *(fitted.names()[i] for i in fitted.order_))

# %%
# *Order divergence* counts the arrows of the biologists' graph whose effect was placed before its cause;
# *SHD* counts wrong, missing and reversed arrows. How much of the gain is the knowledge itself? Look at the
# arrows that do not follow from it.
free = [(i, j) for i, j in sachs.edges if (i not in ("pkc", "pka") or j not in others) and j not in ("mek", "akt")]
print(f"{len(sachs.edges) - len(free)} of {len(sachs.edges)} arrows follow from what was said")
for title, fitted in (("without knowledge", without), ("with knowledge", model)):
    order = [fitted.names()[i] for i in fitted.order_]
    print(f"{title}, misplaced of the others:", sum(order.index(i) > order.index(j) for i, j in free))

# %%
# So the order is better where something was said, and not elsewhere. On these cells, what is known decides.
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for ax, title, fitted in zip(axes, ("from the cells alone", "with knowledge"), (without, model), strict=True):
    fitted.plot(ax=ax)
    ax.set_title(title)
plt.show()

# %%
# How sure is the rest? Learn the graph again on resampled rows. ``directed`` is the share of resamples with
# that edge, ``reversed`` with the opposite one, ``adjacent`` with either, ``before`` the share that places
# the cause before the effect. Five resamples keep this example short; take 100 for real work.
result = bootstrap(model, sachs.data, n_resamples=5, random_state=0)
print(f"stability of the order: {result.order_stability():.2f}")
print("how often each edge came back, of 5 resamples:")
print(result.frame().head(12).to_string(index=False, float_format="{:.1f}".format))
print("edges of the consensus graph:", int(result.consensus(0.5).to_numpy().sum()))

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
result.plot(ax=ax)
plt.show()

# %%
# Edges near 1 return in nearly every resample: they do not depend on single cells. Edges near 0.5 are open
# questions.
#
# **How far to trust this.** A frequency is not a probability of being true: all resamples share the same
# assumptions, and real cells break them. Here is what the checks say.
print(model.trust())

# %%
# All green, and still many arrows differ from those that biologists draw. Green means that nothing which was
# checked speaks against the graph. The checks cannot see a protein that was not measured, and signals in
# cells run in circles, which no such graph can show.
#
# **Try next:** leave out ``required`` and see whether Raf -> Mek is found; require a wrong arrow and see
# which others follow it; 100 resamples with ``n_jobs=-1``.
#
# **More:** all that can be said, in :doc:`using the graph </using-the-graph>`; how often frequent edges are
# true, in :doc:`can I believe these numbers? </confidence>`.
