"""
What if we change this?
=======================

A made-up drug: the dose lowers a blood value, and the higher the dose, the more patients differ. The blood value drives
a complaint score. Doctors give severe cases more, so dose and value look less related than they are. With the graph,
the model answers what *setting* the dose does to the mean and to the spread. We know how the table was made, so the
answers can be checked.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from heterodag import HOST, HeteroscedasticSCM, PriorKnowledge, check_graph
from heterodag.scm import Shift

rng = np.random.default_rng(1)
n = 4000
severity = rng.normal(size=n)
dose = 2.0 + 0.8 * severity + 0.5 * rng.normal(size=n)
value = 10.0 + severity - 1.5 * dose + np.exp(-0.5 + 0.3 * dose) * rng.normal(size=n)
complaints = 5.0 + 0.5 * value + rng.normal(size=n)
table = pd.DataFrame({"severity": severity, "dose": dose, "value": value, "complaints": complaints})

# %%
# The graph is given here, as an expert would give it; further down it is learned.
graph = pd.DataFrame(0, index=table.columns, columns=table.columns)
graph.loc["severity", ["dose", "value"]] = graph.loc["dose", "value"] = graph.loc["value", "complaints"] = 1
model = HeteroscedasticSCM.from_dag(graph, table, form="location-scale")

# %%
# Does the table speak against this graph? And would it, had the expert forgotten an arrow? Then a change is
# proposed, with the nats (units of log-likelihood) that it brings.
quick = {"learn": False, "n_shuffles": 0}  # leave out the comparison with learned and with shuffled graphs
print("worst finding about the graph:", check_graph(graph, table, **quick).worst)
forgetful = graph.copy()
forgetful.loc["severity", "value"] = 0
proposed = check_graph(forgetful, table, **quick).changes
print(proposed[["change", "cause", "effect", "nats"]].to_string(index=False, float_format="{:.0f}".format))

# %%
# A plain regression of value on dose mixes two things up: what the dose does, and that severe cases get more
# of it. The causal model keeps them apart. ``lower`` and ``upper`` are the 90 % interval of the difference.
FLOAT = "{:.2f}".format
regression = np.polyfit(table["dose"], table["value"], 1)
print(f"value per unit of dose, as observed: {regression[0]:.2f}")
print("what setting dose to 3 instead of 1 does to value:")
effect = model.effect("dose", "value", (1.0, 3.0), random_state=0)
print(effect.loc[["mean", "sd", "quantile 0.1", "quantile 0.9"]].to_string(float_format=FLOAT))
at_low, at_high = (np.sqrt(np.exp(2 * (-0.5 + 0.3 * amount)) + 1.0) for amount in (1.0, 3.0))
print(f"the truth: mean -3.00, sd {at_high - at_low:.2f}")

# %%
# The same for many doses: the mean if everybody got that dose, and the range in which 80 % of the patients
# would be. The regression line is far too flat.
doses = np.linspace(0.5, 3.5, 9)
told = [model.describe_do({"dose": amount}, "value", n=2000, random_state=0)["value"] for amount in doses]
set_to = pd.DataFrame(told, index=doses)

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
points = table.iloc[::4]
ax.scatter(points["dose"], points["value"], s=4, color="lightgrey", label="as observed")
ax.plot(doses, np.polyval(regression, doses), "--", color="grey", label="regression")
ax.plot(doses, set_to["mean"], color="C1", label="dose set by us")
ax.fill_between(doses, set_to["quantile 0.1"], set_to["quantile 0.9"], color="C1", alpha=0.2)
ax.set(xlabel="dose", ylabel="value")
ax.legend()
plt.show()

# %%
# A dose need not be set to one number: shift what everybody gets. Along the path dose -> value -> complaints
# the effect is on the complaints.
print("complaints if everyone got 0.5 more than now:")
shifted = model.describe_do({"dose": Shift(0.5)}, "complaints", random_state=0)
print(shifted.loc[["mean", "sd"]].to_string(float_format=FLOAT))

# %%
# Why do patients differ in the blood value? ``share`` is the part of its variance that comes from the noise
# of each variable; ``log_spread`` says which parents move its conditional spread: the dose.
print("where the spread of value comes from:")
print(model.attribute_spread("value", random_state=0).to_string(float_format=FLOAT))

# %%
# All this with the graph given. Now learn it. One direction stays open, and that one decides: if the dose
# caused the severity, nothing would have to be kept apart. Say what is known, that severity comes first, and
# the answer is right.
learned = HOST().fit(table)
edges = learned.edges()
print("open:", *(edges["cause"] + " -> " + edges["effect"])[edges["open"]])
helped = HOST(prior_knowledge=PriorKnowledge(required=[("severity", "dose")])).fit(table)
for title, fitted in (("graph learned", learned), ("severity comes first", helped)):
    effect = fitted.to_scm().effect("dose", "value", (1.0, 3.0), random_state=0)
    print(f"{title}: mean {effect.loc['mean', 'difference']:.2f}")

# %%
# **How far to trust this.** The intervals take the graph as given: the one from the wrong graph is narrow and far
# off. Before you set anything, look at the open edges (``model.edges()``, ``model.trust()``) and close those
# that you can. And if ``severity`` had not been measured, no graph would help. Doses far from those observed
# are extrapolated along the fitted lines.
#
# **Try next:** drop ``severity`` from table and graph, and compare; ``model.contrast({"dose": 3.0},
# "complaints")``.
#
# **More:** interventions, and what their intervals cover, in :doc:`using the graph </using-the-graph>`.
