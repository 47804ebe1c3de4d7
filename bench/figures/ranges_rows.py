"""Reading docs/figures_ranges.json: shared by its tables and pictures."""
import json


class Cases:
    """All measured cases, and the line that says how."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        self.head = next(row for row in rows if "figure" in row)
        self.rows = [row for row in rows if "figure" not in row]

    def of(self, bench, *begin, end=""):
        """Cases whose names begin with these words and end so, in order."""
        start = "".join(part + "/" for part in begin)
        found = [row for row in self.rows if row["bench"] == bench and
                 (row["case"] + "/").startswith(start) and
                 row["case"].endswith(end)]
        if not found:
            raise KeyError(f"no case {start}…{end} of bench {bench}")
        return found

    def one(self, bench, case):
        """The case of this name."""
        for row in self.rows:
            if row["bench"] == bench and row["case"] == case:
                return row
        raise KeyError(f"no case {case} of bench {bench}")


def word(row, index):
    """One of the words of a case's name."""
    return row["case"].split("/")[index]
