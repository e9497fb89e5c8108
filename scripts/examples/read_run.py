"""A run's files in pandas, as in a notebook: python3 scripts/examples/read_run.py results/RUN"""
import sys

import pandas

whole = pandas.read_csv(f"{sys.argv[1]}/summary.csv").query("operation_class.isna()")  # no classes of operations
print(whole.pivot(index="cell_id", columns="backend", values="time_ns_per_op"), whole.query("time_ratio_ci_high < 1")[["cell_id", "backend", "time_ratio"]])  # and what is surely faster than Dispatch
times = pandas.read_csv(f"{sys.argv[1]}/samples.csv", low_memory=False).query("metric == 'time' and phase == 'total' and status == 'ok'")
times = times.drop_duplicates(["cell_id", "backend", "side", "block"], keep="last")  # a rerun replaces the noisy sample before it
print((times.value / times.operations).groupby([times.cell_id, times.backend]).describe())  # ns per operation
