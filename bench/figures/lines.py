"""Lines of code of the benchmarks before and after the port.

A port may only delete: whole lines, and characters within a line of which at
least half stays. Comments and blank lines do not count, in neither program.

    lines.py            print the table
"""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
NAMES = ["cp", "mri_fhd", "mri_q", "pns", "rpes", "sad", "tpacf", "vecadd"]
IMPOSSIBLE = 10 ** 6


def programs():
    """Name, and the paths of its explicit, ported and adsm.h program."""
    forms = "explicit", "ported", "adsm"
    for name in NAMES:
        folder = os.path.join(ROOT, "parboil", name)
        yield (name.replace("_", "-"),
               *(os.path.join(folder, f"{name}_{form}.c") for form in forms))
    yield ("stencil",
           *(os.path.join(ROOT, "wave", f"wave_{form}.c") for form in forms))


def code(path):
    """Lines of code of a C file, without its comments."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    return [line for line in text.split("\n") if line.strip()]


def is_shortened(shorter, line):
    """Whether deleting characters makes `shorter` of `line`."""
    rest = iter(line)
    return (all(c in rest for c in shorter) and
            2 * len(shorter) >= len(line))


def change(before, after):
    """Cost of making the line `after` of `before`; None: cannot be."""
    if before == after:
        return 0
    return 1 if is_shortened(after, before) else None


def port(old, new):
    """(deleted, shortened) lines that make `new` of `old`; None: a line of
    `new` would have to be put in."""
    rows, columns = len(old), len(new)
    cost = [[IMPOSSIBLE] * (columns + 1) for _ in range(rows + 1)]
    cost[rows][columns] = 0
    for i in range(rows - 1, -1, -1):
        for j in range(columns, -1, -1):
            best = cost[i + 1][j] + 2
            if j < columns:
                step = change(old[i], new[j])
                if step is not None:
                    best = min(best, cost[i + 1][j + 1] + step)
            cost[i][j] = min(best, IMPOSSIBLE)
    if cost[0][0] >= IMPOSSIBLE:
        return None
    deleted = rows - columns
    return deleted, cost[0][0] - 2 * deleted


def table():
    """Rows (name, explicit, ported, adsm, deleted, shortened)."""
    for name, explicit, ported, adsm in programs():
        old, new = code(explicit), code(ported)
        done = port(old, new)
        if done is None:
            raise ValueError(f"{ported} has a line that no deletion makes of "
                             f"{explicit}")
        yield name, len(old), len(new), len(code(adsm)), *done


def main():
    print("| benchmark | explicit | ported | deleted | shortened | added "
          "| on adsm.h |\n|---|---|---|---|---|---|---|")
    for name, old, new, adsm, deleted, shortened in table():
        print(f"| {name} | {old} | {new} | {deleted} | {shortened} | 0 "
              f"| {adsm} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
