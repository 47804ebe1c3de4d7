#!/bin/sh
# beside.sh BENCHMARK SIZE   whether a benchmark gives the same bytes on this
# machine's device and on the software device. From check.py: build, softcuda,
# libraries.
set -u

# digest BENCHMARK WORD...: of its result, as adsm-bench says it.
digest()
{
    "$build/bench/parboil/adsm-bench" --json --quiet --no-verify \
        --form explicit "$@" | sed -n 's/.*"digest":"\([^"]*\)".*/\1/p'
}

here=$(digest "$1" --size "$2" --real)
there=$(LD_LIBRARY_PATH=$softcuda:$libraries digest "$1" --size "$2")
echo "this device: ${here:-no result}; software device: ${there:-no result}"
[ -n "$here" ] && [ "$here" = "$there" ]
