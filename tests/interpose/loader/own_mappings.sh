#!/bin/sh
# The runtime changes mappings by number (libadsm/base/system.h): others write over
# the functions, and what they do then must not run while a fault is answered. Nor
# does it call what it exports itself of them. Other names of those (hook_alias.S)
# are jumps to them, so that who writes over one has them all.
#
# usage: own_mappings.sh LIBRARY
#     LIBRARY holds the objects of the runtime and nothing else
command -v readelf >/dev/null || exit 77
calls=$(LC_ALL=C readelf -rW "$1" |
        sed -e '/^File: .*hook_alias/,/^File: /d' |
        sed -n 's/.*_\(PLT32\|CALL26\|JUMP26\) .* \([a-zA-Z_][a-zA-Z0-9_]*\).*/\2/p' |
        sort -u)
printf '%s\n' "$calls" | grep -qx syscall ||
    { echo "no calls found in $1" >&2; exit 1; }
found=$(printf '%s\n' "$calls" |
        grep -xE '(mmap|mmap64|munmap|mremap|mprotect|pkey_mprotect|madvise|posix_madvise|process_madvise|brk|sbrk|shmat|shmdt|mlock|mlock2|munlock|mlockall|msync|mincore)')
[ -z "$found" ] || { echo "calls of $found" >&2; exit 1; }
