"""Recomputes every number of a report from the landed responses, and prints every difference.

    python3 report.py WAREHOUSE EXPORTS LANGUAGE REPORT.html

EXPORTS holds the tables that recompute.py reads, and every view. Exit 0: all agrees. Exit 1: a line for each difference.
A number in the report is an element `data`: its text is what is printed, `value` the same in digits, `data-of` the exact
fraction of a rate, and `data-figure` the name by which this program finds it.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from urllib.parse import unquote

from recompute import DATASETS, LISTS, SUMS, Recomputation
from views import Views, known_sum

STEPS = (0, 70, 75, 80, 85, 90)
UNCHECKED = {"code", "time", "samp", "style", "script", "title", "h1"}


class Page(HTMLParser):
    """The figures of a page in their order, and the text outside of them."""

    def __init__(self):
        super().__init__()
        self.stack, self.figures, self.text, self.lists = [], [], [], {}

    def handle_starttag(self, tag, attributes):
        if tag in ("meta", "link", "br", "input"):
            return
        self.stack.append((tag, dict(attributes)))
        if tag == "data":
            self.figures.append(self.figure(dict(attributes)))

    def figure(self, attributes):
        name = attributes["data-figure"]
        row = self.nearest("data-row")
        if row is not None:
            view, query = row.split("?", 1)
            column, _, own = name.partition("?")
            name = f"{view}.{column}?{query}&{own}"
        found = {"name": name, "value": attributes["value"], "of": attributes.get("data-of"), "text": "",
                 "step": re.search("step-([0-9]+|none)", self.nearest("class", "li") or "")}
        order = self.nearest("data-list")
        if order is not None and re.search(r"\.users_per_dpt_and_dpk_pct\?.*sex=both$", name):
            self.lists.setdefault(order, []).append(name)
        return found

    def nearest(self, attribute, tag=None):
        return next((own[attribute] for name, own in reversed(self.stack)
                     if attribute in own and tag in (None, name)), None)

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop()[0] != tag:
            pass

    def handle_data(self, data):
        tags = {tag for tag, _ in self.stack}
        if self.stack and self.stack[-1][0] == "data":
            self.figures[-1]["text"] += data
        elif not tags & UNCHECKED:
            self.text.append(data)


class Figures:
    """Finds the value of a figure by its name: an integer, a pair (numerator, denominator), or None for what is unknown."""

    def __init__(self, recomputation, views):
        self.recomputation, self.views, self.indexes = recomputation, views, {}
        regencies = Counter((row["election_year"], row["election_type"]) for row in views.turnout)
        elections = [election for election, count in regencies.items() if 2 * count >= max(regencies.values())]
        self.election = min(elections, key=lambda election: (-election[0], election[1].encode()))
        self.violations = [self.violation(*parts) for parts in recomputation.violations.items()]

    def here(self, rows):
        return [row for row in rows if (row["election_year"], row["election_type"]) == self.election]

    def violation(self, parts, times):
        dataset, year, kind, dapil, province, regency, check, severity, column, raw, expected, actual = parts
        row = self.recomputation.tables[dataset].get(parts[1:6], {})
        if check == "repeated_total":
            actual = row.get("grand_total")
        if check == "identical_sexes":
            actual = sum(row[f"{each}_female"] for each in LISTS)
        return {"dataset": dataset, "election_year": year, "election_type": kind, "dapil_id": dapil, "province": province,
                "regency": regency, "check_name": check, "severity": severity, "column_name": column, "expected": expected,
                "actual": actual, "times": times}

    def rows_of(self, view):
        if view in DATASETS:
            return list(self.recomputation.tables[view].values())
        return self.violations if view == "violations" else getattr(self.views, view)

    def matching(self, view, wanted):
        """Rows of the election whose keys each have one of the wanted texts. Thousands of figures need an index."""
        keys = tuple(wanted)
        if (view, keys) not in self.indexes:
            index = self.indexes[view, keys] = defaultdict(list)
            for row in self.here(self.rows_of(view)):
                index[tuple(str(row.get(key)) for key in keys)].append(row)
        return [row for texts in product(*wanted.values()) for row in self.indexes[view, keys].get(texts, ())]

    def value(self, name):
        if name.startswith("manifest#"):
            found = self.recomputation.manifest
            for part in name.removeprefix("manifest#/").split("/"):
                found = found[int(part) if isinstance(found, list) else part]
            return found
        name, _, part = name.partition("#")
        view, _, rest = name.partition(".")
        column, _, query = rest.partition("?")
        wanted = {}
        for pair in query.split("&") if query else ():
            key, _, text = pair.partition("=")
            wanted.setdefault(key, set()).add(unquote(text))
        if view == "finding":
            return self.finding(column, {key: next(iter(texts)) for key, texts in wanted.items()})
        rows = self.matching(view, wanted)
        if column == "rows":
            return sum(row.get("times", 1) for row in rows)
        if column.endswith("_pct") or "_pct_" in column:
            (row,) = rows
            found = row["parts"][column]
            return found if part == "" else found[part == "denominator"]
        total = known_sum(None if row[column] is None else int(row[column]) for row in rows)
        return 0 if total is None and view == "reconciliation" else total

    def finding(self, name, wanted):
        provinces = {}
        for row in self.here(self.views.turnout_sums):
            if row["level"] != "province":
                continue
            provinces.setdefault(row["province"], {})[row["sex"]] = row["users_per_dpt_and_dpk_pct"]
        known = [rates for rates in provinces.values() if None not in (rates["male"], rates["female"])]
        compared = [row for row in self.here(self.views.turnout) if row["rate_status"] == "compared"]
        both = [row for row in compared if row["sex"] == "both"]
        dataset = wanted.get("dataset")
        if name.startswith("share_of_"):
            side, each = name.removeprefix("share_of_"), wanted["list"].lower()
            return known_sum(row[f"{side}_{each}"] for row in both), known_sum(row[f"{side}_all"] for row in both)
        if name.startswith("tied_"):
            order = self.ranking(name.removeprefix("tied_").removesuffix("_shown"))
            last = order[min(10, len(order)) - 1]["users_per_dpt_and_dpk_pct"]
            rows = order[:10] if name.endswith("_shown") else order
            return sum(row["users_per_dpt_and_dpk_pct"] == last for row in rows)
        if dataset is not None and name == "known_parts":
            *parts, _ = SUMS[wanted["check_name"]]
            rows = self.here(self.rows_of(dataset))
            return sum(row[part] or 0 for row in rows for part in parts)
        if dataset is not None:
            verdicts = [one for one in self.recomputation.manifest["datasets"][dataset]["partitions"] if one["partition"] is not None]
            full = [one for one in verdicts if one["received"] > 0]
            listed = [one for one in full if one["readings"] == 1 and one["listed"] == one["received"] and one["complete"]]
            complete = [one for one in full if one["complete"]]
            return {"complete": len(complete), "with_records": len({key[2] for key in self.recomputation.tables[dataset]}),
                    "received": sum(one["received"] for one in full), "empty": len(verdicts) - len(full),
                    "confirmed_by_listing": len(listed), "confirmed_by_passes": len(complete) - len(listed)}[name]
        here = self.here(self.violations)
        places = {(row["dapil_id"], row["province"], row["regency"]) for row in here}
        worst = {(row["dapil_id"], row["province"], row["regency"]) for row in here if row["severity"] == "error"}
        return {
            "carried_over": sum(one["carried_over"] for one in self.recomputation.manifest["datasets"].values()),
            "rows": sum(map(len, self.recomputation.tables.values())),
            "places_folded": min(200, len(places)) - max(12, min(200, len(worst))),
            "provinces_compared": len(known),
            "provinces_unknown": len(provinces) - len(known),
            "provinces_women_higher": sum(rates["female"] > rates["male"] for rates in known),
            "provinces_men_higher": sum(rates["female"] < rates["male"] for rates in known),
            "provinces_equal": sum(rates["female"] == rates["male"] for rates in known),
            "violations_elsewhere": sum(row["times"] for row in self.violations) - sum(row["times"] for row in here),
            "places_left": max(0, len(places) - 200), "new": 0, "resolved": 0,
        }[name]

    def ranking(self, direction):
        rows = [row for row in self.here(self.views.turnout) if row["sex"] == "both" and row["rate_status"] == "compared"]
        sign = -1 if direction == "highest" else 1
        return sorted(rows, key=lambda row: (sign * row["users_per_dpt_and_dpk_pct"], row["regency"].encode(),
                                             row["province"].encode(), row["dapil_id"]))

    def order_of(self, name):
        """The rows that a list of the page must show, in their order."""
        if name in ("highest", "lowest"):
            return self.ranking(name)[:10]
        if name == "regencies":
            rows = [row for row in self.here(self.views.turnout) if row["sex"] == "both"]
            return sorted(rows, key=lambda row: (row["province"].encode(), row["regency"].encode(), row["dapil_id"]))
        level, key = {"provinces": ("province", "province"), "districts": ("dapil", "dapil_id")}[name]
        rows = [row for row in self.here(self.views.turnout_sums) if row["sex"] == "both" and row["level"] == level]
        rate = "users_per_dpt_and_dpk_pct"
        return sorted(rows, key=lambda row: (row[rate] is None, row[rate] is not None and is_partial(row), -(row[rate] or 0),
                                             row[key].encode() if isinstance(row[key], str) else row[key]))


def is_partial(row):
    return 100 * (row["voters_compared"] or 0) < 95 * (row["voters_all"] or 0)


def rounded(numerator, denominator, decimals):
    """In percent, rounded half up, as digits with a point."""
    scaled = Fraction(100 * 10**decimals * numerator, denominator) + Fraction(1, 2)
    whole = scaled.numerator // scaled.denominator
    return f"{whole // 10**decimals}.{whole % 10**decimals:0{decimals}}"


def in_language(digits, language):
    text = f"{int(digits.split('.')[0]):,}" + ("." + digits.split(".")[1] if "." in digits else "")
    return text if language == "en" else text.translate(str.maketrans(",.", ".,"))


def check_figure(figure, value, language):
    """What a figure must print, as (text, value, data-of)."""
    if isinstance(value, tuple):
        numerator, denominator = value
        if None in value or denominator == 0:
            return "–", "", None
        digits = rounded(numerator, denominator, 2 if "share_of" in figure["name"] else 1)
        return in_language(digits, language) + "%", digits, f"{numerator}/{denominator}"
    if value is None:
        return "–", "", None
    return in_language(str(value), language), str(value), None


def compare_page(page, figures, language):
    for figure in page.figures:
        name = figure["name"]
        if name == "constant":
            if figure["text"] != figure["value"] or int(figure["value"]) not in range(0, 400, 5):
                yield f"constant {figure['value']} is printed as {figure['text']}"
            continue
        value = figures.value(name)
        expected = check_figure(figure, value, language)
        found = (figure["text"], figure["value"], figure["of"])
        if expected != found:
            yield f"{name}: computed {expected!r}, printed {found!r}"
        step = figure["step"] and figure["step"].group(1)
        if step and isinstance(value, tuple):
            percent = None if expected[1] == "" else Fraction(expected[1])
            colour = "none" if percent is None else str(max(index for index, least in enumerate(STEPS) if percent >= least))
            if colour != step:
                yield f"{name}: {expected[0]} has the colour of step {step}, not {colour}"


def compare_lists(page, figures):
    for name, found in page.lists.items():
        computed = figures.order_of(name)
        keys = [tuple(unquote(text) for text in re.findall("(?:province|regency|dapil_id)=([^&]*)", each)) for each in found]
        columns = [column for column in ("dapil_id", "province", "regency") if f"{column}=" in (found or [""])[0]]
        if [tuple(str(row[column]) for column in columns) for row in computed] != keys:
            yield f"the order of {name}: computed {[tuple(row[c] for c in columns) for row in computed][:12]}, printed {keys[:12]}"
    for name in ("provinces", "districts", "regencies", "highest", "lowest"):
        if name not in page.lists and figures.order_of(name):
            yield f"the list {name} is not on the page"


def stray_numbers(page, figures):
    """Numbers that are no figures. Names of places and elections may hold digits."""
    names = {str(row[column]) for row in figures.views.turnout for column in ("dapil_name", "province", "regency")}
    names |= {f"{row['election_type']} {row['election_year']}" for row in figures.views.turnout}
    names |= {"SHA-256", *(str(row["dapil_name"]) for table in figures.recomputation.tables.values() for row in table.values())}
    names |= {key[4] for table in figures.recomputation.tables.values() for key in table}
    text = "\n".join(page.text).lower()
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name.lower(), " ")
    for number in re.findall(r"[^\n]{0,30}[0-9]+[^\n]{0,30}", text):
        yield f"a number that names no figure: {number!r}"


def compare_views(views, exports, reference):
    computed = {name: getattr(views, name) for name in ("turnout", "turnout_by_dapil", "turnout_by_province", "turnout_national",
                                                        "turnout_by_list", "fact_people", "reconciliation")}
    computed.update(views.dimensions(reference), data_quality=list(views.data_quality()))
    for name, rows in computed.items():
        found = json.loads((exports / f"{name}.json").read_text("utf-8"))
        columns = list(found[0]) if found else []
        mine = sorted(json.dumps([plain_value(row.get(column)) for column in columns]) for row in rows)
        theirs = sorted(json.dumps([plain_value(row[column]) for column in columns]) for row in found)
        for left, right in zip(mine, theirs):
            if left != right:
                yield f"{name}: computed {left}, found {right}"
                break
        if len(mine) != len(theirs):
            yield f"{name}: computed {len(mine)} rows, found {len(theirs)}"


def plain_value(value):
    """As in JSON; 96.0 and 96 are one number there."""
    number = value.numerator / value.denominator if isinstance(value, Fraction) else value
    return int(number) if isinstance(number, float) and number.is_integer() else number


def main(warehouse, exports, language, report):
    recomputation = Recomputation(Path(warehouse), Path(exports))
    for name in DATASETS:
        recomputation.recompute(name)
    recomputation.check_across()
    views = Views(recomputation)
    page = Page()
    page.feed(Path(report).read_text("utf-8"))
    figures = Figures(recomputation, views)
    reference = json.loads((Path(__file__).parents[2] / "data/reference/dapil-2024.json").read_text("utf-8"))
    differences = [*compare_page(page, figures, language), *compare_lists(page, figures), *stray_numbers(page, figures),
                   *compare_views(views, Path(exports), reference)]
    for line in differences:
        print(line.encode("unicode_escape").decode())
    print(f"{len(page.figures)} figures, {len(differences)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
