#!/usr/bin/env python3
"""What is sent, beside what the CPU has written.

    bench/written.py [--build FOLDER] [--only bench|access] [--size SIZE]
                     [BENCHMARK ...]

Runs the paper's seven benchmarks, with their copies deleted and on adsm.h, and
the patterns of bench_access, under rolling with the defaults, and once more with
each page a block of its own that a store opens alone and that is sent once: what
goes up then is the pages written between calls. Prints a table and ends with 1
where more than 1.5 times of that is sent, or the results differ. The pattern
`halo` is above that, and is only printed. Sizes are those of
adsm-bench, by default small, and rpes besides large: there its arrays are.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import rows

SEVEN = ["cp", "mri-fhd", "mri-q", "pns", "rpes", "sad", "tpacf"]
PATTERNS = ["stream", "sources", "halo", "index"]
ABOVE = ["halo"]
MOST = 1.5
KIB = 1 << 10
# Blocks of a page, all of them at once, none sent early or left open, and no store
# sent alone.
BY_PAGE = {"ADSM_BLOCK_SIZE": "4K", "ADSM_ROLLING_SIZE": "1048576",
           "ADSM_ROLLING_LEARN": "0", "ADSM_KEEP_OPEN": "0",
           "ADSM_SERVE_STORES": "0",
           "ADSM_BLOCK_BUDGET": "16777216"}
# As bench_access has them: the device's own pointers, the usual size.
FORM_OWN, SIZE_USUAL, REPS = "4", "1", 3


def run_benches(args, size, names, settings):
    """{name: (what it computed, bytes up)}."""
    arguments = ["--no-verify", "--size", size, "--form", "ported,adsm"]
    blocks = settings.get("ADSM_BLOCK_SIZE")
    if blocks:
        arguments += ["--block-size", blocks,
                      "--rolling-size", settings["ADSM_ROLLING_SIZE"]]
    found = {}
    for row in rows.of_rolling(args.build, arguments + names, settings):
        form = row["case"].split("/")[0]
        found[f"{row['bench']} {form}, {size}"] = (row["digest"],
                                                   row["bytes_up"])
    return found


def run_pattern(args, name, settings):
    """(what it read, bytes up)."""
    with tempfile.TemporaryDirectory() as folder:
        counters = os.path.join(folder, "counters")
        env = dict(os.environ, ADSM_STATS_FILE=counters,
                   ADSM_PROTOCOL="rolling",
                   LD_LIBRARY_PATH=os.path.join(args.build, "tools/softcuda"),
                   LD_PRELOAD=os.path.join(args.build,
                                           "interpose/libadsm-preload.so"),
                   **settings)
        done = subprocess.run(
            [os.path.join(args.build, "bench", "access", "bench_access"),
             "--child", name, FORM_OWN, SIZE_USUAL, str(REPS)],
            input="\n" * (REPS + 1), stdout=subprocess.PIPE, text=True, env=env,
            check=True)
        with open(counters, encoding="utf-8") as file:
            up = sum(json.loads(line)["bytes_up"] for line in file)
        return done.stdout.splitlines()[-1].split()[0], up


def pairs(args):
    """(name, as by page, as by default, whether it is held to the limit)."""
    runs = [(args.size, args.names or SEVEN)] if "bench" in args.sets else []
    if runs and args.size == "small" and not args.names:
        runs.append(("large", ["rpes"]))
    for size, names in runs:
        by_page = run_benches(args, size, names, BY_PAGE)
        usual = run_benches(args, size, names, {})
        for name in by_page:
            yield name, by_page[name], usual[name], True
    for name in PATTERNS if "access" in args.sets else []:
        yield (name, run_pattern(args, name, BY_PAGE),
               run_pattern(args, name, {}), name not in ABOVE)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", default="small")
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", dest="sets", choices=["bench", "access"],
                        default=["bench", "access"])
    parser.add_argument("names", nargs="*", metavar="BENCHMARK")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    print("| program | pages written, KiB | sent, KiB | sent over written |")
    print("|---|---|---|---|")
    wrong, runs = [], 0
    for name, (result, written), (usual, sent), held in pairs(args):
        runs += 1
        print(f"| {name} | {written / KIB:.0f} | {sent / KIB:.0f} | "
              f"{sent / max(1, written):.2f} |", flush=True)
        if usual != result:
            wrong.append(f"{name}: other results")
        if held and sent > MOST * written:
            wrong.append(f"{name}: more than {MOST} of what was written")
    print(*wrong, sep="\n")
    sys.exit(1 if wrong or not runs else 0)


if __name__ == "__main__":
    main()
