#!/bin/sh
# From a fresh checkout to the main example, on a machine without a GPU.
#
#   tools/quickstart.sh [BUILD-FOLDER]      (default: build)
#
# Installs missing Debian packages, builds, runs the wave program in all its
# forms under every protocol on the software CUDA device. May be run again.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
. tools/lib/packages.sh

case ${1:-} in
--help | -h) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
-*) echo "quickstart.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
esac
build=${1:-build}
log=$build/quickstart.log

# step N TEXT: what happens next, in plain words.
step()
{
    printf '\n[%s/3] %s\n' "$1" "$2"
}

# quietly COMMAND...: run it; show what it said only when it fails.
quietly()
{
    if ! "$@" >>"$log" 2>&1 </dev/null; then
        tail -n 30 "$log" >&2
        echo "quickstart: failed: $*  (everything it said: $log)" >&2
        exit 1
    fi
}

step 1 "Packages: a C compiler, meson, and some libraries, from Debian."
packages_install build

step 2 "Build: the library, the software CUDA device, the tools, the example \
and the
      benchmarks, in $build/ (about two minutes the first time)."
mkdir -p "$build"
: >"$log"
[ -f "$build/build.ninja" ] ||
    quietly meson setup "$build" --buildtype=release
# What the pages have commands for; the tests come with the first `meson test`.
quietly ninja -C "$build" programs

step 3 "Example: sound waves through a block of rock, computed by the same \
CUDA kernel
      in programs with copies by hand (explicit), with those copies
      deleted (ported), and on adsm.h (adsm); then on adsm.h in parts on two
      devices (ranges). Seconds and bytes moved:"
echo
exec "$build/bench/wave/adsm-wave" --table
