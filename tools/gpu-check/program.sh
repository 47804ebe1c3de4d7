#!/bin/sh
# program.sh PROGRAM PRELOAD NVCC WORD...   make a CUDA program with this
# machine's nvcc, then see that it prints the same and ends alike bare and
# preloaded under each protocol, and where `beside` is a folder with the software
# device also on that. Skipped (77) where nvcc refuses it, or where it skips
# itself.
set -u
program=$1 preload=$2
shift 2
"$@" -o "$program" >"$program.nvcc" 2>&1 || {
    cat "$program.nvcc"
    echo "this nvcc does not compile it: $(grep -m1 error "$program.nvcc")"
    exit 77
}
ldd "$program" | sed -n 's/^[[:space:]]*\(libcudart.*\) (.*/note: run-time library \1/p'
timeout 60 "$program" >"$program.bare" 2>"$program.err" </dev/null
want=$?
cat "$program.bare" "$program.err"
echo "bare: status $want"
[ "$want" -ne 77 ] || exit 77
[ "$want" -eq 0 ] || exit 1
differ=0

# compare NAME STATUS: what was printed with what the bare run did.
compare()
{
    [ "$2" -ne "$want" ] || ! cmp -s "$program.bare" "$program.got" || return
    diff "$program.bare" "$program.got" | head -n 10
    cat "$program.err"
    echo "$1: differs from the bare run, status $2"
    differ=1
}

for protocol in batch lazy rolling; do
    ADSM_PROTOCOL=$protocol LD_PRELOAD=$preload timeout 60 "$program" \
        >"$program.got" 2>"$program.err" </dev/null
    compare "$protocol" $?
done
if [ -n "${beside:-}" ]; then
    LD_LIBRARY_PATH=$beside timeout 60 "$program" \
        >"$program.got" 2>"$program.err" </dev/null
    compare 'software device' $?
fi
exit "$differ"
