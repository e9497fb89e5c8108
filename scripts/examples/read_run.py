"""Reads the files of a run with pandas: python3 scripts/examples/read_run.py results/RUN"""

import sys

import pandas

run = sys.argv[1]
summary = pandas.read_csv(f"{run}/summary.csv")
whole = summary[summary.operation_class.isna()]  # not of one class of operations
print(whole.pivot(index="cell_id", columns="backend", values="time_ns_per_op").round(1))
print(whole.query("time_ratio_ci_high < 1")[["cell_id", "backend", "time_ratio"]])  # faster than Dispatch

samples = pandas.read_csv(f"{run}/samples.csv", low_memory=False)
times = samples.query("metric == 'time' and phase == 'total' and status == 'ok'")
print((times.value / times.operations).groupby([times.cell_id, times.backend]).describe())  # ns, over the samples

lists = ["upper_bounds_ns", "counts"]
histograms = pandas.read_csv(f"{run}/histograms.csv", dtype=dict.fromkeys(lists, str))
buckets = histograms.assign(**{name: histograms[name].str.split() for name in lists}).explode(lists)
starts = buckets[(buckets.stage == "start") & buckets.operation_class.isna()].astype(dict.fromkeys(lists, "int64"))
merged = starts.groupby(["cell_id", "backend", "upper_bounds_ns"]).counts.sum().reset_index("upper_bounds_ns")
cell = ["cell_id", "backend"]
rank = merged.groupby(cell).counts.cumsum() / merged.groupby(cell).counts.sum()
print(merged[rank >= 0.99].groupby(cell).upper_bounds_ns.first())  # p99 of all samples together
