"""Reads every Parquet file of a snapshot with pyarrow, pandas, polars and fastparquet, and compares what they find.

Then validates datapackage.json and its data with frictionless, and runs the Python and the dbt project of the how-to pages.

Usage: read.py SNAPSHOT_FOLDER. Exits with 1 where two readers disagree or one cannot read a file, or a page is wrong.
"""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import fastparquet
import frictionless
import pandas
import polars
import pyarrow.parquet

PAGES = Path(__file__).resolve().parents[2] / "docs" / "how-to"


def total(columns):
    """The sum of all numbers in a table, as text; a fingerprint that every reader can compute."""
    return sum(int(value) for column in columns for value in column if isinstance(value, int) and value is not True)


def read_pyarrow(path):
    table = pyarrow.parquet.read_table(path)
    return table.num_rows, table.column_names, total(column.to_pylist() for column in table.columns)


def read_pandas(path):
    frame = pandas.read_parquet(path, dtype_backend="pyarrow")
    return len(frame), list(frame.columns), total(frame[name].dropna().tolist() for name in frame)


def read_polars(path):
    frame = polars.read_parquet(path)
    return frame.height, frame.columns, total(frame[name].to_list() for name in frame.columns)


def read_fastparquet(path):
    file = fastparquet.ParquetFile(str(path))
    frame = file.to_pandas()
    # fastparquet gives whole numbers with gaps as floats.
    numbers = {column.name for column in pyarrow.parquet.read_schema(path) if pyarrow.types.is_integer(column.type)}
    sums = sum(int(frame[name].dropna().astype("int64").sum()) for name in numbers)
    return len(frame), list(frame.columns), sums


READERS = {"pyarrow": read_pyarrow, "pandas": read_pandas, "polars": read_polars, "fastparquet": read_fastparquet}


def main(folder):
    rows_by_path = {file["path"]: file["rows"] for file in json.loads((folder / "manifest.json").read_text())["files"]}
    wrong = 0
    for path in sorted((folder / "parquet").rglob("*.parquet")):
        keys = pyarrow.parquet.read_metadata(path).metadata
        found = {}
        for name, read in READERS.items():
            try:
                found[name] = read(path)
            except Exception as error:  # Whatever a reader throws, it could not read the file.
                found[name] = f"{type(error).__name__}: {error}"
        expected = found["pyarrow"]
        agreed = all(value == expected for value in found.values())
        agreed = agreed and expected[0] == rows_by_path[str(path.relative_to(folder))] and b"rekap.snapshot" in keys
        print(f"{'ok ' if agreed else 'BAD'} {path.stem:22} {expected if not agreed else f'{expected[0]} rows'}")
        if not agreed:
            wrong += 1
            for name, value in found.items():
                print(f"      {name}: {value}")
    return 1 if wrong + validate_package(folder) + run_pages(folder) + run_dbt(folder) else 0


def validate_package(folder):
    """Validates the descriptor and every row of its files."""
    report = frictionless.validate(str(folder / "datapackage.json"))
    print(f"{'ok ' if report.valid else 'BAD'} datapackage.json")
    for error in [*report.errors, *(error for task in report.tasks for error in task.errors)]:
        print(f"      {error.message}")
    return not report.valid


def run_dbt(folder):
    """Makes the project of docs/how-to/use-in-bi-tools.md, and runs its models, its tests and the freshness of its sources."""
    page = (PAGES / "use-in-bi-tools.md").read_text()
    with tempfile.TemporaryDirectory() as place:
        project = Path(place)
        (project / "models").mkdir()
        for path, content in re.findall(r"```(?:yaml|sql)\n(?:#|--) (\S+)\n(.*?)```", page, re.S):
            (project / path).write_text(content)
        shutil.copy(folder / "dbt" / "sources.yml", project / "models")
        env = {**os.environ, "REKAP_SNAPSHOT": str(folder), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
        dbt = [sys.executable, "-m", "dbt.cli.main", "--warn-error", "--no-use-colors"]
        wrong = 0
        for words in (["build"], ["source", "freshness"]):
            done = subprocess.run([*dbt, *words], cwd=project, env=env, capture_output=True, text=True, check=False)
            summary = re.findall(r"PASS=\d+ .*|PASS freshness of \S+", done.stdout)
            good = done.returncode == 0 and len(summary) > 0
            print(f"{'ok ' if good else 'BAD'} dbt {' '.join(words)} {summary[-1] if good else done.stdout + done.stderr}")
            wrong += not good
    return wrong


def run_pages(folder):
    """Runs each block of Python in docs/how-to, in a folder where the warehouse lies as the pages have it."""
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "data" / "warehouse").mkdir(parents=True)
        (Path(place) / "data" / "warehouse" / "current").symlink_to(folder)
        os.chdir(place)
        for page in sorted(PAGES.glob("*.md")):
            for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S), 1):
                printed = io.StringIO()
                try:
                    with contextlib.redirect_stdout(printed):
                        exec(code, {})  # The project's own page.
                    good = printed.getvalue() != ""
                except Exception as error:  # Whatever it throws, the page is wrong.
                    good = print(f"      {type(error).__name__}: {error}")
                print(f"{'ok ' if good else 'BAD'} {page.name}, Python {number}")
                wrong += not good
        os.chdir("/")
    return wrong


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
