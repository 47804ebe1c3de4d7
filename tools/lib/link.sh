#!/bin/sh
# link.sh TARGET NAME: NAME is a link to TARGET; a folder left there by an older
# build gives way.
set -eu
mkdir -p "$(dirname -- "$2")"
[ -L "$2" ] || rm -rf -- "$2"
ln -sfn -- "$1" "$2"
