"""Measure figures 7 to 12 of the paper: what bench/figures.sh runs.

    measure.py quick|full BUILD-FOLDER OUT.json

Every line of the output is one case of adsm-bench with the figure it belongs
to; the first line says where, when and how it was measured. The output is
written only when all of it is there.
"""
import json
import os
import subprocess
import sys
import tempfile

import machine

SEVEN = ["cp", "mri-fhd", "mri-q", "pns", "rpes", "sad", "tpacf"]
# A link of the paper's kind: PCIe 2.0 x16 has 8 GB/s in each direction.
LINK = "8GB/s"
STEP_BLOCKS = ["4K", "256K", "1M", "32M"]
VECADD_BLOCKS = ["4K", "8K", "16K", "32K", "64K", "128K", "256K", "512K",
                 "1M", "2M", "4M", "8M", "16M", "32M"]
SKY_BLOCKS = ["4K", "16K", "64K", "256K", "512K", "1M", "2M"]
SKY = ["points=512", "random_sets=300"]
# Rounds over all cases, and edges of the stencil's volumes.
ROUNDS = {"quick": {"seven": 5, "stencil": 2, "vecadd": 5, "sky": 3},
          "full": {"seven": 9, "stencil": 5, "vecadd": 9, "sky": 9}}
EDGES = {"quick": [64, 96, 128, 160], "full": [64, 96, 128, 160, 192, 256]}


class Measuring:
    def __init__(self, mode, build):
        self.mode = mode
        self.programs = os.path.join(build, "bench", "parboil")
        self.wave = os.path.join(build, "bench", "wave")
        self.rows = []

    def bench(self, figure, rounds, *words, **more):
        """Run adsm-bench; keep its rows under this figure."""
        command = [os.path.join(self.programs, "adsm-bench"), "--json",
                   "--reps", str(rounds), *words]
        print(f"figure {figure}: {' '.join(words)}", file=sys.stderr)
        # Rolling sizes are what the figures are about: they stay as given.
        env = {**os.environ, "ADSM_ROLLING_LEARN": "0",
               "ADSM_MODELS": "off"}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                              check=False, env=env)
        if done.returncode not in (0, 1):
            sys.exit(done.returncode)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            if "error" in row or not row["same"]:
                sys.exit(f"figure {figure}: {line}")
            self.rows.append({"figure": figure, **more, **row})

    def seven(self):
        rounds = ROUNDS[self.mode]["seven"]
        for link in LINK, "":
            words = ["--size", "medium", "--no-verify",
                     "--form", "explicit,naive,ported", *SEVEN, "vecadd"]
            if link:
                words += ["--link", link]
            self.bench("7", rounds, *words, link=link or "open")

    def stencil(self, folder):
        path = os.path.join(folder, "in.vol")
        for edge in EDGES[self.mode]:
            subprocess.run([os.path.join(self.wave, "wave-volume"), "--size",
                            f"{edge}x{edge}x{edge}", path], check=True,
                           stdout=subprocess.DEVNULL)
            self.bench("9", ROUNDS[self.mode]["stencil"], "--input", path,
                       "--form", "explicit,ported", "--protocol",
                       "lazy,rolling", "--block-size", ",".join(STEP_BLOCKS),
                       "--link", LINK, "stencil", edge=edge)

    def vecadd(self):
        self.bench("11", ROUNDS[self.mode]["vecadd"], "--size", "medium",
                   "--no-verify", "--form", "explicit,ported", "--protocol",
                   "lazy,rolling", "--block-size", ",".join(VECADD_BLOCKS),
                   "--link", LINK, "vecadd")

    def sky(self, folder):
        path = os.path.join(folder, "in.par")
        subprocess.run([os.path.join(self.programs, "parboil-data"), "tpacf",
                        "medium", path, *SKY], check=True)
        self.bench("12", ROUNDS[self.mode]["sky"], "--input", path,
                   "--no-verify", "--form", "explicit,ported", "--protocol",
                   "rolling", "--block-size", ",".join(SKY_BLOCKS),
                   "--rolling-size", "1,2,4,0", "--link", LINK, "tpacf")

    def all(self):
        with tempfile.TemporaryDirectory() as folder:
            self.seven()
            self.stencil(folder)
            self.vecadd()
            self.sky(folder)


def main():
    mode, build, out, *names = sys.argv[1:]
    if names:
        sys.exit("--only: these figures are measured together")
    measuring = Measuring(mode, build)
    before = os.getloadavg()[0]
    measuring.all()
    for row in measuring.rows:
        row.pop("size", None)
    head = machine.head(mode, before, link=LINK, rounds=ROUNDS[mode], sky=SKY)
    machine.write_lines(out, [head] + measuring.rows)


if __name__ == "__main__":
    main()
