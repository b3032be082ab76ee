"""Computes every view again from the tables that recompute.py has made from the landed responses. Rates are exact fractions."""

import hashlib
from collections import defaultdict
from fractions import Fraction

from recompute import COUNTS, LISTS, SUMS, pair, plain, province_code, CODES

SEXES = {"male": "male", "female": "female", "both": "total"}
ALL = {"male": "male_total", "female": "female_total", "both": "grand_total"}
REASONS = ("missing in a dataset", "unknown", "zero denominator", "contradicting")
BOTH = ("compared", "contradicting")


def key_number(*parts):
    """The surrogate key of a natural key: 49 bits of its MD5."""
    digest = hashlib.md5(" / ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[8:], "little") >> 15


def add(*parts):
    return None if None in parts else sum(parts)


def known_sum(values):
    values = [value for value in values if value is not None]
    return sum(values) if values else None


def percent(numerator, denominator):
    """A rate as (numerator, denominator); its value is None where a part is unknown or the denominator is 0."""
    return None if numerator is None or not denominator else Fraction(100 * numerator, denominator)


def seats_of_2024(reference):
    return {district["dapil_id"]: district["seats"] for district in reference}


class Views:
    """Rows of each view as dicts. A rate is a Fraction in percent; `parts` has the numerator and denominator of each."""

    def __init__(self, recomputation):
        self.tables = recomputation.tables
        self.violations = recomputation.violations
        self.inconsistent = recomputation.inconsistent
        self.names = self.district_names()
        self.regencies = list(self.pair_regencies())
        self.turnout = [row for regency in self.regencies for row in self.turnout_of(regency)]
        self.fact_people = [row for regency in self.regencies for row in self.facts_of(regency)]
        self.reconciliation = list(self.reconcile())
        levels = {"dapil": self.sums("dapil_id", "dapil_name"), "province": self.sums("province"), "national": self.sums()}
        self.turnout_sums = [{"level": level, **row} for level, rows in levels.items() for row in rows]
        self.turnout_by_dapil = wide(levels["dapil"], "dapil_id")
        self.turnout_by_province = wide(levels["province"], "province")
        self.turnout_national = wide(levels["national"])
        self.turnout_by_list = self.by_list()

    def district_names(self):
        """The name that most rows of a district have, and of several such names the first."""
        counts = defaultdict(lambda: defaultdict(int))
        for table in self.tables.values():
            for key, row in table.items():
                if row["dapil_name"] is not None:
                    counts[key[:3]][row["dapil_name"]] += 1
        return {district: min(names, key=lambda name: (-names[name], name.encode())) for district, names in counts.items()}

    def pair_regencies(self):
        voters, users = self.tables["voters"], self.tables["voting_rights_users"]
        pairs = pair(voters, users)
        alone = users.keys() - set(pairs.values())
        for key, other in [*((key, pairs.get(key)) for key in voters), *((None, key) for key in alone)]:
            mine, theirs = voters.get(key), users.get(other)
            place = key or other
            figures = [row.get(column) for row in (mine, theirs) if row is not None for column in COUNTS]
            if mine is None or theirs is None:
                status = "missing in a dataset"
            elif None in figures:
                status = "unknown"
            elif 0 in (mine["dpt_male"], mine["dpt_female"], mine["dpt_total"]):
                status = "zero denominator"
            elif ("voters", key) in self.inconsistent or ("voting_rights_users", other) in self.inconsistent:
                status = "contradicting"
            else:
                status = "compared"
            yield {
                "election_year": place[0], "election_type": place[1], "dapil_id": place[2],
                "dapil_name": self.names.get(place[:3]), "province": place[3], "regency": place[4],
                "rate_status": status, "in_voters": mine is not None, "in_users": theirs is not None,
                "mine": mine or {}, "theirs": theirs or {},
                "is_consistent": mine is not None and theirs is not None
                and ("voters", key) not in self.inconsistent and ("voting_rights_users", other) not in self.inconsistent,
            }

    def turnout_of(self, regency):
        mine, theirs = regency["mine"], regency["theirs"]
        for sex, short in SEXES.items():
            row = {name: value for name, value in regency.items() if name not in ("mine", "theirs")}
            row.update(sex=sex, users_all=theirs.get(ALL[sex]), voters_all=mine.get(ALL[sex]))
            for each in LISTS:
                row[f"users_{each}"] = theirs.get(f"{each}_{short}")
                row[f"voters_{each}"] = mine.get(f"{each}_{short}")
            row["voters_dpt_and_dpk"] = add(row["voters_dpt"], row["voters_dpk"])
            row["parts"] = {
                "users_per_dpt_and_dpk_pct": (row["users_all"], row["voters_dpt_and_dpk"]),
                "users_per_dpt_pct": (row["users_all"], row["voters_dpt"]),
                "users_per_voters_pct": (row["users_all"], row["voters_all"]),
                **{f"{each}_users_per_{each}_pct": (row[f"users_{each}"], row[f"voters_{each}"]) for each in LISTS},
            }
            row["parts"]["users_per_dpt_and_dpk_pct_raw"] = row["parts"]["users_per_dpt_and_dpk_pct"]
            if row["rate_status"] != "compared":
                row["parts"].update({name: (None, None) for name in row["parts"] if not name.endswith("_raw")})
            yield with_rates(row)

    def facts_of(self, regency):
        place = tuple(regency[column] for column in ("election_year", "election_type", "dapil_id", "province", "regency"))
        for each, name in LISTS.items():
            for sex in ("male", "female", "unknown"):
                voters, users = (people_of(regency[side], each, sex) for side in ("mine", "theirs"))
                if sex == "unknown" and voters is None and users is None:
                    continue
                yield {
                    "election": f"{place[0]} {place[1]}", "election_year": place[0], "election_type": place[1],
                    "regency_key": key_number(*place), "dapil_key": key_number(*place[:3]),
                    "province_key": key_number(*place[:2], place[3]), "list": name, "sex": sex,
                    "voters": voters, "users": users,
                    "unknown_voters": int(voters is None and sex != "unknown"),
                    "unknown_users": int(users is None and sex != "unknown"),
                }

    def sums(self, *place):
        groups = defaultdict(list)
        for row in self.turnout:
            groups[tuple(row[column] for column in ("election_year", "election_type", *place, "sex"))].append(row)
        rows = []
        for group, members in groups.items():
            row = dict(zip(("election_year", "election_type", *place, "sex"), group))
            row.update(count_reasons(members))
            for suffix, statuses in (("compared", ("compared",)), ("with_contradicting", BOTH)):
                chosen = [member for member in members if member["rate_status"] in statuses]
                for name, column in (("users", "users_all"), ("voters", "voters_all"), ("voters_dpt", "voters_dpt"),
                                     ("voters_dpt_and_dpk", "voters_dpt_and_dpk")):
                    row[f"{name}_{suffix}"] = known_sum(member[column] for member in chosen)
            for dataset in ("users", "voters"):
                row[f"{dataset}_all"] = known_sum(member[f"{dataset}_all"] for member in members)
                row[f"regencies_in_{dataset}"] = sum(member[f"in_{dataset}"] for member in members)
                row[f"unknown_{dataset}"] = sum(member[f"in_{dataset}"] and member[f"{dataset}_all"] is None for member in members)
            row["parts"] = {"voters_compared_pct": (row["voters_compared"], row["voters_all"])}
            for rate, denominator in (("dpt_and_dpk", "voters_dpt_and_dpk"), ("dpt", "voters_dpt"), ("voters", "voters")):
                row["parts"][f"users_per_{rate}_pct"] = (row["users_compared"], row[f"{denominator}_compared"])
                row["parts"][f"users_per_{rate}_pct_with_contradicting"] = (
                    row["users_with_contradicting"], row[f"{denominator}_with_contradicting"])
            rows.append(with_rates(row))
        return rows

    def by_list(self):
        groups = defaultdict(list)
        for row in self.turnout:
            for each, name in LISTS.items():
                voters, users, status = row[f"voters_{each}"], row[f"users_{each}"], row["rate_status"]
                status = "zero denominator" if status in BOTH and voters == 0 else status
                member = {"rate_status": status, "voters": voters, "users": users}
                groups[row["election_year"], row["election_type"], name, row["sex"]].append(member)
        rows = []
        for group, members in groups.items():
            row = dict(zip(("election_year", "election_type", "list", "sex"), group), **count_reasons(members))
            for suffix, statuses in (("compared", ("compared",)), ("with_contradicting", BOTH)):
                for side in ("users", "voters"):
                    row[f"{side}_{suffix}"] = known_sum(m[side] for m in members if m["rate_status"] in statuses)
            row["parts"] = {
                "users_per_voters_pct": (row["users_compared"], row["voters_compared"]),
                "users_per_voters_pct_with_contradicting": (row["users_with_contradicting"], row["voters_with_contradicting"]),
            }
            rows.append(with_rates(row))
        return rows

    def reconcile(self):
        for dataset, table in self.tables.items():
            for key, row in table.items():
                for check, (*parts, whole) in SUMS.items():
                    values, total = [row.get(part) for part in parts], row.get(whole)
                    if total is not None and add(*values) == total:
                        continue
                    known = sum(value for value in values if value is not None)
                    yield {
                        "dataset": dataset, "election_year": key[0], "election_type": key[1], "dapil_id": key[2],
                        "province": key[3], "regency": key[4], "check_name": check, "total_column": whole,
                        "source_total": total, "known_parts": known, "difference": (total or 0) - known,
                        "unknown_parts": ", ".join(part for part, value in zip(parts, values) if value is None) or None,
                    }

    def dimensions(self, reference):
        """Rows of dim_dapil, dim_province and dim_regency."""
        seats = seats_of_2024(reference)
        districts, provinces, regencies = defaultdict(list), {}, []
        for regency in self.regencies:
            year, kind, dapil, province, name = (regency[column] for column in
                                                 ("election_year", "election_type", "dapil_id", "province", "regency"))
            districts[year, kind, dapil].append(regency)
            code = province_code(plain(province))
            provinces[year, kind, province] = code
            official = [each for each in CODES if each["kemendagri_code"] == code]
            codes = [each["kemendagri_code"] for one in official for each in one["regencies"] if plain(name) in map(plain, each["names"])]
            regencies.append({
                "regency_key": key_number(year, kind, dapil, province, name),
                "regency_natural_key": " / ".join(map(str, (year, kind, dapil, province, name))), "regency": name,
                "province_of_regency": province, "dapil_of_regency": regency["dapil_name"],
                "kemendagri_code": codes[0] if codes else None, "in_voters": regency["in_voters"],
                "in_users": regency["in_users"], "rate_status": regency["rate_status"],
            })
        return {
            "dim_dapil": [{
                "dapil_key": key_number(*key), "dapil_natural_key": " / ".join(map(str, key)), "election_year": key[0],
                "election_type": key[1], "dapil_id": key[2], "dapil_name": self.names.get(key),
                "provinces": ", ".join(sorted({row["province"] for row in rows}, key=str.encode)), "regencies": len(rows),
                "seats": seats.get(key[2]) if key[0] == 2024 else None,
            } for key, rows in districts.items()],
            "dim_province": [{
                "province_key": key_number(*key), "province_natural_key": " / ".join(map(str, key)), "province": key[2],
                "kemendagri_code": code,
            } for key, code in provinces.items()],
            "dim_regency": regencies,
        }

    def data_quality(self):
        groups = defaultdict(list)
        for dataset, table in self.tables.items():
            for key, row in table.items():
                groups[dataset, *key[:3]].append((key, row))
        for (dataset, *district), rows in groups.items():
            severities = defaultdict(int)
            for violation, times in self.violations.items():
                if violation[0] == dataset and violation[1:4] == tuple(district):
                    severities[violation[7]] += times
            unequal = [row for row in self.reconciliation if row["dataset"] == dataset
                       and [row["election_year"], row["election_type"], row["dapil_id"]] == district]
            consistent = sum((dataset, key) not in self.inconsistent for key, _ in rows)
            leaves = [row.get(f"{each}_{sex}") for _, row in rows for each in LISTS for sex in ("male", "female")]
            yield {
                "dataset": dataset, "dapil_key": key_number(*district), "election_year": district[0],
                "election_type": district[1], "dapil_id": district[2], "regencies": len(rows),
                "regencies_consistent": consistent, "consistent_pct": Fraction(100 * consistent, len(rows)),
                "errors": severities["error"], "warnings": severities["warning"],
                "unknown_figures": sum(row.get(column) is None for _, row in rows for column in COUNTS),
                "unequal_sums": len(unequal), "people_differing": sum(abs(row["difference"]) for row in unequal),
                "people_in_totals": known_sum(row.get("grand_total") for _, row in rows),
                "people_in_lists": known_sum(leaves),
            }


def people_of(row, each, sex):
    """The people of a list; for the sex unknown, those of its total that are neither known men nor known women."""
    if sex != "unknown":
        return row.get(f"{each}_{sex}")
    known, total = [row.get(f"{each}_male"), row.get(f"{each}_female")], row.get(f"{each}_total")
    if total is None or None not in known:
        return None
    rest = total - sum(people or 0 for people in known)
    return rest if rest > 0 else None


def wide(rows, *place):
    """One row per place: that of both sexes, with some columns of each."""
    places = defaultdict(dict)
    for row in rows:
        places[tuple(row[column] for column in ("election_year", "election_type", *place))][row["sex"]] = row
    columns = ("users_per_dpt_and_dpk_pct", "users_compared", "voters_dpt_and_dpk_compared", "users_all", "voters_all")
    return [{**by_sex["both"], **{f"{column}_{sex}": by_sex[sex][column] for sex in ("male", "female") for column in columns}}
            for by_sex in places.values()]


def with_rates(row):
    return {**row, **{name: percent(*parts) for name, parts in row["parts"].items()}}


def count_reasons(members):
    counts = {f"regencies_{reason.split()[0] if reason != 'zero denominator' else 'zero_denominator'}":
              sum(member["rate_status"] == reason for member in members) for reason in ("compared", *REASONS)}
    return {"regencies": len(members), **counts}
