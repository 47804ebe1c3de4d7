#!/bin/sh
# Whether libadsm works with this machine's CUDA driver, how fast it is, and what
# to report where it does not.
#
#   tools/gpu-check.sh [--quick] [--soft] [--out DIR] [--build DIR] [STEP ...]
#   tools/gpu-check.sh --pack FILE.tar.gz | --files [--build DIR]
#
# Steps, in this order, all of them when none is named:
#   facts      driver, device, toolkit, kernel, limits of this machine
#   addresses  what the driver does with addresses; every way to share them
#   preload    the suites of the preload library; programs of this machine's nvcc
#   kernels    PTX and whole programs beside the software device, bit for bit
#   speed      the benchmarks and benches, beside copies by hand and managed memory
# An item that fails or takes too long stops nothing. DIR (default: gpu-check-out)
# gets a log of each item, results.jsonl, and hardware.md: a section for
# docs/hardware.md, which ends with what failed and how to repeat it.
#
# --quick     fewer programs, smaller inputs, one round
# --soft      the software device in place of the driver: tries out this script
# --build     what `meson setup` and `ninja` made (default: build)
# --pack      write an archive with all that is needed on a machine that has a
#             driver and nothing of this: unpack it there and run this script
# --files     say what that archive would have
#
# Ends with 0; 1 when an item failed; 2 for bad arguments; 77 without a device.
set -u
export LC_ALL=C
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
here=$root/tools/gpu-check
for part in record facts addresses preload kernels speed; do
    . "$here/$part.sh"
done

die()
{
    echo "gpu-check.sh: $*; see --help" >&2
    exit 2
}

# link_libraries: in $libraries, those of the archive that the loader would not
# find here.
link_libraries()
{
    mkdir -p "$libraries"
    PATH=$PATH:/usr/sbin:/sbin ldconfig -p >"$out/ldconfig" 2>/dev/null
    for library in "$root"/lib/*.so.*; do
        [ ! -e "$library" ] ||
            grep -q "^[[:space:]]*$(basename "$library") " "$out/ldconfig" ||
            ln -sf "$library" "$libraries/"
    done
    rm -f "$out/ldconfig"
}

quick=no soft=no files=no out=gpu-check-out build=$root/build pack='' steps=''
while [ $# -gt 0 ]; do
    case $1 in
    --quick | --soft | --files) eval "${1#--}=yes" ;;
    --out | --build | --pack)
        [ $# -gt 1 ] || die "$1 wants a value"
        eval "${1#--}=\$2"
        shift ;;
    --help | -h) sed -n '2,28s/^# \{0,1\}//p' "$0"; exit 0 ;;
    facts | addresses | preload | kernels | speed) steps="$steps $1" ;;
    *) die "'$1' is no step and no option" ;;
    esac
    shift
done
case "$root$build$PWD$out" in
*[[:space:]]*) die "folders with white space in their names do not work here" ;;
esac
case $build in /*) ;; *) build=$PWD/$build ;; esac
[ -x "$build/tools/adsm-run" ] ||
    die "'$build' holds no build: meson setup build && ninja -C build"
if [ "$files" = yes ]; then
    exec python3 "$here/pack.py" --files "$root" "$build"
elif [ -n "$pack" ]; then
    exec python3 "$here/pack.py" "$root" "$build" "$pack"
fi
[ -x "$build/tools/gpu-check/gpu-probe" ] ||
    die "'$build' was built without tests and tools: ninja -C $build"

size=medium reps=7
[ "$quick" = no ] || size=small reps=1
record_begin "$out"
tests=$root/tools/gpu-check/tests
if [ ! -f "$tests" ]; then
    tests=$out/tests
    python3 "$here/pack.py" --tests "$root" "$build" >"$tests" ||
        die "cannot list the tests of '$build'"
fi

# Where the driver is found, and which of the archive's libraries are needed: the
# machine's own go before them, since its compiler uses some of them as well.
softcuda=$build/tools/softcuda
libraries=$out/lib
export build softcuda libraries
device=${LD_LIBRARY_PATH:-}
[ "$soft" = no ] || device=$softcuda
export LD_LIBRARY_PATH="${device:+$device:}$libraries"
link_libraries
unset LD_PRELOAD

echo "gpu-check: libadsm of $build, $([ "$soft" = yes ] &&
    echo the software device || echo "the CUDA driver of this machine")"
"$build/tools/gpu-check/gpu-probe" --table driver >"$out/logs/driver" 2>&1
if [ $? -eq 77 ]; then
    tail -n 1 "$out/logs/driver"
    echo "gpu-check: no CUDA device here; --soft tries out the software device"
    exit 77
fi
for name in ${steps:-facts addresses preload kernels speed}; do
    record_step "$name"
    "step_$name"
done
record_end
