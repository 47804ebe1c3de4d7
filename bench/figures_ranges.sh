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
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
. tools/lib/packages.sh

mode=full
build=build
only=
for word in "$@"; do
    case $word in
    --quick | --draw) mode=${word#--} ;;
    --only) only=next ;;
    -*) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2 ;;
    *) if [ "$only" = next ]; then only=$word; else build=$word; fi ;;
    esac
done

packages_install figures
if [ "$mode" != draw ]; then
    [ -f "$build/build.ninja" ] ||
        meson setup "$build" --buildtype=release >/dev/null
    ninja -C "$build" programs >/dev/null
    python3 bench/figures/ranges_measure.py "$mode" "$build" \
        docs/figures_ranges.json ${only:+"$only"}
fi
python3 bench/figures/ranges_tables.py docs/figures_ranges.json \
    docs/figures_ranges.md
python3 bench/figures/ranges_plots.py docs/figures_ranges.json docs
