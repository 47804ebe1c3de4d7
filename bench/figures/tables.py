"""Write the tables of docs/figures.md from docs/figures.json.

    tables.py FIGURES.json FIGURES.md

Each place of the page is named as in TABLES (page.py).
"""
import sys

import lines
import machine
import page
from page import table
from rows import Rows, SEVEN, mean, moved, size

# What the paper's text and Fig. 7 give as numbers.
PAPER = {"pns": "65.18", "rpes": "18.64"}
CASES = ["naive/bare", "ported/batch", "ported/lazy", "ported/rolling"]


def where(rows):
    """Where, when and how."""
    head = rows.head
    quick = " --quick" if head["mode"] == "quick" else ""
    return (f"{machine.where(head)} Command: "
            f"`bench/figures.sh{quick}` (rounds: {head['rounds']['seven']} "
            "of the seven benchmarks, "
            f"{head['rounds']['stencil']} of the stencil, "
            f"{head['rounds']['vecadd']} of the vectors, "
            f"{head['rounds']['sky']} of Fig. 12). Link: {head['link']} in "
            "each direction where it does not say open.")


def slowdowns(rows, link, key):
    """Ratios to the explicit program by time or processor time."""
    body = []
    for bench in SEVEN + ["vecadd"]:
        base = rows.one("7", bench=bench, case="explicit/bare", link=link)
        body.append([bench, f"{base[key]:.3f}"] +
                    [f"{rows.slowdown(bench, case, link, key):.2f}"
                     for case in CASES] +
                    [PAPER.get(bench, "–")])
    means = [mean(rows.slowdown(bench, case, link, key) for bench in SEVEN)
             for case in CASES]
    body.append(["geometric mean of the seven", ""] +
                [f"{value:.2f}" for value in means] + ["–"])
    return table(["benchmark", "explicit, s", "all copies by hand", "batch",
                  "lazy", "rolling", "paper, batch"], body)


def figure_7(rows):
    """Both links, by processor time and by time."""
    link = rows.head["link"]
    parts = []
    for name, which in (("Link " + link, link), ("Link open", "open")):
        for text, key in (("processor time of program and device",
                           "used_min"), ("elapsed time", "min")):
            parts += [f"{name}, {text}, least of all rounds:",
                      slowdowns(rows, which, key)]
    return "\n\n".join(parts)


def figure_8(rows):
    """MiB in each direction."""
    body = []
    for bench in SEVEN + ["vecadd"]:
        line = [bench]
        all_bytes = [moved(rows.one("7", bench=bench, case=case,
                                    link=rows.head["link"]))
                     for case in ["explicit/bare"] + CASES[1:]]
        for k in 0, 1:
            line += [f"{value[k] / 2 ** 20:.2f}" for value in all_bytes]
        base = rows.one("7", bench=bench, case="explicit/bare",
                        link=rows.head["link"])
        more = sum(all_bytes[3]) - sum(all_bytes[0])
        line.append(f"{more / 1024 / base['launches']:.1f}")
        body.append(line)
    head = [f"{name} {way}" for way in ("up", "down")
            for name in ("explicit", "batch", "lazy", "rolling")]
    return table(["benchmark, MiB"] + head +
                 ["rolling over explicit, KiB a call"], body)


def figure_9(rows):
    """The stencil's times."""
    cases = rows.values("9", "case")
    body = []
    for edge in rows.values("9", "edge"):
        got = [rows.one("9", edge=edge, case=case) for case in cases]
        body.append([f"{edge}³"] +
                    [f"{row['used_min']:.2f}, {row['min']:.2f}"
                     for row in got] +
                    [f"{sum(moved(got[1])) / 2 ** 20:.0f}",
                     f"{sum(moved(got[3])) / 2 ** 20:.0f}"])
    names = ["explicit", "lazy"] + ["rolling " + case.split("/")[-1]
                                    for case in cases[2:]]
    return table(["cells; processor, elapsed s"] + names +
                 ["lazy, MiB", "rolling 256K, MiB"], body)


def figure_10(rows):
    """Shares of the time under rolling."""
    parts = ["cpu", "gpu", "copy", "io", "signal", "setup"]
    body, signals = [], []
    for bench in SEVEN + ["vecadd"]:
        row = rows.one("7", bench=bench, case="ported/rolling",
                       link=rows.head["link"])
        total = sum(row[part + "_s"] for part in parts)
        share = [100 * row[part + "_s"] / total for part in parts]
        if bench in SEVEN:
            signals.append(max(share[4], 1e-3))
        body.append([bench] + [f"{value:.1f}" for value in share[:4]] +
                    [f"{share[4]:.2f}", f"{share[5]:.1f}", row["faults"]])
    body.append(["geometric mean of the seven", "", "", "", "",
                 f"{mean(signals):.2f}", "", ""])
    return table(["benchmark, %", "CPU", "GPU", "copy", "I/O", "signal",
                  "setup", "faults"], body)


def figure_11(rows):
    """Vector addition over block size."""
    body = []
    for row in rows.find("11"):
        word = row["case"].split("/")
        up, down = moved(row)
        name = word[2] if len(word) == 3 else word[0] + " " + word[1]
        rate = (f"{down / row['down_s'] / 1e9:.2f}" if row.get("down_s")
                else "–")
        body.append([name.replace("explicit bare", "explicit")
                     .replace("ported lazy", "lazy"),
                     f"{row['used_min']:.3f}", f"{row['min']:.3f}",
                     row.get("faults", 0), f"{up / 2 ** 20:.0f}",
                     f"{down / 2 ** 20:.0f}", rate])
    return table(["block size", "processor, s", "elapsed, s", "faults",
                  "MiB up", "MiB down", "GB/s down"], body)


def figure_12(rows):
    """tpacf over block size and rolling size."""
    found = {}
    for row in rows.find("12"):
        word = row["case"].split("/")
        if len(word) == 4:
            found.setdefault(word[2], {})[word[3]] = row
    body = []
    for text in sorted(found, key=size):
        got = [found[text][key] for key in ("1", "2", "4", "0")]
        best = min(row["used_min"] for row in got[:3])
        body.append([text] + [f"{row['used_min']:.3f}" for row in got] +
                    [f"{got[3]['used_min'] / best:.2f}"] +
                    [f"{1e3 * row['host_s']:.1f}" for row in got] +
                    [f"{row['bytes_up'] / 2 ** 20:.2f}" for row in got])
    names = ["1", "2", "4", "adaptive"]
    return table(["block size"] +
                 [name + ", processor s" for name in names] +
                 ["adaptive / best"] +
                 [name + ", CPU ms" for name in names] +
                 [name + ", MiB up" for name in names], body)


def code_lines(_rows):
    """Lines of each benchmark by form, counted."""
    return table(["benchmark", "explicit", "ported", "on adsm.h",
                  "lines deleted", "shortened", "added"],
                 [[name, old, new, adsm, deleted, shortened, 0]
                  for name, old, new, adsm, deleted, shortened
                  in lines.table()])


TABLES = {"machine": where, "figure 7": figure_7, "figure 8": figure_8,
          "figure 9": figure_9, "figure 10": figure_10,
          "figure 11": figure_11, "figure 12": figure_12, "lines": code_lines}


if __name__ == "__main__":
    page.fill(sys.argv[2], Rows(sys.argv[1]), TABLES)
