#!/bin/sh
# Turn one .cu file into PTX, without the CUDA SDK: in the subset of CUDA that
# adsm_device.h has.
#
#   tools/ptx.sh in.cu out.ptx      write out.ptx
#   tools/ptx.sh --check in.cu out.ptx   exit 0 if out.ptx is current, 1 if
#                                   not, 77 if no clang 14 or newer is here
#
# CLANG names the compiler. Floating point is contracted only where the source
# says fma, so every device computes the same bits. Installed, it is adsm-ptx.
set -eu
headers=cuda # from here; tools/meson.build changes it

name=${0##*/}
check=no
if [ "${1:-}" = --check ]; then
    check=yes
    shift
fi
if [ $# -ne 2 ]; then
    echo "usage: $0 [--check] in.cu out.ptx" >&2
    exit 2
fi
here=$(dirname -- "$(readlink -f -- "$0")")
if [ ! -r "$1" ]; then
    echo "$name: cannot read '$1'" >&2
    exit 2
fi

clang=${CLANG:-clang}
version=$("$clang" -dumpversion 2>/dev/null | cut -d. -f1) || version=0
if [ "${version:-0}" -lt 14 ]; then
    echo "$name: '$clang' is not clang 14 or newer (set CLANG)" >&2
    if [ $check = yes ]; then exit 77; else exit 2; fi
fi

# Comments carry the producer's name and version; the rest is the program.
compile() {
    "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 \
        -nocudainc -nocudalib --cuda-path=/dev/null -I"$here/$headers" \
        -Wall -Wextra -Werror -Wno-unused-command-line-argument \
        -ffp-contract=off -O3 -S -o - "$1" |
        sed -e '/^\/\//d' -e 's/[[:space:]]*\/\/.*$//' -e '/^$/d'
}

if [ $check = no ]; then
    compile "$1" >"$2.tmp"
    # The pipe hides clang's status; a failed run prints nothing.
    if [ ! -s "$2.tmp" ]; then
        rm -f "$2.tmp"
        echo "$name: '$1' does not compile" >&2
        exit 1
    fi
    mv "$2.tmp" "$2"
    exit 0
fi
new=$(mktemp)
trap 'rm -f "$new"' EXIT
compile "$1" >"$new"
# Another clang may number registers and pick instructions otherwise; only the
# version the file was made with can say whether it is current.
if [ "$version" -ne 14 ]; then
    echo "$name: '$2' was made by clang 14, this is $version: not compared" >&2
    exit 77
fi
if ! cmp -s "$new" "$2"; then
    echo "$name: '$2' is not what '$1' compiles to now; run" \
        "$0 $1 $2" >&2
    exit 1
fi
