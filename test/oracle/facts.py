"""Prints what reckon.py computes of a snapshot as JSON, for the tests that compare it with every place that prints it.

    python3 facts.py WAREHOUSE EXPORTS
"""

import json
import sys
from collections import Counter
from pathlib import Path

from reckon import DATASETS, Reckoning
from views import Views, known_sum


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
    facts = Views(reckoning).fact_people
    lists = [
        {"list": each, **{measure: known_sum(row[measure] for row in facts if row["list"] == each) for measure in ("voters", "users")}}
        for each in sorted({row["list"] for row in facts})
    ]
    print(json.dumps({"rows": rows, "checks": checks, "severities": severities, "lists": lists}))


if __name__ == "__main__":
    main(*sys.argv[1:])
