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
    # What the figures need, by the names the build has for it.
    targets=$(ninja -C "$build" -t targets all | sed -n \
        -e 's/^\(bench\/parboil\/[a-z_-]*\): .*_LINKER.*/\1/p' \
        -e 's/^\(bench\/wave\/\(wave[a-z_-]*\)\): .*_LINKER.*/\1/p' \
        -e 's/^\(tools\/adsm-run\): .*/\1/p' \
        -e 's/^\(subprojects\/softcuda\/softcuda-device\): .*/\1/p' \
        -e 's/^\(subprojects\/softcuda\/libcuda.so.1\): .*/\1/p' \
        -e 's/^\(interpose\/libadsm-preload.so\): .*/\1/p')
    # shellcheck disable=SC2086 # one word per target is meant
    ninja -C "$build" $targets >/dev/null
    python3 bench/figures/measure.py "$mode" "$build" docs/figures.json
fi
python3 bench/figures/tables.py docs/figures.json docs/figures.md
python3 bench/figures/plots.py docs/figures.json docs
