#!/bin/sh
# beside.sh result BENCHMARK SIZE   whether a benchmark gives the same bytes
# beside.sh output PROGRAM          whether a program prints the same
#
# on this machine's device and on the software device. From gpu-check.sh: build,
# softcuda, libraries.
set -u

# digest BENCHMARK WORD...: of its result, as adsm-bench says it.
digest()
{
    "$build/bench/parboil/adsm-bench" --json --quiet --no-verify \
        --form explicit "$@" | sed -n 's/.*"digest":"\([^"]*\)".*/\1/p'
}

# on_soft COMMAND...: with the software device's libraries.
on_soft()
{
    LD_LIBRARY_PATH=$softcuda:$libraries "$@"
}

case $1 in
result)
    here=$(digest "$2" --size "$3" --real)
    there=$(digest "$2" --size "$3")
    echo "this device: ${here:-no result}; software device: ${there:-no result}"
    [ -n "$here" ] && [ "$here" = "$there" ] ;;
output)
    "$2" >"$2.here" 2>&1 </dev/null
    on_soft "$2" >"$2.soft" 2>&1 </dev/null
    diff "$2.here" "$2.soft" ;;
esac
