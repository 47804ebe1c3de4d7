#!/bin/sh
# libsigsegv's dispatcher crashes when one thread registers an area while
# another one faults: no object file of the runtime may use it.
#
# usage: no_dispatcher.sh LIBRARY...
command -v nm >/dev/null || exit 77
if nm "$@" | grep -E ' U sigsegv_(register|unregister|dispatch)'; then
    echo "the functions above must not be called" >&2
    exit 1
fi
