#!/bin/sh
# Make Debian packages, check them, and use them as one who has nothing else.
#
#   tools/package.sh [--suite bookworm,trixie] [--here] [FOLDER]
#
# Packages and logs are left in FOLDER (default: build-package), for each release
# of Debian in a folder of its name; the default is the release that runs here.
# Each release is had by mmdebstrap from where this machine's apt gets its own,
# once with what is needed to build and once with the packages alone, where
# tests/tools/try_installed.sh and the commands of docs/building.md are run. Where
# that cannot be, and with --here, they are built here and are not installed.
# Ends with 77 where there is nothing that makes packages.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
export LC_ALL=C
. tools/lib/packages.sh

say()
{
    echo "package: $*"
}

suites=
here=no
out=build-package
while [ $# -gt 0 ]; do
    case $1 in
    --suite) suites=${2:?--suite needs a name} && shift ;;
    --here) here=yes ;;
    --help | -h) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "package.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
    *) out=$1 ;;
    esac
    shift
done
packages_install package || say "going on without the above"
command -v dpkg-buildpackage >/dev/null 2>&1 || {
    say "packages are made on Debian: there is no dpkg-buildpackage" >&2
    exit 77
}
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-unknown}")
version=$(dpkg-parsechangelog -S Version)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"
out=$(cd -- "$out" && pwd)

# quietly LOG COMMAND...: run it; show what it said where it fails.
quietly()
{
    log=$1
    shift
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 40 "$log" | sed 's/^/    | /' >&2
        say "failed: $1 (whole log: $log)" >&2
        exit 1
    fi
}

# source_in FOLDER: the tree as it is here, without what is built.
source_in()
{
    mkdir -p "$1"
    if git ls-files -z -co --exclude-standard >"$scratch/files" 2>/dev/null
    then
        tar --null --ignore-failed-read -T "$scratch/files" -c | tar -x -C "$1"
    else
        tar --exclude='./build*' --exclude="$out" -c . | tar -x -C "$1"
    fi
}

# bootstrap SUITE OPTION... TARGET: mmdebstrap, with sources and apt as here.
bootstrap()
{
    suite=$1
    shift
    cat /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources \
        2>/dev/null | sed "s/\b$release\b/$suite/g" >"$scratch/apt.sources"
    apt-config dump Acquire >"$scratch/apt.conf"
    mmdebstrap --variant=minbase --format=null --aptopt="$scratch/apt.conf" \
        "$@" "$suite" /dev/null "$scratch/apt.sources"
}

# no_system_of SUITE: why there can be none; nothing where there can.
no_system_of()
{
    if [ "$here" = yes ]; then
        echo "asked not to"
    elif ! command -v mmdebstrap >/dev/null 2>&1; then
        echo "mmdebstrap is not installed"
    elif ! bootstrap "$1" --simulate >"$scratch/log" 2>&1 </dev/null; then
        echo "mmdebstrap cannot make one: $(grep '^E: ' "$scratch/log" |
            head -n 1)"
    fi
}

# what_lintian_says FOLDER: its errors fail; how many of the rest there are.
what_lintian_says()
{
    if ! command -v lintian >/dev/null 2>&1; then
        say "skipped: lintian is not installed"
        return 0
    fi
    lintian --allow-root --fail-on error --display-info "$1"/*.changes \
        >"$1/lintian.log" 2>&1 || {
        sed 's/^/    | /' "$1/lintian.log"
        say "failed: lintian" >&2
        exit 1
    }
    say "lintian: $(grep -c '^E:' "$1/lintian.log" || true) errors," \
        "$(grep -c '^W:' "$1/lintian.log" || true) warnings"
    grep '^W:' "$1/lintian.log" | sed 's/^/    /' || true
}

# build_here FOLDER WHY: with what is installed.
build_here()
{
    say "building here, not in a system of its own: $2"
    source_in "$1/libadsm-$version"
    cd "$1/libadsm-$version"
    quietly "$1/build.log" dpkg-buildpackage -us -uc -b
    cd "$root"
    rm -rf "$1/libadsm-$version"
    say "skipped: installing them, as there is no system to do it in"
}

# build_in SUITE FOLDER: with nothing but what debian/control says.
build_in()
{
    say "building for $1, with Build-Depends alone"
    source_in "$2/libadsm-$version"
    quietly "$2/build.log" bootstrap "$1" --include=build-essential,fakeroot \
        --customize-hook="copy-in '$2/libadsm-$version' /root" \
        --customize-hook='chroot "$1" sh -ec "
            cd /root/libadsm-*
            apt-get -y --no-install-recommends build-dep ./
            dpkg-buildpackage -us -uc -b
            rm -rf /root/libadsm-*.*.*/
            mkdir /root/made
            mv /root/*.deb /root/*.changes /root/*.buildinfo /root/made"' \
        --customize-hook="sync-out /root/made '$2'"
    rm -rf "$2/libadsm-$version"
}

# use_in SUITE FOLDER: install them where nothing else is, and use them.
use_in()
{
    say "installing and using them in a system that has nothing else"
    mkdir -p "$2/use/docs" "$2/use/debs"
    cp "$2"/*.deb "$2/use/debs"
    cp -R docs/examples docs/building.md "$2/use/docs"
    cp tests/tools/try_installed.sh "$2/use"
    sed -n '/^## Installing$/,/^## /s/^    \(cc \|adsm-\)/\1/p' \
        docs/building.md >"$2/use/commands"
    quietly "$2/use.log" bootstrap "$1" \
        --customize-hook="copy-in '$2/use' /root" \
        --customize-hook='chroot "$1" sh -ec "
            install=\"apt-get -y --no-install-recommends install\"
            cd /root/use
            \$install ./debs/*.deb
            if ldconfig -p | grep libcuda; then exit 1; fi
            adsm-run --soft adsm-info --devices
            \$install gcc libc6-dev pkg-config cmake make
            ./try_installed.sh docs/examples
            \$install python3 clang man-db
            ./try_installed.sh docs/examples
            sh -ex ./commands
            apt-get -y purge libadsm0 softcuda
            test ! -e /usr/bin/adsm-run"'
    rm -rf "$2/use"
    grep -E '^(works|skipped)|^\+ ' "$2/use.log" | sort -u | sed 's/^/    /'
}

for suite in $(echo "${suites:-$release}" | tr , ' '); do
    folder=$out/$suite
    rm -rf "$folder"
    mkdir -p "$folder"
    why=$(no_system_of "$suite")
    if [ -z "$why" ]; then
        build_in "$suite" "$folder"
    elif [ "$suite" = "$release" ]; then
        build_here "$folder" "$why"
    else
        say "skipped: no system of $suite: $why"
        continue
    fi
    what_lintian_says "$folder"
    [ -n "$why" ] || use_in "$suite" "$folder"
    say "made: $(cd -- "$folder" && echo *.deb)"
done
