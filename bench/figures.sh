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
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
. tools/lib/packages.sh

mode=full
build=build
for word in "$@"; do
    case $word in
    --quick | --draw) mode=${word#--} ;;
    -*) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2 ;;
    *) build=$word ;;
    esac
done

packages_install figures
if [ "$mode" != draw ]; then
    [ -f "$build/build.ninja" ] ||
        meson setup "$build" --buildtype=release >/dev/null
    ninja -C "$build" programs >/dev/null
    python3 bench/figures/measure.py "$mode" "$build" docs/figures.json
fi
python3 bench/figures/tables.py docs/figures.json docs/figures.md
python3 bench/figures/plots.py docs/figures.json docs
