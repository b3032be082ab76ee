"""Prints what reckon.py computes of a snapshot as JSON, for the tests that compare it with every place that prints it.

    python3 facts.py WAREHOUSE EXPORTS
"""

import json
import sys
from collections import Counter
from pathlib import Path

from reckon import DATASETS, Reckoning


def main(warehouse, exports):
    reckoning = Reckoning(Path(warehouse), Path(exports))
    for name in DATASETS:
        reckoning.reckon(name)
    reckoning.check_across()
    checks, severities = Counter(), Counter()
    for violation, times in reckoning.violations.items():
        checks[" ".join((violation[0], violation[6], violation[7]))] += times
        severities[violation[7]] += times
    rows = {name: len(table) for name, table in reckoning.tables.items()}
    print(json.dumps({"rows": rows, "checks": checks, "severities": severities}))


if __name__ == "__main__":
    main(*sys.argv[1:])
