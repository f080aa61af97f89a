"""
A first look
============

Simulate a table, learn its graph, and see how close it comes. The table follows the model: causes move the mean of
their effects along curves, and the spread as well. Your own table takes the place of ``table``: one row per
observation, one column per variable, numbers only.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from heterodag import HOST, check_table, metrics, simulate

data = simulate(1000, 6, degree=1, mechanism="curved", spread="straight", random_state=1)
table = data.to_frame()

# %%
# Is the table fit for it? Green is fine; ``print(check_table(table))`` shows what was looked at, a sentence
# each.
print("worst finding of the table:", check_table(table).worst)

# %%
# Learn the graph. There is nothing to set: ``HOST()`` chooses for every variable between lines and curves, a
# constant and a moving spread, normal noise and other shapes. The summary ends with the box *Can I trust
# this?*
model = HOST().fit(table)
print(model.summary())

# %%
# The graph, and the relation behind its first edge: the points, the fitted mean, and the band in which 90 %
# of the points should lie. The other causes, if there are any, are held at their medians.
first = model.edges().iloc[0]
low, high = table[first["cause"]].quantile([0.01, 0.99])
line = pd.DataFrame([table.median()] * 100).assign(**{first["cause"]: np.linspace(low, high, 100)})
band = model.to_scm().predict_interval(line, first["effect"], level=0.9)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
model.plot(ax=left)
right.scatter(table[first["cause"]], table[first["effect"]], s=4, color="grey")
right.plot(line[first["cause"]], band["mean"], color="C1")
right.fill_between(line[first["cause"]], band["lower"], band["upper"], color="C1", alpha=0.2)
right.set(xlabel=first["cause"], ylabel=first["effect"])
plt.show()

# %%
# The table was simulated, so the graph can be compared with the true one.
print("true edges placed the wrong way round in the order:", metrics.order_divergence(model.order_, data.adjacency))
print("wrong, missing or reversed edges:", metrics.shd(model.adjacency_, data.adjacency))

# %%
# **How far to trust this.** Everything that the method assumes holds in this table: no cause is missing, rows
# are independent, effects of several causes add up. In your own table, nobody guarantees that. An unmeasured
# common cause, for one, shows in no check.
#
# **Try next:** ``random_state=2``, or 100 rows in place of 1,000; then ``pandas.read_csv("my.csv")``.
#
# **More:** how to read all this in the :doc:`user guide </user-guide>`; what the numbers of an edge mean in
# :doc:`strengths </strengths>`.
