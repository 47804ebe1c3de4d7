#!/bin/sh
# The C compiler with less effort: without vector instructions the text of a
# warp operation is long, and what it computes is what counts here.
exec cc "$@" -O1
