#!/usr/bin/env python3
"""Seven benchmarks and a sum of vectors, over their explicit copies.

    bench/seven.py [--nvcc] [--reps N] [--size SIZE] [--build FOLDER] [BENCH ...]

Prints a table for each link, 8 GB/s and open: time over that of the explicit
program in the same round, the median of all rounds, and processor time of
program and device likewise. Rounds go over all cases of a benchmark, each a
process of its own. The first column is the explicit program preloaded; its
target is 1.01. The others have no copies: 1.00 in geometric mean of the seven,
1.02 at most, 0.75 for the sum. --nvcc takes the programs that nvcc makes of the
same (ninja nvcc-programs). The last line of a table says whether targets are
met by time; the script ends with 1 where one is not.
"""
import argparse
import json
import math
import os
import subprocess
import sys

SEVEN = ["cp", "mri-fhd", "mri-q", "pns", "rpes", "sad", "tpacf"]
LINKS = ["8GB/s", "open"]
FORMS = {False: ["explicit", "preloaded", "ported"],
         True: ["runtime", "runtime-preloaded", "runtime-ported"]}
MEAN, MOST, SUM, PRELOADED = 1.00, 1.02, 0.75, 1.01


def rows_of(args, link):
    """What adsm-bench says: {bench: {case: row}}."""
    command = [os.path.join(args.build, "bench", "parboil", "adsm-bench"),
               "--json", "--no-verify", "--size", args.size,
               "--reps", str(args.reps), "--form", ",".join(FORMS[args.nvcc]),
               "--protocol", "lazy,rolling", *args.benches]
    if link != "open":
        command += ["--link", link]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)
    rows = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if "error" in row or not row["same"]:
            sys.exit(line)
        rows.setdefault(row["bench"], {})[row["case"]] = row
    return rows


def mean(values):
    """Geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def missed(case, ratios, form):
    """What of a case is above its target: {bench: ratio}."""
    if case.startswith(form + "/"):
        return [f"{case} {of} {ratio:.3f}" for of, ratio in ratios.items()
                if ratio > PRELOADED]
    late = [f"{case} {of} {ratio:.3f}" for of, ratio in ratios.items()
            if ratio > (SUM if of == "vecadd" else MOST)]
    seven = [ratios[of] for of in SEVEN if of in ratios]
    if seven and mean(seven) > MEAN:
        late.append(f"{case} mean {mean(seven):.3f}")
    return late


def show(rows, link, args):
    """Print the table of a link; return what is above its target."""
    first, form, _ = FORMS[args.nvcc]
    cases = [case for case in next(iter(rows.values()))
             if not case.startswith(first + "/")]
    print(f"\nLink {link}, {args.size}, {args.reps} rounds: "
          "time (processor time)\n")
    print("| benchmark | bare, s | " + " | ".join(cases) + " |")
    print("|---" * (len(cases) + 2) + "|")
    for name, of in rows.items():
        print(f"| {name} | {of[first + '/bare']['median']:.4f} | " +
              " | ".join(f"{of[case]['paired']:.3f} "
                         f"({of[case]['used_paired']:.3f})"
                         for case in cases) + " |")
    seven = [rows[name] for name in SEVEN if name in rows]
    if seven:
        print("| geometric mean of the seven |  | " +
              " | ".join(f"{mean([of[case]['paired'] for of in seven]):.3f} "
                         f"({mean([of[case]['used_paired'] for of in seven]):.3f})"
                         for case in cases) + " |")
    late = []
    for case in cases:
        late += missed(case, {name: of[case]["paired"]
                              for name, of in rows.items()}, form)
    print("\nAbove target: " + (", ".join(late) if late else "none"),
          flush=True)
    return late


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nvcc", action="store_true")
    parser.add_argument("--reps", type=int, default=15)
    parser.add_argument("--size", default="medium")
    parser.add_argument("--build", default="build")
    parser.add_argument("--link", choices=LINKS, action="append")
    parser.add_argument("benches", nargs="*", metavar="BENCH",
                        default=SEVEN + ["vecadd"])
    args = parser.parse_args()
    print(f"Load average before: {os.getloadavg()[0]:.1f}")
    late = []
    for link in args.link or LINKS:
        late += show(rows_of(args, link), link, args)
    print(f"\nLoad average after: {os.getloadavg()[0]:.1f}")
    sys.exit(1 if late else 0)


if __name__ == "__main__":
    main()
