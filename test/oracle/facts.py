"""Prints what recompute.py computes of a snapshot as JSON, for the tests that compare it with every place that prints it.

    python3 facts.py WAREHOUSE EXPORTS
"""

import json
import sys
from collections import Counter
from pathlib import Path

from recompute import DATASETS, Recomputation
from views import Views, known_sum


def main(warehouse, exports):
    recomputation = Recomputation(Path(warehouse), Path(exports))
    for name in DATASETS:
        recomputation.recompute(name)
    recomputation.check_across()
    checks, severities = Counter(), Counter()
    for violation, times in recomputation.violations.items():
        checks[" ".join((violation[0], violation[6], violation[7]))] += times
        severities[violation[7]] += times
    rows = {name: len(table) for name, table in recomputation.tables.items()}
    facts = Views(recomputation).fact_people
    lists = [
        {"list": each, **{measure: known_sum(row[measure] for row in facts if row["list"] == each) for measure in ("voters", "users")}}
        for each in sorted({row["list"] for row in facts})
    ]
    print(json.dumps({"rows": rows, "checks": checks, "severities": severities, "lists": lists}))


if __name__ == "__main__":
    main(*sys.argv[1:])
