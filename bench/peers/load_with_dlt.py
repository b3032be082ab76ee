"""Loads both endpoints with dlt's REST API source; prints the rows of each table."""

import sys

import dlt
from dlt.sources.rest_api import rest_api_source

source = rest_api_source(
    {
        "client": {
            "base_url": "http://127.0.0.1:18089/api/",
            "auth": {"type": "api_key", "name": "x-api-key", "api_key": "compare", "location": "header"},
            "paginator": {"type": "offset", "limit": 100, "total_path": None},
        },
        "resources": [
            {"name": "voters", "endpoint": {"path": "datapemilihdpr", "data_selector": "data"}},
            {"name": "voting_rights_users", "endpoint": {"path": "datahakpilihdpr", "data_selector": "data"}},
        ],
    }
)
pipeline = dlt.pipeline(
    pipeline_name="compare",
    pipelines_dir=sys.argv[1],
    destination=dlt.destinations.duckdb(f"{sys.argv[1]}/dlt.duckdb"),
)
pipeline.run(source).raise_on_failed_jobs()
counts = pipeline.last_trace.last_normalize_info.row_counts
print(counts["voters"], counts["voting_rights_users"])
