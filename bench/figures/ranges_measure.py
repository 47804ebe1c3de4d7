"""Run the benches of several devices: what bench/figures_ranges.sh does.

    ranges_measure.py quick|full BUILD-FOLDER OUT.json

Every line of the output is one case as its bench printed it; the first says
where, when and how. The output is written only when all of it is there.
"""
import json
import os
import subprocess
import sys

import machine

# Below the folder bench, and rounds of a full run. table1 counts bytes, which
# are the same each time.
BENCHES = [("micro/bench_boxes", 3), ("micro/bench_spread", 3),
           ("micro/bench_pipeline", 1), ("softcuda/bench_engines", 3),
           ("stream/bench_stream", 3), ("ranges/bench_by_hand", 3),
           ("ranges/bench_oversize", 1), ("ranges/containers/table1", None),
           ("ranges/containers/bench_containers", 1)]


def run(build, path, rounds, mode):
    """Cases of one bench."""
    words = [os.path.join(build, "bench", path)]
    if rounds is not None:
        words += (["--quick", "--reps=1"] if mode == "quick"
                  else [f"--reps={rounds}"])
    print(path, *words[1:], file=sys.stderr)
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{path}: exit status {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    mode, build, out = sys.argv[1:]
    before, rows = os.getloadavg()[0], []
    for path, rounds in BENCHES:
        rows += run(build, path, rounds, mode)
    rounds = {os.path.basename(path): count for path, count in BENCHES}
    machine.write_lines(out, [machine.head(mode, before, rounds=rounds)] +
                        rows)


if __name__ == "__main__":
    main()
