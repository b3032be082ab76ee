"""Recomputes a warehouse's current snapshot from the responses of its run, and prints every difference.

    python3 recompute.py WAREHOUSE EXPORTS

EXPORTS holds voters.json, voting_rights_users.json, violations.json and quarantine.json, each a JSON array of rows.
Exit 0: all agrees. Exit 1: a line for each difference. Exit 2: there is nothing to compare, and a line says why.

This page follows the description of the service and rekap's documents, and shares no code with rekap. It takes every
response with status 200, whatever its request: a record that several responses contain is one record. It cannot judge
three things, and says "left out" where one of the first two comes up:
  - which of several values of one key is the one to publish, if no single response contains them all;
  - copies of a record on different pages of its district;
  - a name that stands twice in one JSON object: the last one counts here.
"""

import gzip
import hashlib
import json
import re
import sys
import unicodedata
import zlib
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

DATASETS = {"voters": ("datapemilihdpr", "Pemilih"), "voting_rights_users": ("datahakpilihdpr", "PenggunaHakPilih")}
KEY = {"election_year": "TahunPemilu", "election_type": "JenisPemilu", "dapil_id": "IdDapil",
       "province": "NamaProvinsi", "regency": "NamaKabupaten"}
TEXTS = {"election_type", "province", "regency", "dapil_name"}
LISTS = {"dpt": "DPT", "dptb": "DPTb", "dpk": "DPK"}
TOTALS = ["male_total", "female_total", "grand_total"]
SUMS = {f"{each}_sexes_sum": [f"{each}_male", f"{each}_female", f"{each}_total"] for each in LISTS}
SUMS.update({f"{sex}_lists_sum": [*(f"{each}_{sex}" for each in LISTS), f"{sex}_total"] for sex in ("male", "female")})
SUMS["grand_total_sum"] = TOTALS  # In each of SUMS the last column is the sum of the others.
ABOVE = {f"users_above_voters_{each}": [f"{each}_male", f"{each}_female", f"{each}_total"] for each in LISTS}
ABOVE["users_above_voters_all"] = TOTALS
TURNOUT = {"turnout_exactly_100": ("below", 0), "turnout_above_100": ("at most", 1)}
WARNINGS = {"users_above_voters_dptb", "users_above_voters_dpk", "regency_in_one_dataset", "regency_in_two_districts",
            "regency_names", "lone_election", "district_names", "district_in_other_province", "identical_sexes", "repeated_total", *TURNOUT}
CODES = json.loads((Path(__file__).parents[2] / "data/reference/kemendagri-codes.json").read_text("utf-8"))


def fields_of(who):
    """The service's field for each column of a table."""
    sexes = {"male": "LakiLaki", "female": "Perempuan", "total": "LakiLakiDanPerempuan"}
    counts = {f"{short}_{sex}": f"Jumlah{who}{name}Dalam{long}"
              for short, long in LISTS.items() for sex, name in sexes.items()}
    totals = [f"JumlahTotal{who}LakiLaki", f"JumlahTotal{who}Perempuan", f"JumlahSeluruh{who}"]
    return {**KEY, "dapil_name": "NamaDapil", **counts, **dict(zip(TOTALS, totals))}


COUNTS = [column for column in fields_of("") if column not in KEY and column not in TEXTS]


def read_responses(landing):
    """Yields (last part of the path, status, body) of every response. Only this function knows the landing format."""
    bodies = (landing / "bodies.gz").read_bytes()
    for line in (landing / "responses.jsonl").read_text("utf-8").splitlines():
        response = json.loads(line)
        body = gzip.decompress(bodies[response["position"]:response["position"] + response["length"]])
        if hashlib.sha256(body).hexdigest() != response["sha256"]:
            raise ValueError(f"the stored body of {response['url']} has another SHA-256")
        yield response["url"].split("?")[0].rsplit("/", 1)[-1], response["status"], body


class Number:
    """A JSON number, kept as it was written."""

    def __init__(self, text):
        self.text = text


def parse(text):
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=int)


def identity(value):
    """A text that is the same for two values only where they are the same JSON: 5 and "5" differ."""
    return json.dumps(value, sort_keys=True, default=lambda number: {"number": number.text})


def records_in(body, fields):
    """The records of an envelope {count, data}. Data is a list, one record, or an object of records."""
    try:
        data = parse(body.decode("utf-8", "replace"))["data"]
    except (ValueError, KeyError, TypeError):
        return []
    if isinstance(data, dict) and not any(field in data for field in fields):
        data = list(data.values()) if all(isinstance(value, dict) for value in data.values()) else []
    return data if isinstance(data, list) else [data] if isinstance(data, dict) else []


