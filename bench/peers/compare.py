"""Loads the sample with rekap and with four other tools, from a service that caps `limit` at 25, and prints how many records arrive.

`make compare` runs it. Each tool is installed in a virtual environment below a temporary folder. Each loads twice: first from
a service that gives what is requested, to show that its configuration is right, and then from the one that caps `limit`.
Exits with 1 if the README's table says otherwise.
"""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REKAP = ["node", str(ROOT / "dist/src/cli/main.js")]
URL, KEY = "http://127.0.0.1:18089", "compare"  # As the configurations have them.
DATASETS = ("voters", "voting_rights_users")


def call(words, folder, **environment):
    """Returns what a command prints. Raises CalledProcessError if its exit code is not 0."""
    env = {**os.environ, "HOME": str(folder), **environment}
    return subprocess.run(
        [str(word) for word in words], cwd=folder, env=env, stdin=subprocess.DEVNULL, check=True, capture_output=True, text=True
    ).stdout


def count_messages(lines, stream_of):
    messages = (json.loads(line) for line in lines.splitlines() if line.startswith("{"))
    found = Counter(stream_of(message) for message in messages if message["type"] == "RECORD")
    return [found[name] for name in DATASETS]


def load_with_rekap(_, folder):
    done = call([*REKAP, "sync", "--project", HERE, "--json"], folder, REKAP_API_KEY=KEY)
    return [json.loads(done)["manifest"]["datasets"][name]["rows"] for name in DATASETS]


def load_with_dlt(bin, folder):
    return [int(word) for word in call([bin / "python", HERE / "load_with_dlt.py", folder], folder).split()[-2:]]


def load_with_sling(bin, folder):
    (folder / "env.yaml").write_text(f"connections: {{ service: {{ type: api, spec: 'file://{HERE}/sling.yaml' }} }}\n")
    [program] = bin.parent.glob("lib/python*/site-packages/sling_linux_amd64/bin/sling-linux-amd64")
    counts = []
    for name in DATASETS:
        file = folder / f"{name}.csv"
        words = [program, "run", "--src-conn", "service", "--src-stream", name, "--tgt-object", f"file://{file}"]
        call(words, folder, SLING_HOME_DIR=str(folder), SLING_TELEMETRY="false")
        with file.open(newline="") as rows:
            counts.append(sum(1 for _ in csv.DictReader(rows)))
    return counts


def load_with_singer(bin, folder):
    tap = call([bin / "tap-rest-api-msdk", "--config", HERE / "singer.json"], folder)
    return count_messages(tap, lambda message: message["stream"])


def load_with_airbyte(bin, folder):
    (folder / "config.json").write_text("{}")
    files = ["--config", "config.json", "--catalog", HERE / "airbyte-catalog.json", "--manifest-path", HERE / "airbyte.yaml"]
    source = call([bin / "source-declarative-manifest", "read", *files], folder)
    return count_messages(source, lambda message: message["record"]["stream"])


# Later releases of sling download their program from elsewhere, and write an expression without the $.
TOOLS = {
    "rekap": ([], load_with_rekap),
    "dlt 1.31.0": (["dlt[duckdb]==1.31.0"], load_with_dlt),
    "sling 1.4.11": (["sling-linux-amd64==1.4.11"], load_with_sling),
    "Singer, tap-rest-api-msdk 1.4.2": (["tap-rest-api-msdk==1.4.2"], load_with_singer),
    "Airbyte, airbyte-cdk 7.39.1": (["airbyte-cdk==7.39.1"], load_with_airbyte),
}


def install(packages, folder):
    """Returns the folder of a virtual environment's programs, or None with a message if the packages cannot be installed."""
    if packages:
        venv.create(folder, with_pip=True)
        done = subprocess.run([folder / "bin/pip", "install", "--quiet", *packages], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"Left out, because pip cannot install {packages[0]}:\n{done.stderr.strip()[-400:]}", file=sys.stderr)
            return None
    return folder / "bin"


def measure(load, bin, place, *faults):
    """Returns what one tool loads, or why it failed, while the service runs."""
    words = [*REKAP, "serve", "--sample", "--port", URL.rsplit(":", 1)[1], *faults]
    service = subprocess.Popen(words, env={**os.environ, "REKAP_API_KEYS": KEY}, stdout=subprocess.PIPE, text=True)
    try:
        if not service.stdout.readline().startswith("Serving"):
            sys.exit("The service does not start; its message is above.")
        return load(bin, Path(tempfile.mkdtemp(dir=place)))
    except subprocess.CalledProcessError as error:
        return f"exit code {error.returncode}: {error.stderr.strip()[-400:]}"
    finally:
        service.terminate()
        service.wait()


def show(measured):
    return measured if isinstance(measured, str) else " + ".join(str(count) for count in measured)


def main():
    readme = (ROOT / "README.md").read_text()
    differs = False
    print("| tool | from a service without faults | from one that caps `limit` at 25 | why |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="rekap-compare-") as place:
        for at, (name, (packages, load)) in enumerate(TOOLS.items()):
            bin = install(packages, Path(place) / f"venv-{at}")
            if bin is None:
                continue
            whole, capped = measure(load, bin, place), measure(load, bin, place, "--faults", "clamp=25")
            row = re.search(rf"^\| \**{re.escape(name)}\** \| \**(\d+)\** \| \**(\d+)\** \| (.*) \|$", readme, re.M)
            *said, why = row.groups() if row else ("", "", "The README says nothing of it.")
            print(f"| {name} | {show(whole)} | {show(capped)} | {why} |", flush=True)
            differs |= show(capped) != " + ".join(said) or whole != [514, 514]
    if differs:
        sys.exit("The README's table says otherwise.")


if __name__ == "__main__":
    main()
