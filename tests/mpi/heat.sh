#!/bin/sh
# The example of docs/mpi.md: any number of ranks and devices gives the same
# bytes.
#
#   heat.sh openmpi|mpich adsm-run heat_mpi heat.ptx
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
library=$1
start=$2
program=$3
code=$4
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0
for ranks in 1 3 4; do
    "$here/run.sh" "$library" "$ranks" "$start" --soft="$((ranks % 2 + 1))" \
        "$program" "$code" "$folder/$ranks"
    status=$?
    [ "$status" = 77 ] && exit 77
    if [ "$status" != 0 ] || ! cmp "$folder/1" "$folder/$ranks"; then
        failed=$((failed + 1))
    fi
done
echo "$((failed ? 0 : 100))%: Checks: 3, Failures: $failed, Errors: 0"
[ "$failed" = 0 ]
