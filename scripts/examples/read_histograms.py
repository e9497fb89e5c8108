"""The 99th percentile of each cell and backend, the median of its samples': python3 scripts/examples/read_histograms.py results/RUN"""
import sys

import pandas

again = set(pandas.read_csv(f"{sys.argv[1]}/samples.csv").query("sample_flags.str.contains('rerun', na=False)").sample_id.str.replace("r-", "-"))
lists = ["upper_bounds_ns", "counts"]  # with spaces between the numbers
rows = pandas.read_csv(f"{sys.argv[1]}/histograms.csv", converters=dict.fromkeys(lists, str.split)).query("sample_id not in @again").explode(lists)
starts = rows.query("stage == 'start' and operation_class.isna()").astype(dict.fromkeys(lists, int)).set_index(["cell_id", "backend", "sample_id"])
print(starts[starts.groupby(level=[0, 1, 2]).counts.transform(lambda one: one.cumsum() / one.sum()) >= 0.99].groupby(level=[0, 1, 2]).upper_bounds_ns.first().groupby(level=[0, 1]).median().to_frame())
