#!/usr/bin/env python3
"""Whether a change made benches slower: two builds, run in turn.

    bench/beside.py BEFORE AFTER [--rounds N] BENCH...

BEFORE and AFTER are build folders of two trees; a BENCH is a program of both, by
its path in them, where it runs, with its arguments in the same word:

    bench/beside.py ../old/build build 'bench/micro/bench_fault --reps=3'

Each round runs each bench of both builds, the one first that was second the round
before. Of each case it prints the medians of what the bench said, and the median
and the quartiles of after over before in the same round; of each bench the
geometric mean of its cases. A line of JSON counts as a case by its "case", or as
the program itself, with its "median" or "seconds"; what counts work done per
second is turned round, so that above 1.00 is slower everywhere. Processor time is
that of the program and its children. A bench that fails ends the script with 1.
"""
import argparse
import glob
import json
import math
import os
import resource
import shlex
import statistics
import subprocess
import sys


def environment_of(build):
    """Where a program of that build finds the software device and the hooks."""
    def folder_of(name):
        found = glob.glob(os.path.join(build, "**", name), recursive=True)
        if not found:
            sys.exit(f"beside.py: {build} has no {name}: build all of it")
        return os.path.abspath(found[0])
    return dict(os.environ,
                LD_LIBRARY_PATH=os.path.dirname(folder_of("libcuda.so.1")),
                PRELOAD=folder_of("libadsm-preload.so"))


def used():
    """Processor time of the children that have ended, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(build, environment, bench):
    """What a bench says: {case: value}, less is better."""
    words = shlex.split(bench)
    before = used()
    done = subprocess.run([os.path.abspath(os.path.join(build, words[0])),
                           *words[1:]], cwd=build, env=environment,
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"beside.py: '{bench}' of {build} ended with "
                 f"{done.returncode}")
    values = {}
    for line in done.stdout.splitlines():
        if not line.startswith("{"):
            continue
        row = json.loads(line)
        value = row.get("median", row.get("seconds"))
        if row.get("unit", "").endswith("/s"):
            value = 1 / value
        name = f'{row["bench"]}/{row["case"]}' if "case" in row else row["program"]
        values[name] = value
    if not values:
        sys.exit(f"beside.py: '{bench}' of {build} printed no case")
    values["(processor time)"] = used() - before
    return values


def quartiles(ratios):
    """The lower, the median, the upper one."""
    if len(ratios) < 2:
        return [ratios[0]] * 3
    return statistics.quantiles(ratios, n=4, method="inclusive")


def report(bench, rounds):
    """One table. @rounds  of [before, after] as run() gives them."""
    print(f"{bench}\n  {'case':<34} {'before':>11} {'after':>11} "
          f"{'ratio':>7}  quartiles")
    medians = []
    for case in rounds[0][0]:
        sides = [[one[side][case] for one in rounds] for side in (0, 1)]
        if not min(map(min, sides)) > 0:
            continue
        low, ratio, high = quartiles([b / a for a, b in zip(*sides)])
        if not case.startswith("("):
            medians.append(ratio)
        print(f"  {case:<34} {statistics.median(sides[0]):11.5g} "
              f"{statistics.median(sides[1]):11.5g} {ratio:7.3f}  "
              f"{low:.3f} to {high:.3f}")
    mean = math.exp(statistics.fmean(map(math.log, medians)))
    print(f"  {'(mean of the cases)':<34} {'':11} {'':11} {mean:7.3f}\n",
          flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("benches", nargs="+", metavar="BENCH")
    args = parser.parse_args()
    builds = [args.before, args.after]
    environments = [environment_of(build) for build in builds]
    for bench in args.benches:
        rounds = []
        for number in range(args.rounds):
            both = [None, None]
            for side in (0, 1) if number % 2 == 0 else (1, 0):
                both[side] = run(builds[side], environments[side], bench)
            rounds.append(both)
        report(bench, rounds)


if __name__ == "__main__":
    main()
