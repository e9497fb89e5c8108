"""The 99th percentile of all samples of a run together: python3 scripts/examples/merge_histograms.py results/RUN"""
import sys

import pandas

lists = ["upper_bounds_ns", "counts"]  # with spaces between the numbers
rows = pandas.read_csv(f"{sys.argv[1]}/histograms.csv", converters=dict.fromkeys(lists, str.split)).explode(lists)
starts = rows.query("stage == 'start' and operation_class.isna()").astype(dict.fromkeys(lists, int))
ranks = starts.groupby(["cell_id", "backend", "upper_bounds_ns"]).counts.sum().groupby(["cell_id", "backend"]).cumsum()
print(ranks[ranks >= 0.99 * ranks.groupby(["cell_id", "backend"]).transform("max")].reset_index(2).groupby(level=[0, 1]).first())
