#!/bin/sh
# Compile refused.cc as often as it has mistakes, each of which is refused with
# these words, and once without.
#
#   test_refused.sh compiler folder-of-adsm.h refused.cc
set -u

compile() {
    "$compiler" -std=c++11 -Wall -Wextra -Werror -fsyntax-only \
        -I "$include" -DREFUSED="$1" "$source" 2>&1
}

refuses() {
    if said=$(compile "$1"); then
        echo "refused.cc compiles with -DREFUSED=$1" >&2
        exit 1
    fi
    case $said in
    *"$2"*) ;;
    *)
        echo "refused.cc with -DREFUSED=$1: no '$2' in: $said" >&2
        exit 1
        ;;
    esac
}

compiler=$1 include=$2 source=$3
if ! said=$(compile 0); then
    echo "$said" >&2
    exit 1
fi
refuses 1 "adsmVal keeps values of up to 40 bytes"
refuses 2 "delete"
