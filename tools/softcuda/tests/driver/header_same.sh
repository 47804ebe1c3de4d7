#!/bin/sh
# Compare what two programs built against two headers print.
# Arguments: program of our header, program of the SDK's header (if any).
if [ $# -lt 2 ]; then
    echo "SKIP: no CUDA SDK installed"
    exit 77
fi
ours=$("$1") && sdk=$("$2") || exit 1
[ "$ours" = "$sdk" ] && exit 0
tmp=$(mktemp -d) || exit 1
printf '%s\n' "$ours" >"$tmp/ours"
printf '%s\n' "$sdk" >"$tmp/sdk"
diff "$tmp/ours" "$tmp/sdk"
rm -r "$tmp"
exit 1
