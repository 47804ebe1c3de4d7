"""Run the benches of several devices: what bench/figures_ranges.sh does.

    ranges_measure.py quick|full BUILD-FOLDER OUT.json [BENCH...]

With names of benches only those are run, and of the others the output keeps
what it has. Every line of the output is one case as its bench printed it; the first says
where, when and how. The output is written only when all of it is there.
"""
import datetime
import json
import os
import subprocess
import sys

import machine

# Below the folder bench, and rounds of a full run. table1 counts bytes, which
# are the same each time.
BENCHES = [("micro/bench_boxes", 9), ("micro/bench_spread", 3),
           ("micro/bench_pipeline", 5), ("softcuda/bench_engines", 9),
           ("stream/bench_stream", 3), ("ranges/bench_by_hand", 3),
           ("ranges/bench_oversize", 3), ("ranges/bench_weak", 3),
           ("softcuda/bench_oversubscribe", 5), ("fold/bench_fold", 15),
           ("ranges/containers/table1", None),
           ("ranges/containers/bench_containers", 1)]


def run(build, path, rounds, mode):
    """Cases of one bench."""
    words = [os.path.join(build, "bench", path)]
    if rounds is not None:
        words += (["--quick", "--reps=1"] if mode == "quick"
                  else [f"--reps={rounds}"])
    print(datetime.datetime.now().strftime("%X"), path, *words[1:],
          file=sys.stderr)
    folder = os.path.abspath(build)
    done = subprocess.run(
        words, stdout=subprocess.PIPE, text=True, check=False,
        env={**os.environ, "ADSM_MODELS": "off",
             "LD_LIBRARY_PATH": os.path.join(folder, "tools", "softcuda"),
             "PRELOAD": os.path.join(folder, "interpose",
                                     "libadsm-preload.so")})
    if done.returncode != 0:
        sys.exit(f"{path}: exit status {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def kept(out, names):
    """Cases of benches that are not run now, by bench."""
    rows = {}
    if names:
        with open(out, encoding="utf-8") as file:
            for row in map(json.loads, file):
                if "figure" not in row:
                    rows.setdefault("bench_" + row["bench"], []).append(row)
    return rows


def main():
    mode, build, out, *names = sys.argv[1:]
    before, rows, old = os.getloadavg()[0], [], kept(out, names)
    for path, rounds in BENCHES:
        name = os.path.basename(path)
        if names and name not in names:
            rows += old.get(name, old.get(f"bench_{name}", []))
        else:
            rows += run(build, path, rounds, mode)
    rounds = {os.path.basename(path): count for path, count in BENCHES}
    machine.write_lines(out, [machine.head(mode, before, rounds=rounds)] +
                        rows)


if __name__ == "__main__":
    main()
