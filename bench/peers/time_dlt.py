"""Loads lists of the service into DuckDB with dlt: URL FOLDER LOADER PARTITIONS; prints the number of rows.

LOADER is insert_values, parquet, or arrow, where the resource yields tables of pyarrow. PARTITIONS is a JSON array: if it is empty, one
list is read whole, otherwise both lists partition by partition, eight at a time.
"""

import json
import sys

import dlt
import pyarrow
from dlt.sources.helpers.rest_client import RESTClient
from dlt.sources.helpers.rest_client.paginators import OffsetPaginator

url, folder, loader, partitions = *sys.argv[1:4], json.loads(sys.argv[4])


client = RESTClient(base_url=url, headers={"x-api-key": "bench"}, data_selector="data")


def pages(path, **params):
    paginator = OffsetPaginator(limit=1000, total_path=None, stop_after_empty_page=True)
    for page in client.paginate(path, params=params, paginator=paginator):
        yield pyarrow.Table.from_pylist(list(page)) if loader == "arrow" else page


@dlt.defer
def only_page(path, partition):
    return next(pages(path, id_dapil=partition))


def resource_of(name, path):
    def read():
        if partitions:
            for partition in partitions:
                yield only_page(path, partition)
        else:
            yield from pages(path)

    return dlt.resource(read, name=name, write_disposition="replace")


lists = {"voters": "/api/datapemilihdpr", "voting_rights_users": "/api/datahakpilihdpr"}
pipeline = dlt.pipeline(
    pipeline_name="bench",
    pipelines_dir=f"{folder}/state",
    destination=dlt.destinations.duckdb(f"{folder}/dlt.duckdb"),
    dataset_name="bench",
)
read = list(lists.items()) if partitions else [("voters", lists["voters"])]
dlt.config["extract.workers"] = 8
pipeline.run([resource_of(*each) for each in read], loader_file_format="insert_values" if loader == "insert_values" else "parquet").raise_on_failed_jobs()
print(sum(pipeline.last_trace.last_normalize_info.row_counts[name] for name, _ in read))
