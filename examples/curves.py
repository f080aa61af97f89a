"""
Curves, not lines
=================

Plants grow best at a middle temperature, and more water helps less and less. Straight lines cannot say this: the best
line through growth and temperature is flat. This example learns a simulated greenhouse with lines and with curves,
compares the two, and ends with a table that is too hard for both.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from heterodag import HOST, compare_parametrizations

rng = np.random.default_rng(0)
n = 1000
temperature = rng.normal(20.0, 4.0, n)
water = rng.gamma(4.0, 0.5, n)
spread = np.exp(0.35 * water - 0.6)
growth = 16.0 - 0.12 * (temperature - 20.0) ** 2 - 6.0 * np.exp(-water) + spread * rng.normal(size=n)
sugar = 5.0 + 3.0 * np.tanh((growth - 10.0) / 3.0) + 0.8 * rng.normal(size=n)
table = pd.DataFrame({"temperature": temperature, "water": water, "growth": growth, "sugar": sugar})
TRUE = {("temperature", "growth"), ("water", "growth"), ("growth", "sugar")}

# %%
# First with straight lines only, then with the default, which chooses between lines and curves.
lines = HOST(parametrization="linear").fit(table)
model = HOST().fit(table)
for title, fitted in (("lines only", lines), ("lines or curves", model)):
    found = set(fitted.to_networkx().edges)
    print(f"{title}: {len(found & TRUE)} of 3 arrows found, {len(found - TRUE)} wrong")
    print(" ", fitted.trust().title)

# %%
# With lines, the arrows are wrong, and the box *Can I trust this?* warns. With curves, all arrows are right.
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, title, fitted in zip(axes, ("lines only", "lines or curves"), (lines, model), strict=True):
    fitted.plot(ax=ax)
    ax.set_title(title)
plt.show()

# %%
# Which causes act by curves, and where does the spread move?
print(model.mechanisms_[["variable", "parents", "curves", "spread"]].to_string(index=False))

# %%
# Strengths of curved effects need two numbers. ``mean_effect`` is the slope of the closest straight line: for
# temperature almost nothing. ``mean_range`` is the distance between the highest and the lowest mean: two
# standard deviations of growth. ``spread_effect`` is the factor on the spread: water makes plants grow more,
# and more unevenly.
columns = ["cause", "effect", "mean_effect", "mean_range", "spread_effect"]
print(model.edges()[columns].to_string(index=False, float_format="{:.2f}".format))

# %%
# The curves: fitted mean, and the band in which 90 % of the points should lie when the other cause is at its
# median.
scm = model.to_scm()
figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
for ax, (cause, effect) in zip(axes, sorted(TRUE, reverse=True), strict=True):
    at = np.linspace(*table[cause].quantile([0.005, 0.995]), 100)
    line = pd.DataFrame([table.median()] * 100).assign(**{cause: at})
    band = scm.predict_interval(line, effect, level=0.9)
    ax.scatter(table[cause], table[effect], s=4, color="lightgrey")
    ax.plot(at, band["mean"], color="C1")
    ax.fill_between(at, band["lower"], band["upper"], color="C1", alpha=0.2)
    ax.set(xlabel=cause, ylabel=effect)
plt.show()

# %%
# The fitted curve is no proof that a curve is needed. Rows that were not used for fitting are a better judge:
# how well do lines and splines (curves) predict them? The numbers are log-likelihoods per row, above a model
# without causes.
held_out = compare_parametrizations(table, model.adjacency_, form="location-scale")
print(held_out.table().to_string(float_format="{:.2f}".format))

# %%
# **How far to trust this.** Curves of several causes are added up. Where causes only work together, this is
# the wrong model. Make growth the *product* of the two (standardised) causes:
light, food = rng.normal(size=(2, n))
product = pd.DataFrame({"light": light, "food": food, "growth": light * food + 0.3 * rng.normal(size=n)})
product["sugar"] = np.tanh(product["growth"]) + 0.3 * rng.normal(size=n)
hard = HOST().fit(product)
columns = ["cause", "effect", "direction_nats", "open"]
print(hard.edges()[columns].to_string(index=False, float_format="{:.1f}".format))
print("\n".join(line.text for line in hard.trust() if line.severity != "green"))

# %%
# A link between light and food appears, though they have nothing to do with each other. Two lines of the box
# give it away: a variable that no mechanism fits, and directions that are open. Take the first more seriously
# than any number of nats, since nats count only within the model.
#
# **Try next:** 200 rows; ``np.maximum(light, food)`` in place of the product; the edge test
# ``HOST(selection="gam")``.
#
# **More:** how mechanisms compete, in :doc:`the method </method>`; which kind of model for which data, in
# :doc:`parametrisation </parametrisation>`.
