"""Reads the rows of each dataset by the tag of the last publication, again and again, until its standard input ends."""

import json
import sys
import threading

from pyspark.sql import SparkSession

settings, tables = json.loads(sys.argv[1]), sys.argv[2:]
builder = SparkSession.builder.master("local[2]")
for name, value in settings.items():
    builder = builder.config(name, value)
session = builder.getOrCreate()


def value_of(query):
    return session.sql(query).first()[0]


ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
while not ended.is_set():
    snapshot = value_of("SELECT max_by(snapshot_id, sequence) FROM lake.rekap.publications")
    tag = "snap_" + snapshot.replace("-", "_")
    rows = [value_of(f"SELECT count(*) FROM lake.rekap.{table} VERSION AS OF '{tag}'") for table in tables]
    print(snapshot, *rows, flush=True)