def is_writable(text):
    """Half a surrogate pair has no form in UTF-8."""
    return re.search("[\ud800-\udfff]", text) is None


def written(value):
    """The JSON of a value, with escapes only where there is no other form."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half.group()):04x}", text)


def read(record, column, field):
    """Gives (value, None), or (None, (why there is none, the text that stands there))."""
    value = record.get(field)
    if value is None or value == "":
        return None, ("empty" if value == "" else "null" if field in record else "missing", value)
    is_text = isinstance(value, str) and is_writable(value)
    raw = value.text if isinstance(value, Number) else value if is_text else written(value)
    if column in TEXTS and is_text:
        return value, None
    is_digits = isinstance(value, (str, Number)) and re.fullmatch("[0-9]+", raw)
    if column not in TEXTS and is_digits and int(raw) <= 2_147_483_647:
        return int(raw), None
    # A number may have a point or an exponent if it is whole.
    if column not in TEXTS and isinstance(value, Number) and len(raw) < 100:
        number = Fraction(raw)
        if number.denominator == 1 and 0 <= number <= 2_147_483_647:
            return int(number), None
    return None, ("malformed", raw)


def plain(name):
    """A name without spaces and punctuation, and without the word for a regency."""
    upper = re.sub("^KAB(UPATEN|[.]) ", "", name.upper()).replace("KEP.", "KEPULAUAN")
    return re.sub("[^A-Z0-9]", "", upper)


def province_code(name):
    codes = [province["kemendagri_code"] for province in CODES if name in map(plain, province["names"])]
    return codes[0] if codes else None


def spelled(name):
    """A name without what a reader doesn't see."""
    kept = "".join(letter for letter in name if unicodedata.category(letter)[0] not in "ZC")
    return unicodedata.normalize("NFC", kept).lower()


def pair(voters, users):
    """The keys of users by those of voters: the same key, or one that is spelled alike."""
    alike = defaultdict(lambda: ([], []))
    for side, (mine, other) in enumerate(((voters, users), (users, voters))):
        for key in mine.keys() - other.keys():
            alike[(*key[:3], *map(spelled, key[3:]))][side].append(key)
    single = {left[0]: right[0] for left, right in alike.values() if len(left) == len(right) == 1}
    return {**{key: key for key in voters.keys() & users.keys()}, **single}


def key_of(record):
    values = [read(record, column, field)[0] for column, field in KEY.items()] if isinstance(record, dict) else [None]
    return None if None in values else tuple(values)


