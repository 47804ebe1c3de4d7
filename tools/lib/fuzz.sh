#!/bin/sh
# Search with the fuzz targets of a build that has them.
#
#   fuzz.sh BUILD SECONDS [TARGET...]     all targets, SECONDS each,
#                                         one beside another
#
# BUILD was made by
#   CC=clang meson setup BUILD -Dfuzz=enabled -Dtests=enabled \
#       -Db_sanitize=address,undefined -Db_lundef=false \
#       -Dc_args=-fsanitize=fuzzer-no-link && ninja -C BUILD fuzzers
#
# One line a target says how many inputs ran and how many places of the code
# they reached. What an input did wrong is in BUILD/fuzz/TARGET.log, the input
# beside it; made smaller (TARGET -minimize_crash=1) it belongs into
# tests/fuzz/corpus/TARGET. New inputs are kept in BUILD/fuzz/TARGET, from where
# the next search goes on. FUZZ_NEW=1 starts anew each time. Status 1: something
# was found.
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
[ $# -ge 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$1
seconds=$2
shift 2
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1

# What a target needs besides: its folder of seeds, the words of its language.
more_of()
{
    seeds=$build/tests/fuzz/seeds
    case $1 in
    access | softcuda_ptx)
        echo "-max_len=6000 -dict=$seeds/ptx.dict $seeds/ptx" ;;
    fatbin) echo "-max_len=6000 $seeds/fatbin" ;;
    *) echo "-max_len=1000" ;;
    esac
}

# search TARGET: one line on stdout. Status 1: something was found.
search()
{
    kept=$build/fuzz/$1
    log=$kept.log
    [ -z "${FUZZ_NEW:-}" ] || rm -rf "$kept"
    mkdir -p "$kept"
    # shellcheck disable=SC2046 # one word per option is meant
    if "$build/tests/fuzz/fuzz_$1" -max_total_time="$seconds" \
        -timeout=20 -close_fd_mask=2 -print_final_stats=1 \
        -artifact_prefix="$kept-" "$kept" "$root/tests/fuzz/corpus/$1" \
        $(more_of "$1") >"$log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        places=$(sed -n 's/.*DONE *cov: \([0-9]*\).*/\1/p' "$log")
        echo "$1: $runs inputs, $places places, nothing found"
    else
        # At once: the lines of two targets do not mix.
        printf '%s: FOUND: %s\n  %s, log %s\n' "$1" "$(grep -m1 -E \
            'runtime error|not so:|^SUMMARY' "$log" || tail -n 1 "$log")" \
            "$(sed -n 's/.*Test unit written to //p' "$log")" "$log"
        return 1
    fi
}

# As many as there are processors at a time: each takes one, and all take as
# long.
found=0
searching=
pause()
{
    for job in $searching; do
        wait "$job" || found=1
    done
    searching=
}

[ $# -gt 0 ] || for file in "$root"/tests/fuzz/fuzz_*.c; do
    file=${file##*/fuzz_}
    set -- "$@" "${file%.c}"
done
begun=0
for target in "$@"; do
    search "$target" &
    searching="$searching $!"
    begun=$((begun + 1))
    [ $((begun % $(nproc))) -ne 0 ] || pause
done
pause
exit "$found"
