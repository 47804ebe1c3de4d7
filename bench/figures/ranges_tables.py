"""Write the tables of docs/figures_ranges.md from docs/figures_ranges.json.

    ranges_tables.py FIGURES.json PAGE.md
"""
import sys

import machine
import page
from page import table
from ranges_rows import Cases, word


def where(cases):
    """Where, when and how."""
    quick = " --quick" if cases.head["mode"] == "quick" else ""
    rounds = ", ".join(f"{name} {count}" for name, count in
                       cases.head["rounds"].items() if count)
    return (f"{machine.where(cases.head)} Command: "
            f"`bench/figures_ranges.sh{quick}` (rounds: {rounds}).")


def number(value):
    """Three digits, and no more than are needed."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def ratio(row):
    """Over its peer."""
    return f"{row['ratio']:.2f}"


def plain(names, rows):
    """Median, spread, and what it is over its peer, a row for each case."""
    body = [[name, row["unit"], number(row["median"]),
             f"{number(row['min'])}–{number(row['max'])}",
             ratio(row), row["against"]] for name, row in zip(names, rows)]
    return table(["case", "unit", "median", "least and most", "ratio",
                  "over"], body)


def crossed(rows, line, column, value, heads):
    """A table of one value, by two words of the cases' names."""
    lines = list(dict.fromkeys(line(row) for row in rows))
    columns = list(dict.fromkeys(column(row) for row in rows))
    cells = {(line(row), column(row)): value(row) for row in rows}
    return table([heads] + [str(name) for name in columns],
                 [[name] + [cells.get((name, other), "–")
                            for other in columns] for name in lines])


def overhead(cases):
    """Table IV: the caller's time for a part, of the 20 ms of its kernel."""
    row = cases.one("spread", "part/issue")
    return table(["a part of four arguments, us", "least and most",
                  "of a part's 20 ms, %"],
                 [[number(row["median"]),
                   f"{number(row['min'])}–{number(row['max'])}",
                   f"{100 * row['median'] / 20000:.3f}"]])


def strides(cases):
    """Fig. 4."""
    rows = cases.of("boxes", "rows")
    return plain([f"rows of {word(row, 1)} bytes" for row in rows], rows)


def devices(cases):
    """Calls on more devices than one."""
    rows = [row for row in cases.of("spread") if word(row, 0) != "part"]
    return plain([row["case"] for row in rows], rows)


def weak(cases):
    """Fig. 10(a): over what computing and the links alone take."""
    return crossed(cases.of("weak"), lambda row: word(row, 0),
                   lambda row: "devices: " + word(row, 1), ratio,
                   f"over {cases.of('weak')[0]['against']}")


def oversubscribed(cases):
    """A preloaded program with four times the memory."""
    rows = cases.of("oversubscribe")
    return plain([row["case"] for row in rows], rows)


def folds(cases):
    """Sums and scans."""
    rows = [row for row in cases.of("fold") if "ratio" in row]
    return plain([row["case"] for row in rows], rows)


def reuse(cases):
    """Fig. 10(d): by time and by bytes."""
    rows = cases.of("boxes", "reuse")
    names = [word(row, 1).removesuffix("-bytes") for row in rows]
    return plain(names, rows)


def oversize(cases):
    """Figs. 10(e) and (h): time and bytes by multiple of the memory."""
    def column(row):
        return word(row, 1) + " times"
    rows = cases.of("oversize")
    text = []
    for title, keep, value in (
            ("ms per MiB", lambda row: row["case"].count("/") == 1,
             lambda row: number(row["median"])),
            ("over the same on a device that holds all",
             lambda row: row["case"].count("/") == 1, ratio),
            ("bytes brought over the formula's",
             lambda row: row["case"].endswith("/in"), ratio),
            ("bytes saved over the formula's",
             lambda row: row["case"].endswith("/out"), ratio)):
        text.append(crossed([row for row in rows if keep(row)],
                            lambda row: word(row, 0), column, value, title))
    return "\n\n".join(text)