class Recomputation:
    def __init__(self, warehouse, exports):
        self.manifest = json.loads((warehouse / "current" / "manifest.json").read_text("utf-8"))
        self.responses = list(read_responses(warehouse / "landing" / self.manifest["run"]))
        self.exports = {name: json.loads((exports / f"{name}.json").read_text("utf-8"))
                        for name in (*DATASETS, "violations", "quarantine")}
        self.differences, self.left_out = [], []
        self.tables, self.violations, self.inconsistent = {}, Counter(), set()

    def expect(self, what, recomputed, found):
        if recomputed != found:
            self.differences.append(f"{what}: recomputed {recomputed!r}, found {found!r}")

    def violate(self, name, key, check, column, raw=None, figures=("", "")):
        severity = "warning" if check in WARNINGS else "error"
        self.violations[(name, *key, check, severity, column, raw, *map(str, figures))] += 1
        if severity == "error":
            self.inconsistent.add((name, key))

    def recompute(self, name):
        """Fills one table from all responses: rows, quarantine, ledger and row checks."""
        endpoint, who = DATASETS[name]
        fields = fields_of(who)

        def known(record):
            """Of a record with a key only the known fields count; of any other, all that was received."""
            has_key = key_of(record) is not None
            parts = {field: record[field] for field in fields.values() if field in record} if has_key else record
            return identity(parts)

        copies, records, together = Counter(), defaultdict(dict), Counter()
        for path, status, body in self.responses:
            if path == endpoint and status == 200:
                page = records_in(body, fields.values())
                copies |= Counter(map(known, page))  # The most that one response contains.
                for record in page:
                    records[key_of(record)][known(record)] = record
                distinct = {known(record): key_of(record) for record in page}
                together |= Counter(distinct.values())
        quarantined = Counter(known(parse(row["record"]))
                              for row in self.exports["quarantine"] if row["dataset"] == name)
        expected = Counter(records.pop(None, {}).keys())
        exported = {tuple(row[column] for column in KEY): row for row in self.exports[name]}
        table = self.tables[name] = {}
        for key, values in records.items():
            # Of several values of a key the exports say which is published; the others must stand in quarantine.
            others = [same for same in values if quarantined[same]] if len(values) > 1 else []
            if len(others) < together[key] - 1:
                self.differences.append(f"{name} {key}: {together[key]} values, {len(others)} in quarantine")
            if len(values) > together[key]:
                self.left_out.append(f"{name} {key}: {len(values)} values, and no response contains them all")
            expected.update(others)
            for _ in others:
                self.violate(name, key, "conflicting_records", "")
            choices = [{column: read(values[same], column, field) for column, field in fields.items()}
                       for same in values if same not in others] or [{}]
            shown = [choice for choice in choices if all(exported.get(key, {}).get(column) == value
                                                         for column, (value, _) in choice.items())]
            row = (shown or choices)[0]
            table[key] = {column: value for column, (value, _) in row.items()}
            for column, (_, problem) in row.items():
                if problem is not None:
                    self.violate(name, key, problem[0], column, problem[1])
            for check, columns in SUMS.items():
                *parts, whole = [table[key].get(column) for column in columns]
                if None not in (*parts, whole) and sum(parts) != whole:
                    self.violate(name, key, check, columns[-1], figures=(sum(parts), whole))
        self.expect(f"{name}: quarantine", sorted(expected.elements()), sorted(quarantined.elements()))
        ledger, duplicates = self.manifest["datasets"][name]["ledger"], sum(copies.values()) - len(copies)
        if ledger["duplicates"] > duplicates:
            self.left_out.append(f"{name}: {ledger['duplicates'] - duplicates} copies that no single response contains")
        recomputed = {"published": len(table), "quarantined": sum(expected.values()),
                    "duplicates": max(duplicates, ledger["duplicates"])}
        self.expect(f"{name}: ledger", {"fetched": sum(recomputed.values()), **recomputed}, ledger)

    def check_across(self):
        voters, users = (self.tables[name] for name in DATASETS)
        pairs = pair(voters, users)
        for check, columns in ABOVE.items():
            for (theirs, key), column in ((keys, column) for keys in pairs.items() for column in columns):
                figures = (voters[theirs].get(column), users[key].get(column))
                if None not in figures and figures[0] < figures[1]:
                    self.violate("voting_rights_users", key, check, column, figures=figures)
        for theirs, key in pairs.items():
            figures = [users[key].get("grand_total"), voters[theirs].get("dpt_total"), voters[theirs].get("dpk_total")]
            if None not in figures and figures[0] > 0 and figures[0] >= figures[1] + figures[2]:
                check = "turnout_exactly_100" if figures[0] == figures[1] + figures[2] else "turnout_above_100"
                figures = (figures[1] + figures[2], figures[0])
                self.violate("voting_rights_users", key, check, "grand_total", figures=figures)
        alone = [("voters", key) for key in voters.keys() - pairs.keys()]
        alone += [("voting_rights_users", key) for key in users.keys() - set(pairs.values())]
        for name, key in alone if voters and users else ():
            self.violate(name, key, "regency_in_one_dataset", "regency")
        for name, table in self.tables.items():
            self.check_plausibility(name, table)
        names, places, spellings = defaultdict(set), defaultdict(set), defaultdict(set)
        for name, key, row in ((name, key, row) for name, table in self.tables.items() for key, row in table.items()):
            year, kind, district, *place = key
            names[year, kind, district].add(row["dapil_name"])
            words = [spelled(word) for word in place]
            places[("regency_in_two_districts", "dapil_id", name, year, kind, *words)].add(key)
            spellings[(year, kind, district, *words)].add((name, key))
        for (check, column, name, *_), keys in places.items():
            for key in keys if len({key[2] for key in keys}) > 1 else ():
                self.violate(name, key, check, column)
        for rows in spellings.values():
            for name, key in rows if len({key for _, key in rows}) > 1 else ():
                self.violate(name, key, "regency_names", "regency")
        elections = defaultdict(set)
        for name, key in ((name, key) for name, table in self.tables.items() for key in table):
            elections[key[:2]].add((name, key))
        for rows in elections.values() if len(elections) > 1 else ():
            for name, key in rows if len({key for _, key in rows}) == 1 else ():
                self.violate(name, key, "lone_election", "election_year")
        self.check_provinces()
        for district in (district for district, several in names.items() if len(several - {None}) > 1):
            name = "voters" if any(key[:3] == district for key in voters) else "voting_rights_users"
            self.violate(name, (*district, None, None), "district_names", "dapil_name")

    def check_plausibility(self, name, table):
        before = None
        for key in sorted(table, key=lambda key: [part.encode() if isinstance(part, str) else part for part in key]):
            row = table[key]
            men, women = ([row.get(f"{each}_{sex}") for each in LISTS] for sex in ("male", "female"))
            if men == women and None not in men and men[0] > 0:
                self.violate(name, key, "identical_sexes", "female_total")
            total = row.get("grand_total")
            if before is not None and before[0][:3] == key[:3] and before[1] == total and (total or 0) > 0:
                self.violate(name, key, "repeated_total", "grand_total")
            before = (key, total)

    def check_provinces(self):
        found = {}
        for name, key, row in ((name, key, row) for name, table in self.tables.items() for key, row in table.items()):
            named = re.sub("[^A-Z0-9]", "", re.sub(r"\s+([IVX]+|[0-9]+)\s*$", "", (row["dapil_name"] or "").upper()))
            own = re.sub("[^A-Z0-9]", "", key[3].upper())
            code = province_code(named)
            if code is not None and code != province_code(own) and named != own:
                found[key[:3]] = min(name, found.get(key[:3], name))
        for district, name in found.items():
            self.violate(name, (*district, None, None), "district_in_other_province", "dapil_name")

    def compare(self):
        """Compares the exports and the manifest with what was recomputed."""
        for name, table in self.tables.items():
            keys = [tuple(row[column] for column in KEY) for row in self.exports[name]]
            # Numbers by value, texts by their UTF-8.
            in_order = sorted(table, key=lambda key: [part.encode() if isinstance(part, str) else part for part in key])
            self.expect(f"{name}: keys of all rows in their order", in_order, keys)
            for key, row in zip(keys, self.exports[name]):
                recomputed = {**table.get(key, {}), "is_consistent": (name, key) not in self.inconsistent}
                for column in recomputed.keys() | row.keys():
                    self.expect(f"{name} {key} {column}", recomputed.get(column), row.get(column))
            columns = {column: [row.get(column) for row in table.values()] for column in COUNTS}
            checks = Counter()
            for violation, times in self.violations.items():
                checks[violation[6]] += times if violation[0] == name else 0
            for what, recomputed in {
                "rows": len(table),
                "sums": {column: str(sum(value or 0 for value in values)) for column, values in columns.items()},
                "nulls": {column: values.count(None) for column, values in columns.items()},
                "violations": {check: times for check, times in checks.items() if times},
            }.items():
                self.expect(f"{name}: {what} in manifest.json", recomputed, self.manifest["datasets"][name][what])
        found = Counter()
        for row in self.exports["violations"]:
            place = [row[column] for column in ("dataset", *KEY, "check_name", "severity", "column_name", "raw_value")]
            has_figures = row["check_name"] in (*SUMS, *ABOVE, *TURNOUT)
            figures = [re.sub("[^0-9]", "", row[side]) if has_figures else "" for side in ("expected", "actual")]
            found[(*place, *figures)] += 1
        for violation in sorted(self.violations.keys() | found.keys(), key=repr):
            self.expect(f"violation {violation}", self.violations[violation], found[violation])


def main(warehouse, exports):
    recomputation = Recomputation(Path(warehouse), Path(exports))
    said = recomputation.manifest["datasets"]
    if said.keys() != DATASETS.keys() or any(dataset["carried_over"] for dataset in said.values()):
        raise ValueError("a part of this snapshot is carried over from the one before, and not in its run's responses")
    for name in DATASETS:
        recomputation.recompute(name)
    recomputation.check_across()
    recomputation.compare()
    for line in [f"left out: {line}" for line in recomputation.left_out] + recomputation.differences:
        print(line.encode("unicode_escape").decode())
    rows = sum(map(len, recomputation.tables.values()))
    print(f"{len(recomputation.responses)} responses, {rows} rows, {sum(recomputation.violations.values())} violations,"
          f" {len(recomputation.differences)} differences")
    return 1 if recomputation.differences else 0


if __name__ == "__main__":
    try:
        if len(sys.argv) != 3:
            raise ValueError("name the warehouse and the folder of its tables: recompute.py WAREHOUSE EXPORTS")
        sys.exit(main(*sys.argv[1:]))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        print(f"recompute.py: {error}", file=sys.stderr)
        sys.exit(2)
