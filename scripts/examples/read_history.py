"""The engine's time ÷ Dispatch's as CSV, a row for each run and a column for each cell: python3 scripts/examples/read_history.py results/*/"""
import json
import sys

import pandas

runs = {json.load(open(f"{run}/run.json", encoding="utf-8"))["started_utc"]: pandas.read_csv(f"{run}/summary.csv") for run in sys.argv[1:]}
ratios = {started: rows.query("backend == 'engine' and operation_class.isna()").set_index("cell_id").time_ratio for started, rows in runs.items()}
print(pandas.DataFrame(ratios).T.sort_index().to_csv(index_label="started_utc"), end="")
