#!/bin/sh
# Build everything and run every test; the last line is the sum.
#
#   tools/check.sh            all of it (what CI runs)
#   tools/check.sh --quick    one build; no slow suites, no sanitisers
#   tools/check.sh unit mm    only the tests of these suites, with and without
#                             sanitisers, and what they need is built; those of
#                             suite night, which take longer than all others,
#                             run only so
#
# Suite stress takes a minute, or STRESS_SECONDS.
#
# Steps: packages; build with warnings as errors and all tests (those of suite
# tsan bring ThreadSanitizer along); the suites that do not preload under
# AddressSanitizer and UndefinedBehaviorSanitizer; a clang build; ten seconds of
# fuzzing for each target; an aarch64 compile; format. The software device's own
# suites are part of it where it is not what passed them last
# (tools/softcuda.passed); suite night runs them in any case.
# Everything is written below build-check/, logs in build-check/logs/.
set -u
export LC_ALL=C
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root" || exit 1
. tools/lib/packages.sh
. tools/lib/steps.sh

usage()
{
    sed -n '2,9s/^# \{0,1\}//p' "$0"
}

quick=no
suites=
for word in "$@"; do
    case $word in
    --quick) quick=yes ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "check.sh: unknown option '$word'; see --help" >&2; exit 2 ;;
    night) suites="$suites night softcuda" ;;
    *) suites="$suites $word" ;;
    esac
done
# Whether all of the software device's tests are run where they are.
case "$quick$suites " in
"no " | "no "*" softcuda "*) all_of_device=yes ;;
*) all_of_device=no ;;
esac

steps_begin build-check
packages_install build check || exit 1
packages_install cross faster figures || echo "packages: going on without the above"

# run_tests NAME SELECTION MESON-OPTION...: build and test.
run_tests()
{
    name=$1
    chosen=$2
    shift 2
    # shellcheck disable=SC2086 # one word per suite is meant
    steps_device "$name" $suites
    [ "$device" = enabled ] || chosen="$chosen --no-suite softcuda"
    # All of the tree is compiled once, whatever is tested.
    whole=
    [ "$name" != main ] || [ -n "$suites" ] || whole=--all
    steps_build_for "$whole $chosen" "$name" "$@" "-Dsoftcuda:tests=$device" ||
        return 0
    # shellcheck disable=SC2086 # one word per suite is meant
    steps_test "$name" $chosen || return 0
    [ "$all_of_device" = no ] || steps_device_passed "$name" \
        "$steps_dir/$name/meson-logs/testlog.json"
}

if [ -n "$suites" ]; then
    run_tests main "$suites" -Dwarning_level=2
elif [ "$quick" = yes ]; then
    run_tests main "--no-suite slow --no-suite stress --no-suite night" \
        -Dwarning_level=2
else
    run_tests main "--no-suite night" -Dwarning_level=2
fi

# Programs that are preloaded into cannot be sanitised, and neither can their
# tests: the sanitiser's run-time would have to come first. Suite plain has what
# would say nothing more there: whether PTX is current, and under the other fault
# engines what is run under the first.
plain="adopt contract interpose mpi nvcc ordinary parboil python touched untouched wave tools slow stress night tsan plain"
selection=
for suite in ${suites:-$plain}; do
    case "${suites:+named} $plain " in
    named*" $suite "*) ;;
    named*) selection="$selection $suite" ;;
    *) selection="$selection --no-suite $suite" ;;
    esac
done
if [ "$quick" = no ] && [ -n "$selection" ]; then
    [ -z "$suites" ] || selection="$selection --no-suite plain"
    run_tests asan "$selection" -Db_sanitize=address,undefined \
        -Db_lundef=false -Dnvcc=disabled
fi
if [ "$quick" = no ] && [ -z "$suites" ]; then
    steps_clang
    steps_fuzz 10
    steps_aarch64
fi
[ -n "$suites" ] || steps_format
steps_slowest 20
steps_device_end
steps_end
