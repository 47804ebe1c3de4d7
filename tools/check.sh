#!/bin/sh
# Build everything and run every test; the last line is the sum.
#
#   tools/check.sh            all of it (what CI runs)
#   tools/check.sh --quick    one build; no slow suites, no sanitisers
#   tools/check.sh unit mm    only the tests of these suites (with sanitisers
#                             where the suite is one they run)
#
# Steps: packages; build with warnings as errors and all tests; unit tests
# under AddressSanitizer and UndefinedBehaviorSanitizer; the tests marked tsan
# under ThreadSanitizer; a clang build; an aarch64 compile; formatting.
# Everything is written below build-check/, logs in build-check/logs/.
set -u
export LC_ALL=C
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root" || exit 1
. tools/lib/packages.sh
. tools/lib/steps.sh

usage()
{
    sed -n '2,7s/^# \{0,1\}//p' "$0"
}

quick=no
suites=
for word in "$@"; do
    case $word in
    --quick) quick=yes ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "check.sh: unknown option '$word'; see --help" >&2; exit 2 ;;
    *) suites="$suites $word" ;;
    esac
done

# wants SUITE: this run includes the suite.
wants()
{
    case " $suites " in
    "  " | *" $1 "*) return 0 ;;
    esac
    return 1
}

steps_begin build-check
packages_install build check || exit 1
packages_install cross || echo "packages: going on without the above"

if steps_build main -Dwarning_level=2; then
    if [ -n "$suites" ]; then
        # shellcheck disable=SC2086 # one word per suite is meant
        steps_test main $suites
    elif [ "$quick" = yes ]; then
        steps_test main --no-suite slow
    else
        steps_test main
    fi
fi

if [ "$quick" = no ] && wants unit; then
    if steps_build asan -Db_sanitize=address,undefined -Db_lundef=false; then
        steps_test asan unit
    fi
fi
if [ "$quick" = no ] && wants tsan; then
    if steps_build tsan -Db_sanitize=thread -Db_lundef=false; then
        steps_test tsan tsan
    fi
fi
if [ "$quick" = no ] && [ -z "$suites" ]; then
    steps_clang
    steps_aarch64
fi
[ -n "$suites" ] || steps_format
steps_end
