"""Loads one endpoint of the service into DuckDB with dlt: URL FOLDER LOADER-FORMAT; prints the number of rows."""

import sys

import dlt
from dlt.sources.helpers.rest_client import RESTClient
from dlt.sources.helpers.rest_client.paginators import OffsetPaginator

url, folder, file_format = sys.argv[1:]
client = RESTClient(
    base_url=url,
    headers={"x-api-key": "bench"},
    paginator=OffsetPaginator(limit=1000, total_path=None, stop_after_empty_page=True),
    data_selector="data",
)


@dlt.resource(name="voters", write_disposition="replace")
def voters():
    yield from client.paginate("/api/datapemilihdpr")


pipeline = dlt.pipeline(
    pipeline_name="bench",
    pipelines_dir=f"{folder}/state",
    destination=dlt.destinations.duckdb(f"{folder}/dlt.duckdb"),
    dataset_name="bench",
)
pipeline.run(voters(), loader_file_format=file_format).raise_on_failed_jobs()
print(pipeline.last_trace.last_normalize_info.row_counts["voters"])
