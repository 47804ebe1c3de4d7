#!/bin/sh
# Whether libadsm works with this machine's CUDA driver, how fast it is, and what
# to report where it does not. See --help; the program is tools/gpu-check/check.py.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
command -v python3 >/dev/null || {
    echo "gpu-check.sh: needs python3" >&2
    exit 2
}
exec python3 "$here/gpu-check/check.py" "$@"
