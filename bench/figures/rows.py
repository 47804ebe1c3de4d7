"""Reading docs/figures.json: shared by the tables and the plots."""
import json
import math

SEVEN = ["cp", "mri-fhd", "mri-q", "pns", "rpes", "sad", "tpacf"]
UNITS = {"K": 1 << 10, "M": 1 << 20}


class Rows:
    """All measured cases, and the line that says how."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        self.head = next(row for row in rows if row["figure"] == "head")
        self.rows = [row for row in rows if row["figure"] != "head"]

    def find(self, figure, **wanted):
        """Rows of a figure that have these values."""
        return [row for row in self.rows if row["figure"] == figure and
                all(row.get(key) == value for key, value in wanted.items())]

    def one(self, figure, **wanted):
        """The only such row."""
        rows = self.find(figure, **wanted)
        if len(rows) != 1:
            raise KeyError(f"figure {figure} has {len(rows)} rows {wanted}")
        return rows[0]

    def values(self, figure, key):
        """Different values of a key, in the order they were measured."""
        return list(dict.fromkeys(row[key] for row in self.find(figure)))

    def slowdown(self, bench, case, link, key):
        """A case over the explicit program, least of all rounds each.

        key: "min", time; "used_min", processor time of program and device
        """
        row = self.one("7", bench=bench, case=case, link=link)
        base = self.one("7", bench=bench, case="explicit/bare", link=link)
        return row[key] / base[key]


def size(text):
    """Bytes of "64K"."""
    return int(text[:-1]) * UNITS[text[-1]]


def mean(values):
    """Geometric mean."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def moved(row):
    """(up, down) in bytes: by the runtime and by the program itself."""
    return (row.get("bytes_up", 0) + row["copied_up"],
            row.get("bytes_down", 0) + row["copied_down"])
