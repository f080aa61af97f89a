"""
Many columns
============

Sixty columns have 1,770 pairs. What to do when a graph no longer fits on the screen: choose the level, ask which edges come
back on other rows, look at a matrix instead of arrows, and cut out the neighbourhood of one variable.
"""

import matplotlib.pyplot as plt
import numpy as np

from heterodag import HOST, metrics, simulate
from heterodag.viz import plot_graph

data = simulate(300, 60, degree=1, mechanism="straight", spread="straight", random_state=4)
table = data.to_frame()

# %%
# For a first look, ask for straight lines and normal noise. That is much faster than ``HOST()``, which lets
# several mechanisms compete for every variable, and right for this table, which was made that way. Use the
# default for the final graph of a table of your own.
quick = {"parametrization": "linear", "form": "location-scale", "noise": "gaussian"}
model = HOST(**quick).fit(table)
print("edges:", len(model.edges()), "of which open:", int(model.edges()["open"].sum()))

# %%
# **Choose the level.** With 1,770 pairs, some edges appear by chance. ``correction="holm"`` makes the level
# smaller for many tests: fewer false edges, and more missed ones where effects are weak. The truth is known
# here, so both can be counted.
holm = HOST(**quick, correction="holm").fit(table)
for title, fitted in (("alpha 0.001", model), ("with Holm's correction", holm)):
    right = int((fitted.adjacency_ & data.adjacency).sum())
    wrong = int(fitted.adjacency_.sum()) - right
    print(f"{title}: {right} of {int(data.adjacency.sum())} true arrows found, {wrong} wrong")

# %%
# **Which edges come back?** Learn the graph again on a few resamples; halves of the rows are faster than rows
# drawn with replacement. Four show which edges are shaky; take 100 for frequencies.
result = model.bootstrap(table, 4, resample="half", random_state=0)
consensus = result.consensus(0.75).to_numpy()
print("edges in at least 3 of 4 resamples:", int(consensus.sum()))
print("wrong, missing or reversed in one fit:", metrics.shd(model.adjacency_, data.adjacency))
print("wrong, missing or reversed in the consensus:", metrics.shd(consensus, data.adjacency))

# %%
# **A matrix instead of arrows.** Rows are causes, columns effects, both in causal order, so the edges of the
# fit lie above the diagonal. Dark cells always came back. A pale cell below the diagonal is an edge that some
# resample turned round.
order = model.order_
shares = result.directed[np.ix_(order, order)]
figure, ax = plt.subplots(figsize=(7, 6.4), layout="constrained")
image = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
ax.plot([0, 59], [0, 59], color="lightgrey", linewidth=0.8)
ticks = range(0, 60, 3)
ax.set_xticks(ticks, [model.names()[order[k]] for k in ticks], rotation=90, fontsize=7)
ax.set_yticks(ticks, [model.names()[order[k]] for k in ticks], fontsize=7)
ax.set(xlabel="effect", ylabel="cause")
figure.colorbar(image, label="share of resamples with this edge", shrink=0.7)
plt.show()

# %%
# **Strong edges.** Evidence grows with the number of rows; strength does not. The eight largest effects on
# the mean, and by what factor the same causes move the spread, both per standard deviation of the cause:
columns = ["cause", "effect", "frequency", "mean_effect", "spread_effect"]
edges = model.edges()
strong = edges.loc[edges["mean_effect"].abs().sort_values(ascending=False).index, columns].head(8)
print(strong.to_string(index=False, float_format="{:.2f}".format))

# %%
# **One variable and its neighbours.** Cut the graph down to what stands around one variable, here the one
# with the most edges.
degree = consensus.sum(axis=0) + consensus.sum(axis=1)
centre = int(np.argmax(degree))
near = np.flatnonzero(consensus[centre] | consensus[:, centre] | (np.arange(60) == centre))
figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
plot_graph(consensus[np.ix_(near, near)], [model.names()[k] for k in near], ax)
ax.set_title(f"around {model.names()[centre]}")
plt.show()

# %%
# **How far to trust this.** What the checks say of the quick fit:
print("\n".join(line.text for line in model.trust() if line.severity != "green"))

# %%
# Resamples of one table share its faults, and an important cause may still be missing among sixty columns.
# Read the graph as a list of places to look at, the stable and strong edges first.
#
# **Try next:** ``HOST().fit(table)``, which takes some twenty seconds; ``noise="laplace"`` in ``simulate``,
# where the quick model finds many false edges and the default far fewer; ``model.report("report.html")``, a
# page with the matrix, a search field and the picture of every edge.
#
# **More:** what the page of results shows of large graphs, in :doc:`the report </report>`.
