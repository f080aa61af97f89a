"""
Experiments in the table
========================

Some rows come from an experiment: a drug was given, a gene was blocked. Such rows tell directions that observation alone
cannot. This example simulates the worst case for observation, straight lines with normal noise of constant spread,
and adds two small experiments. Then it asks what a drug acts on if nobody knows, also for real cells.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from heterodag import HOST, Interventions, load_sachs, metrics, simulate

NAMES = ["stress", "hormone", "sugar", "sleep", "mood"]
ARROWS = [("stress", "hormone"), ("hormone", "sugar"), ("stress", "sleep"), ("sleep", "mood"), ("sugar", "mood")]
graph = pd.DataFrame(0, index=NAMES, columns=NAMES)
for cause, effect in ARROWS:
    graph.loc[cause, effect] = 1

# 400 people who were only observed, 50 whose hormone was set by a blocker, 50 whose sleep was set by a pill.
options = {"adjacency": graph.to_numpy(), "mechanism": "straight", "interventions": {"x1": 50, "x3": 50}}
data = simulate(500, 5, random_state=1, **options)
table = pd.DataFrame(data.X, columns=NAMES)
table["group"] = ["control"] * 400 + ["blocker"] * 50 + ["pill"] * 50

# %%
# Observation alone, and then all rows with what each group acted on. A variable's model is fitted on the rows
# in which that variable was not set.
observed = HOST().fit(table.loc[table["group"] == "control", NAMES])
targets = {"control": None, "blocker": "hormone", "pill": "sleep"}
model = HOST().fit(table, interventions=Interventions("group", targets))
for title, fitted in (("observation alone", observed), ("with experiments", model)):
    wrong = metrics.shd(fitted.adjacency_, data.adjacency)
    loose = f"{fitted.edges()['open'].sum()} of {len(fitted.edges())} open"
    print(f"{title}: arrows wrong, missing or reversed: {wrong}; {loose}")

# %%
# Dashed lines without an arrowhead are open: the data hardly tell the direction.
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, title, fitted in zip(axes, ("400 observed", "and 100 from experiments"), (observed, model), strict=True):
    fitted.plot(ax=ax)
    ax.set_title(title)
plt.show()

# %%
# ``direction_nats`` is the evidence for a direction, ``interventional_nats`` the part of it that is due to
# the experiments. The difference is what observation tells: about 12 nats for the arrows into mood, next to
# nothing for the others. An effect with two causes shows in observations; the direction of a chain does not.
columns = ["cause", "effect", "direction_nats", "interventional_nats"]
print(model.edges()[columns].to_string(index=False, float_format="{:.1f}".format))

# %%
# What does a drug act on? Often that is the question. Here the two groups shift hormone and sleep by one
# standard deviation instead of setting them, and HOST is not told which variables they change: every variable
# is tested, given its causes.
data = simulate(500, 5, random_state=1, shift=1.0, **options)
table[NAMES] = data.X
unknown = Interventions("group", {"control": None, "blocker": "unknown", "pill": "unknown"})
model = HOST().fit(table, interventions=unknown)
acts = model.targets_[model.targets_["acts"]]
print(acts[["condition", "variable", "nats"]].to_string(index=False, float_format="{:.1f}".format))
print("arrows wrong, missing or reversed:", metrics.shd(model.adjacency_, data.adjacency))

# %%
# Real cells are harder. Of the proteins of Sachs et al. (2005), take 240 cells without a reagent and 120 each
# of two reagents whose targets are known: U0126 blocks Mek, psitectorigenin acts on PIP2. Can they be found?
sachs = load_sachs(conditions=True)
CONDITIONS = {"cd3_cd28": 240, "cd3_cd28+u0126": 120, "cd3_cd28+psitect": 120}
groups = sachs.data.groupby("condition")
drawn = [groups.get_group(name).sample(n, random_state=0) for name, n in CONDITIONS.items()]
cells = pd.concat(drawn, ignore_index=True)
meaning = {name: None if name == "cd3_cd28" else "unknown" for name in CONDITIONS}
model = HOST().fit(cells, interventions=Interventions("condition", meaning))

evidence = model.targets_.pivot(index="condition", columns="variable", values="nats")[sachs.feature_names]
acts = model.targets_.pivot(index="condition", columns="variable", values="acts")[sachs.feature_names]
for condition in evidence.index:
    top = evidence.loc[condition].idxmax()
    others = acts.loc[condition].sum() - 1
    print(f"{condition}: most evidence for {top}; known to act on {sachs.targets[condition]}; {others} more found")

figure, ax = plt.subplots(figsize=(9, 2.8), layout="constrained")
image = ax.imshow(np.log10(1.0 + evidence.to_numpy(dtype=float)), cmap="Blues", aspect="auto")
ax.set_xticks(range(evidence.shape[1]), evidence.columns)
ax.set_yticks(range(evidence.shape[0]), evidence.index)
for (i, j), nats in np.ndenumerate(evidence.to_numpy(dtype=float)):
    ax.text(j, i, f"{nats:.0f}", ha="center", va="center", color="white" if nats > 50 else "black")
ax.set_title("evidence that the condition acts on the protein (nats)")
plt.show()

# %%
# Both known targets come out on top. But many other proteins seem to be changed too: a reagent can act on
# more than its label says, and a mechanism that the model cannot describe looks like a change.
#
# **How far to trust this.** If you say that a variable was *set*, you are taken at your word. If that is not
# so, arrows turn round. When in doubt, write ``kind="shift"`` or ``"unknown"``. The box of the cells tells
# what else to be careful about:
print("\n".join(line.text for line in model.trust() if line.severity != "green"))

# %%
# **Try next:** 20 rows per experiment; a group that is said to act on mood but does nothing; all nine
# conditions of the cells, ``Interventions("condition", sachs.targets, kind="shift")``.
#
# **More:** all ways to write it down, and what it is worth, in :doc:`experiments in the table
# </experiments>`.
