#!/bin/sh
# same.sh PROGRAM PRELOAD: whether a program prints the same and ends alike bare
# and preloaded under each protocol. Skipped (77) where it skips itself.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
timeout 60 "$1" >"$folder/bare" 2>"$folder/bare.err" </dev/null
want=$?
cat "$folder/bare" "$folder/bare.err"
echo "bare: status $want"
[ "$want" -ne 77 ] || exit 77
[ "$want" -eq 0 ] || exit 1
differ=0
for protocol in batch lazy rolling; do
    ADSM_PROTOCOL=$protocol LD_PRELOAD=$2 timeout 60 "$1" \
        >"$folder/got" 2>"$folder/got.err" </dev/null
    got=$?
    if [ "$got" -ne "$want" ] || ! cmp -s "$folder/bare" "$folder/got"; then
        diff "$folder/bare" "$folder/got" | head -n 10
        cat "$folder/got.err"
        echo "$protocol: differs from the bare run, status $got"
        differ=1
    fi
done
exit "$differ"
