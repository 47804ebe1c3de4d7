# Install the Debian packages of tools/packages that are missing.
#
# Sourced by tools/quickstart.sh and tools/check.sh. Owns the only calls of the
# package manager; never asks a question, never removes or upgrades anything.
#
# PACKAGES_DRY_RUN=1 prints what would be done and changes nothing.
# PACKAGES_LIST and PACKAGES_STATUS replace the list file and the query
# command (`PACKAGES_STATUS pkg` succeeds when pkg is installed).

packages_root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

# packages_of GROUP...: names of the packages in these groups, one a line.
packages_of()
{
    for group in "$@"; do
        awk -v g="$group" '$1 == g { print $2 }' \
            "${PACKAGES_LIST:-$packages_root/tools/packages}"
    done
}

# packages_have PACKAGE: succeeds when it is installed.
packages_have()
{
    if [ -n "${PACKAGES_STATUS:-}" ]; then
        "$PACKAGES_STATUS" "$1"
    else
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" \
            = installed ]
    fi
}

# packages_missing GROUP...: the packages of these groups not yet installed.
packages_missing()
{
    for package in $(packages_of "$@"); do
        packages_have "$package" || printf '%s\n' "$package"
    done
}

# packages_by_hand PACKAGE...: what to do when we may not install, on stderr.
packages_by_hand()
{
    printf '%s\n' "Have them installed, then run this command again:" \
        "    apt-get update && apt-get install $*" >&2
}

# packages_run COMMAND...: as root, directly or through sudo, which may ask for
# a password only where somebody sits at a terminal.
packages_run()
{
    if [ "$(id -u)" -eq 0 ]; then
        DEBIAN_FRONTEND=noninteractive "$@" </dev/null
    elif [ -t 0 ]; then
        sudo DEBIAN_FRONTEND=noninteractive "$@" </dev/null
    else
        sudo -n DEBIAN_FRONTEND=noninteractive "$@" </dev/null
    fi
}

# packages_apt PACKAGE...: install; apt's own words go to a file that is shown
# only when it fails.
packages_apt()
{
    apt_log=$(mktemp)
    apt_rc=0
    { packages_run apt-get update -q &&
        packages_run apt-get install -y -q --no-install-recommends "$@"; } \
        >"$apt_log" 2>&1 || apt_rc=$?
    [ "$apt_rc" -eq 0 ] || tail -n 15 "$apt_log" >&2
    rm -f "$apt_log"
    return "$apt_rc"
}

# packages_install GROUP...: install what is missing of these groups.
# Return: 0 all there, or no apt here (the build will name what it misses);
# 1 something is missing and could not be installed (said
# on stderr with what to do about it).
packages_install()
{
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "packages: no apt-get here, so nothing is checked or installed." \
            "Needed, by their Debian names:" "$(packages_of "$@" | tr '\n' ' ')"
        return 0
    fi
    missing=$(packages_missing "$@" | tr '\n' ' ')
    missing=${missing% }
    if [ -z "$missing" ]; then
        echo "packages: everything needed ($*) is installed"
        return 0
    fi
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null 2>&1; then
        echo "packages: missing: $missing; installing needs root, and there" \
            "is no sudo" >&2
        packages_by_hand "$missing"
        return 1
    fi
    echo "packages: installing with apt-get: $missing"
    [ -z "${PACKAGES_DRY_RUN:-}" ] || return 0
    # shellcheck disable=SC2086 # one word per package is meant
    packages_apt $missing && return 0
    echo "packages: apt-get could not install: $missing" >&2
    packages_by_hand "$missing"
    return 1
}
