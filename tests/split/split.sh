#!/bin/sh
# Whether a program comes to the same result however its calls are split.
#
#   tests/split/split.sh [--parts LIST] [--devices LIST] [--files] [--] PROGRAM [WORD ...]
#
# Runs the program in an empty folder once for each number of parts
# (ADSM_PARTS; default 1 to 17) on each number of software devices
# (SOFTCUDA_DEVICES; default 1 to 4) and compares what it prints and the files
# it leaves there with those of the first run. Numbers are separated by commas;
# `cpu` among those of devices is the processors instead (ADSM_DEVICES=cpu), `both`
# the processors beside one device.
# A kernel that reads beyond what its device has is an error (SOFTCUDA_STRICT).
# --files: the program prints what differs from run to run, such as times: only
# its files are compared.
#
# Ends with 0; 1 when a run fails, results differ, or nothing was split (the
# devices ran no more kernels for more parts); 2 for bad arguments.
set -u
export LC_ALL=C
parts=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 devices=1,2,3,4 files=no

die()
{
    echo "split.sh: $*; see --help" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --parts | --devices)
        [ $# -gt 1 ] || die "$1 wants a list of numbers"
        case $(echo "$2" | sed 's/\<\(cpu\|both\)\>/0/g') in
        *[!0-9,]* | '') die "'$2' is no list of numbers" ;;
        esac
        eval "${1#--}=\$2"
        shift ;;
    --files) files=yes ;;
    --help | -h) sed -n '2,19s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --) shift; break ;;
    -*) die "there is no option '$1'" ;;
    *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || die "names no program"
program=$1
shift
case $program in
*/*) program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program") ;;
esac

folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT

# run PARTS DEVICES WORD...: the program's files in run/, its words beside it.
run()
{
    name="parts=$1 devices=$2"
    rm -rf "$folder/run"
    mkdir "$folder/run"
    at=$1 on=$2
    shift 2
    case $on in
    cpu) where=ADSM_DEVICES=cpu ;;
    both) where=ADSM_DEVICES=0,cpu ;;
    *) where=SOFTCUDA_DEVICES=$on ;;
    esac
    (cd "$folder/run" && env "$where" ADSM_PARTS="$at" \
        SOFTCUDA_STATS=1 SOFTCUDA_STRICT=1 "$program" "$@") \
        >"$folder/out" 2>"$folder/err" && return 0
    echo "$name: failed: $(grep -v '^softcuda: ' "$folder/err" | tail -n 1)"
    return 1
}

# Kernels that the devices ran in the last run.
launches()
{
    awk '/^softcuda: [^ ]+ [0-9]+ launches,/ { n += $3 } END { print n + 0 }' \
        "$folder/err"
}

# The first run is kept; whether another one is like it.
compare()
{
    if [ ! -d "$folder/first" ]; then
        mv "$folder/run" "$folder/first"
        mv "$folder/out" "$folder/first-out"
    elif ! diff -r "$folder/first" "$folder/run" >/dev/null; then
        echo "$name: files differ from the first run's"
        return 1
    elif [ "$files" = no ] && ! cmp -s "$folder/first-out" "$folder/out"; then
        echo "$name: prints something else than the first run"
        return 1
    fi
}

status=0 runs=0 fewest='' most=0
for on in $(echo "$devices" | tr , ' '); do
    for at in $(echo "$parts" | tr , ' '); do
        runs=$((runs + 1))
        if ! run "$at" "$on" "$@" || ! compare; then
            status=1
            continue
        fi
        now=$(launches)
        [ -n "$fewest" ] || fewest=$now
        [ "$now" -ge "$fewest" ] || fewest=$now
        [ "$now" -le "$most" ] || most=$now
    done
done
echo "$(basename "$program"): $runs runs, ${fewest:-0} to $most kernels"
case $parts in
*,*)
    if [ "${fewest:-0}" -ge "$most" ]; then
        echo "nothing was split: every run had $most kernels"
        status=1
    fi ;;
esac
exit $status
