#!/bin/sh
# Measure figures 7 to 12 of the paper again, and draw them.
#
#   bench/figures.sh [--quick] [--draw] [BUILD-FOLDER]      (default: build)
#
# Installs gnuplot where it is missing, builds, runs the benchmarks on the
# software device, and writes docs/figures.json (one measured case a line), the
# tables between the markers of docs/figures.md, and docs/figNN.svg and .png.
# --quick measures fewer rounds (some minutes); --draw measures nothing and
# draws what docs/figures.json has.
set -eu
. "$(dirname -- "$0")/figures/figures.sh"
figures_make "$0" docs/figures '' "$@"
