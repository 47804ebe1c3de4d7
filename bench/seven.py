#!/usr/bin/env python3
"""Seven benchmarks and a sum of vectors, over their copies by hand.

    bench/seven.py [--nvcc | --real] [--best] [--reps N] [--size SIZE]
                   [--form LIST] [--protocol LIST] [--link RATE]
                   [--build FOLDER] [--from FILE] [BENCH ...]

Prints three tables for each link, 8 GB/s and open where none is named: the time
of the work alone, that of the whole process, and processor time of program and
device. Work and whole are over the better of the programs with copies by hand,
explicit and overlapped, in the same rounds: the median of what each round has,
or with --best the least time over the least, for a machine that others use. A
line names which one that was and how long it took. Processor time and the
explicit program preloaded are over the explicit program. Each case of a round
is a process of its own, and rounds change their order (adsm-bench --help says
how, and what work is).

--nvcc takes the programs that nvcc makes of the same (ninja nvcc-programs);
--real the machine's device; --from reads lines that adsm-bench --json printed,
or the results.jsonl of gpu-check.sh, and runs nothing.

The last line of a link says what is above target in elapsed time over the
explicit program: preloaded 1.01; without copies 1.00 in geometric mean of the
seven, 1.02 at most, 0.75 for the sum. The script ends with 1 where one is.
"""
import argparse
import json
import math
import os
import subprocess
import sys

SEVEN = ["cp", "mri-fhd", "mri-q", "pns", "rpes", "sad", "tpacf"]
LINKS = ["8GB/s", "open"]
BY_HAND = ["explicit/bare", "overlapped/bare"]
FORMS = {False: "explicit,overlapped,preloaded,ported",
         True: "runtime,runtime-preloaded,runtime-ported"}
MEAN, MOST, SUM, PRELOADED = 1.00, 1.02, 0.75, 1.01


def lines_of(args, link):
    """What adsm-bench says, a line for each case."""
    if args.lines:
        with open(args.lines, encoding="utf-8") as file:
            return file.read().splitlines()
    command = [os.path.join(args.build, "bench", "parboil", "adsm-bench"),
               "--json", "--no-verify", "--size", args.size,
               "--reps", str(args.reps), "--form", args.form,
               "--protocol", args.protocol, *args.benches]
    if link != "open":
        command += ["--link", link]
    if args.real:
        command += ["--real"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)
    return done.stdout.splitlines()


def rows_of(args, link):
    """{bench: {case: row}}; of a size that came twice, what came last."""
    rows = {}
    for line in lines_of(args, link):
        row = json.loads(line)
        if row.get("bench") not in args.benches:
            continue
        if "error" in row or not row["same"]:
            sys.exit(line)
        if "work_s" in row and row["size"].split()[0] == args.size:
            rows.setdefault(row["bench"], {})[row["case"]] = row
    return rows


def mean(values):
    """Geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def is_preloaded(case):
    return case.split("/")[0] in ("preloaded", "runtime-preloaded")


def missed(case, ratios):
    """What of a case is above its target: {bench: ratio}."""
    if is_preloaded(case):
        return [f"{case} {of} {ratio:.3f}" for of, ratio in ratios.items()
                if ratio > PRELOADED]
    if "ported" not in case:
        return []
    late = [f"{case} {of} {ratio:.3f}" for of, ratio in ratios.items()
            if ratio > (SUM if of == "vecadd" else MOST)]
    seven = [ratios[of] for of in SEVEN if of in ratios]
    if seven and mean(seven) > MEAN:
        late.append(f"{case} mean {mean(seven):.3f}")
    return late


def table(title, rows, cases, ratio, base):
    """Print one: `ratio` of a row, `base` says what a benchmark's are over."""
    print(f"\n{title}\n\n| benchmark | over | s | " +
          " | ".join(case.removesuffix("/bare") for case in cases) + " |")
    print("|---" * (len(cases) + 3) + "|")
    for name, of in rows.items():
        print(f"| {name} | {base(of)} | " +
              " | ".join(f"{ratio(of[case]):.2f}" for case in cases) + " |")
    seven = [rows[name] for name in SEVEN if name in rows]
    if seven:
        print(f"| geometric mean of {len(seven)} |  |  | " +
              " | ".join(f"{mean([ratio(of[case]) for of in seven]):.2f}"
                         for case in cases) + " |", flush=True)


def best_by_hand(of, time):
    """The case with the least time of those with copies by hand."""
    return min((row for case, row in of.items() if case in BY_HAND),
               key=lambda row: row[time + "_min"],
               default=next(iter(of.values())))


def table_of(time, rows, cases, args):
    """The table of `work` or `whole`."""
    def base(of):
        case = (best_by_hand(of, time)["case"] if args.best else
                next(iter(of.values()))[time + "_against"])
        seconds = of[case][time + ("_min" if args.best else "_s")]
        return f"{case.removesuffix('/bare')} | {seconds:.4f}"

    def ratio(row):
        if is_preloaded(row["case"]):
            return row["paired"]
        if args.best:
            least = best_by_hand(rows[row["bench"]], time)
            return row[time + "_min"] / least[time + "_min"]
        return row[time + "_ratio"]

    table(f"{time.capitalize()}, " +
          ("least times" if args.best else "medians"), rows, cases, ratio, base)


def show(rows, link, args):
    """Print the tables of a link; return what is above its target."""
    if not rows:
        sys.exit("seven.py: no rows of this size")
    cases = list(next(iter(rows.values())))
    reps = next(iter(rows.values()))[cases[0]]["reps"]
    print(f"\nLink {link}, {args.size}, {reps} rounds")
    for time in "work", "whole":
        table_of(time, rows, cases, args)
    table("Processor time", rows, cases, lambda row: row["used_paired"],
          lambda of: f"{cases[0].removesuffix('/bare')} | "
          f"{of[cases[0]]['used_min']:.4f}")
    late = []
    for case in cases:
        late += missed(case, {name: of[case]["paired"]
                              for name, of in rows.items()})
    print(f"\nAbove target, over {cases[0]}: " +
          (", ".join(late) if late else "none"), flush=True)
    return late


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--nvcc", action="store_true")
    kind.add_argument("--real", action="store_true")
    parser.add_argument("--best", action="store_true")
    parser.add_argument("--reps", type=int, default=15)
    parser.add_argument("--size", default="medium")
    parser.add_argument("--form")
    parser.add_argument("--protocol", default="lazy,rolling")
    parser.add_argument("--build", default="build")
    parser.add_argument("--link", action="append")
    parser.add_argument("--from", dest="lines")
    parser.add_argument("benches", nargs="*", metavar="BENCH",
                        default=SEVEN + ["vecadd"])
    args = parser.parse_args()
    args.form = args.form or FORMS[args.nvcc]
    print(f"Load average before: {os.getloadavg()[0]:.1f}")
    late = []
    for link in args.link or (["open"] if args.real or args.lines else LINKS):
        late += show(rows_of(args, link), link, args)
    print(f"\nLoad average after: {os.getloadavg()[0]:.1f}")
    sys.exit(1 if late else 0)


if __name__ == "__main__":
    main()
