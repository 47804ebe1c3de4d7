#!/bin/sh
# Build everything and run every test; the last line is the sum.
#
#   tools/check.sh            all of it (what CI runs)
#   tools/check.sh --quick    one build; no slow suites, no sanitisers
#   tools/check.sh unit mm    only the tests of these suites, with and without
#                             sanitisers; those of suite night, which take
#                             longer than all others, run only so
#
# Suite stress takes a minute, or STRESS_SECONDS.
#
# Steps: packages; build with warnings as errors and all tests (those of suite
# tsan bring ThreadSanitizer along); the suites that do not preload under
# AddressSanitizer and UndefinedBehaviorSanitizer; a clang build; a minute of
# fuzzing; an aarch64 compile; format.
# Everything is written below build-check/, logs in build-check/logs/.
set -u
export LC_ALL=C
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root" || exit 1
. tools/lib/packages.sh
. tools/lib/steps.sh

usage()
{
    sed -n '2,8s/^# \{0,1\}//p' "$0"
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

steps_begin build-check
packages_install build check || exit 1
packages_install cross faster || echo "packages: going on without the above"

if steps_build main -Dwarning_level=2; then
    if [ -n "$suites" ]; then
        # shellcheck disable=SC2086 # one word per suite is meant
        steps_test main $suites
    elif [ "$quick" = yes ]; then
        steps_test main --no-suite slow --no-suite stress --no-suite night
    else
        steps_test main --no-suite night
    fi
fi

# Programs that are preloaded into cannot be sanitised, and neither can their
# tests: the sanitiser's run-time would have to come first.
plain="contract interpose mpi nvcc ordinary parboil touched wave tools slow stress night tsan"
selection=
for suite in ${suites:-$plain}; do
    case "${suites:+named} $plain " in
    named*" $suite "*) ;;
    named*) selection="$selection $suite" ;;
    *) selection="$selection --no-suite $suite" ;;
    esac
done
if [ "$quick" = no ] && [ -n "$selection" ]; then
    if steps_build asan -Db_sanitize=address,undefined -Db_lundef=false \
        -Dnvcc=disabled; then
        # shellcheck disable=SC2086 # one word per suite is meant
        steps_test asan $selection
    fi
fi
if [ "$quick" = no ] && [ -z "$suites" ]; then
    steps_clang
    steps_fuzz 10
    steps_aarch64
fi
[ -n "$suites" ] || steps_format
steps_slowest 20
steps_end
