#!/bin/sh
# What dlsym and dlvsym run before they answer may call nothing that a program
# or another preloaded library can have put its own function before: a wrapper
# that looks up what is behind itself would call in circles.
#
# usage: calls_only_own.sh LIBRARY
#     LIBRARY holds the objects of that path and nothing else
command -v readelf >/dev/null || exit 77
calls=$(LC_ALL=C readelf -rW "$1" |
        sed -n 's/.*_\(PLT32\|CALL26\|JUMP26\) .* \([a-zA-Z_][a-zA-Z0-9_]*\).*/\2/p' |
        sort -u)
[ -n "$calls" ] || { echo "no calls found in $1" >&2; exit 1; }
# Making the thread uncancellable belongs to cuGetProcAddress.
foreign=$(printf '%s\n' "$calls" |
          grep -vE '^(adsm_|hook_|cuda_|cuGetProc|pthread_setcancel(state|type)$)')
[ -z "$foreign" ] || { echo "calls of $foreign" >&2; exit 1; }