def by_hand(cases):
    """Fig. 10(f): time by hand over ours, and bytes."""
    rows = cases.of("by_hand")
    text = []
    for title, moved, value in (
            ("time by hand over ours", False,
             lambda row: f"{1 / row['ratio']:.2f}"),
            ("bytes over links, ours over those by hand", True, ratio)):
        some = [row for row in rows if row["case"].endswith("moved") == moved]
        text.append(crossed(some, lambda row: word(row, 0),
                            lambda row: "devices: " + word(row, 1), value,
                            title))
    return "\n\n".join(text)


def chunks(cases):
    """Figs. 7 and 8 and the models: measured over T(n) and the thesis'."""
    works = ["even", "map", "nevmap", "maparray", "mapreduce", "accumulate"]
    rows = [row for work in works for row in cases.of("pipeline", work)
            if len(row["case"].split("/")) > 1 and word(row, 1).isdigit()]

    def name(row):
        words = row["case"].split("/")
        kind = [word for word in words[2:] if word != "thesis"]
        return " ".join([words[0]] + kind)
    text = []
    for title, own in (("measured over T(n), by chunks", False),
                       ("measured over the thesis' formula", True)):
        text.append(crossed([row for row in rows
                             if row["case"].endswith("thesis") == own],
                            name, lambda row: word(row, 1), ratio, title))
    gains = [row for work in works for row in cases.of("pipeline", work)
             if row["case"].endswith("gain")]
    chosen = [row for work in works for row in cases.of("pipeline", work)
              if row["case"].endswith("chosen")]
    body = []
    for gain, own in zip(gains, chosen):
        n = cases.one("pipeline", own["case"] + "/n")
        body.append([gain["case"].rsplit("/", 1)[0].replace("/", " "),
                     f"{gain['ratio']:.2f}", number(n["median"]),
                     own["against"], f"{own['ratio']:.3f}"])
    text.append(table(["", "one piece over 16 chunks", "the library's n",
                       "beside", "its time over that"], body))
    return "\n\n".join(text)


def small(cases):
    """Small arrays, whose chunks are the library's."""
    rows = cases.of("pipeline", "small")
    return plain([word(row, 1) + "iB" for row in rows], rows)


def engines(cases):
    """Fig. 6."""
    rows = cases.of("engines")
    return plain([row["case"] for row in rows], rows)


def stream(cases):
    """Figs. 9 and 10."""
    def column(row):
        return word(row, 1)
    rows = cases.of("stream")
    return crossed(rows, column, lambda row: word(row, 0), ratio,
                   "gain of chunks, or of threads and chunks")


def containers(cases, figure):
    """Figs. 6 and 7 of smart containers: time and bytes over their peer's."""
    rows = [row for row in cases.of("containers", figure) if "ratio" in row]
    return crossed(rows, lambda row: word(row, 1),
                   lambda row: " ".join(row["case"].split("/")[2:]), ratio,
                   "over " + rows[0]["against"])


def moved(cases):
    """Table 1 and Fig. 2 of smart containers."""
    rows = [row for row in cases.of("table1")
            if word(row, 2) in ("moved", "allocated")]
    return crossed(rows, lambda row: f"{word(row, 0)}, {word(row, 2)}",
                   lambda row: word(row, 1),
                   lambda row: f"{row['median']:.0f}", "bytes")


TABLES = {"machine": where, "000 table 1": moved,
          "000 figure 6": lambda cases: containers(cases, "fig6"),
          "000 figure 7": lambda cases: containers(cases, "fig7"),
          "003 table IV": overhead, "003 figure 4": strides,
          "003 figure 10a": weak, "devices": devices,
          "oversubscribed": oversubscribed, "folds": folds,
          "003 figure 10d": reuse,
          "003 figure 10e": oversize, "003 figure 10f": by_hand,
          "004 figure 6": engines, "004 figure 7": chunks, "small": small,
          "004 figure 10": stream}


if __name__ == "__main__":
    page.fill(sys.argv[2], Cases(sys.argv[1]), TABLES)
