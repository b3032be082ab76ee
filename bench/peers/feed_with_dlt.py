"""Loads what changed of a feed with dlt's incremental cursor into DuckDB, once; prints its rows as JSON."""

import json
import sys

import dlt
import duckdb
from dlt.sources.rest_api import rest_api_source

url, folder, lag = sys.argv[1:]
incremental = {"cursor_path": "updated_at", "initial_value": "2000-01-01T00:00:00Z", "lag": int(lag)}
source = rest_api_source(
    {
        "client": {"base_url": url, "paginator": {"type": "offset", "limit": 1000, "total_path": None}},
        "resource_defaults": {"primary_key": "id", "write_disposition": "merge"},
        "resources": [
            {
                "name": "rows",
                "endpoint": {
                    "path": "rows",
                    "params": {"updated_since": "{incremental.start_value}"},
                    "incremental": incremental,
                },
            }
        ],
    }
)
pipeline = dlt.pipeline(
    pipeline_name="feed",
    pipelines_dir=folder,
    dataset_name="feed",
    destination=dlt.destinations.duckdb(f"{folder}/dlt.duckdb"),
)
pipeline.run(source).raise_on_failed_jobs()
print(json.dumps(dict(duckdb.connect(f"{folder}/dlt.duckdb").sql("SELECT id, value FROM feed.rows").fetchall())))
