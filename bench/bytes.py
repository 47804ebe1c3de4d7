#!/usr/bin/env python3
"""What moves where launches touch what their PTX says, and where they touch all.

    bench/bytes.py [--size SIZE] [--build FOLDER] [--only bench|nvcc]
                   [--every]

Runs programs preloaded, under rolling, with ADSM_KERNEL_WRITES=all and =ptx:
the benchmarks with their copies deleted, and what nvcc has made of them and of
tests/cuda (ninja nvcc-programs, and the tests of suite nvcc). What they print
has to be the same, and ptx may move no more than all; the script ends with 1
where that is not so. Nothing is fetched because it was read after an earlier
call: how much that is depends on time. Nor is a store sent alone, which spares a
block only where the device alone has it: with all that is so more often. Prints
a table of the programs that move something else with ptx than with all; --every:
of all of them.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import rows

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
WRITES = ["all", "ptx"]
KIB = 1 << 10
SKIP = 77


def listed(path):
    """Of tests/cuda/programs: {name: environment}."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and not line.startswith("#"):
                found[words[0]] = dict(word[4:].split("=", 1) for word in words
                                       if word.startswith("env="))
    return found


def settings_of(writes):
    return {"ADSM_KERNEL_WRITES": writes, "ADSM_FETCH_AHEAD": "sequential",
            "ADSM_SERVE_STORES": "0"}


def run_benches(args, writes):
    """{name: (what it computed, bytes up, down)}."""
    form = "ported" + (",runtime-ported" if args.runtime else "")
    found = {}
    for row in rows.of_rolling(args.build,
                               ["--size", args.size, "--form", form],
                               settings_of(writes)):
        found[row["bench"] + " " + row["case"].split("/")[0]] = (
            row["digest"], row["bytes_up"], row["bytes_down"])
    return found


def run_program(args, name, settings, writes):
    """(status and what it printed, bytes up, down); None: skipped."""
    with tempfile.TemporaryDirectory() as folder:
        counters = os.path.join(folder, "counters")
        env = dict(os.environ, ADSM_STATS_FILE=counters,
                   ADSM_PROTOCOL="rolling",
                   LD_LIBRARY_PATH=os.path.join(args.build, "tools/softcuda"),
                   LD_PRELOAD=os.path.join(args.build,
                                           "interpose/libadsm-preload.so"),
                   **settings_of(writes), **settings)
        done = subprocess.run([os.path.join(args.build, "tests/cuda", name)],
                              env=env, stdout=subprocess.PIPE, timeout=600,
                              stderr=subprocess.DEVNULL, check=False)
        if done.returncode == SKIP:
            return None
        up = down = 0
        if os.path.exists(counters):
            with open(counters, encoding="utf-8") as file:
                for counted in map(json.loads, file):
                    up += counted["bytes_up"]
                    down += counted["bytes_down"]
        return (done.returncode, done.stdout), up, down


def pairs(args):
    """(name, {all: result, ptx: result}) of every program."""
    if "bench" in args.sets:
        by_writes = {writes: run_benches(args, writes) for writes in WRITES}
        for name in by_writes["all"]:
            yield name, {writes: by_writes[writes].get(name)
                         for writes in WRITES}
    for name, settings in (args.programs if "nvcc" in args.sets
                           else {}).items():
        both = {writes: run_program(args, name, settings, writes)
                for writes in WRITES}
        if both["all"] is not None:
            yield name, both


def wrong_with(both):
    """What is not as it has to be; None: nothing."""
    if both["ptx"] is None or both["ptx"][0] != both["all"][0]:
        return "other results"
    for way, at in (("up", 1), ("down", 2)):
        if both["ptx"][at] > both["all"][at]:
            return f"more {way}"
    return None


def choose(args):
    """Which programs of nvcc there are."""
    def there(*path):
        return os.path.exists(os.path.join(args.build, *path))

    args.runtime = there("bench", "parboil", "vecadd_runtime-ported")
    args.programs = {name: settings for name, settings in
                     listed(os.path.join(ROOT, "tests/cuda/programs")).items()
                     if there("tests", "cuda", name)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", default="small")
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", dest="sets", choices=["bench", "nvcc"],
                        default=["bench", "nvcc"])
    parser.add_argument("--every", action="store_true")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    choose(args)
    print("| program | all: KiB up | down | ptx: KiB up | down | ptx over all |")
    print("|---|---|---|---|---|---|")
    wrong, same, runs = [], [0, 0, 0], 0
    for name, both in pairs(args):
        runs += 1
        bad = wrong_with(both)
        if bad:
            wrong.append(f"{name}: {bad}: {both['all']}, {both['ptx']}")
            continue
        row = [both[writes][at] for writes in WRITES for at in (1, 2)]
        if row[:2] == row[2:]:
            same = [same[0] + 1, same[1] + row[0], same[2] + row[1]]
        if args.every or row[:2] != row[2:]:
            print(f"| {name} | " +
                  " | ".join(f"{moved / KIB:.0f}" for moved in row) +
                  f" | {sum(row[2:]) / max(1, sum(row[:2])):.2f} |", flush=True)
    print(f"\n{same[0]} programs move the same, {same[1] / KIB:.0f} KiB up and "
          f"{same[2] / KIB:.0f} down; {len(wrong)} of {runs} are not as they have "
          "to be")
    print(*wrong, sep="\n")
    sys.exit(1 if wrong or not runs else 0)


if __name__ == "__main__":
    main()
