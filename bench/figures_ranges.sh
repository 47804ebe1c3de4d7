#!/bin/sh
# Measure the figures of the papers on several devices, boxes and pipelines
# again, and draw them.
#
#   bench/figures_ranges.sh [--quick] [--draw] [--only BENCH] [BUILD-FOLDER]
#
# Installs gnuplot where it is missing, builds, runs the benches on software
# devices with links and paces of their own, and writes docs/figures_ranges.json
# (one measured case a line), the tables between the markers of
# docs/figures_ranges.md, and docs/ranges-*.svg and .png. --quick takes small
# sizes and one round; --draw measures nothing and draws what there is; --only
# measures one bench (bench_fold, ...) again. The folder is build by default.
set -eu
. "$(dirname -- "$0")/figures/figures.sh"
figures_make "$0" docs/figures_ranges ranges_ "$@"
