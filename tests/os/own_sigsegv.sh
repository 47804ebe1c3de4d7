#!/bin/sh
# A program may use libsigsegv itself. What is ours must bring its own copy:
# not load the program's, not call it, and not be called instead of it.
#
# usage: own_sigsegv.sh FILE...
command -v nm >/dev/null && command -v readelf >/dev/null || exit 77
failed=0
for file in "$@"; do
    dynamic=$(readelf -d "$file") && symbols=$(nm -D "$file") || exit 99
    if echo "$dynamic" | grep 'NEEDED.*sigsegv' ||
        echo "$symbols" | grep -E ' (sigsegv|stackoverflow)_'; then
        echo "$file: shares libsigsegv with the program" >&2
        failed=1
    fi
done
exit $failed
