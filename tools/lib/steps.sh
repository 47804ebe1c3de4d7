# The steps of tools/check.sh: each says in one line what came of it and adds
# to the three sums. Sourced; the current folder is the project's root.
#
# steps_dir holds one build folder per step and logs/. A step that cannot run
# here counts as skipped and says why; it never counts as passed.

steps_passed=0
steps_failed=0
steps_skipped=0
steps_logs=

# steps_begin DIR: everything below goes there.
steps_begin()
{
    steps_dir=$1
    mkdir -p "$steps_dir/logs" "$steps_dir/native-cache"
    # What the generator of native code writes is the same in every build.
    export NATIVE_TEST_CACHE="$PWD/$steps_dir/native-cache"
    # So is, with ccache, what is never sanitised.
    export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
    # ASan and TSan must leave SIGSEGV to the library under test.
    export ASAN_OPTIONS="allow_user_segv_handler=1:handle_segv=0:\
handle_sigbus=0:detect_stack_use_after_return=0:strict_string_checks=1"
    export LSAN_OPTIONS="suppressions=$PWD/tests/common/lsan.supp:\
print_suppressions=0"
    export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1"
    export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:\
handle_segv=0:allow_user_segv_handler=1"
}

# steps_add PASSED FAILED SKIPPED: add to the sums.
steps_add()
{
    steps_passed=$((steps_passed + $1))
    steps_failed=$((steps_failed + $2))
    steps_skipped=$((steps_skipped + $3))
}

# steps_say TEXT...: one line of progress with the seconds since the start.
steps_say()
{
    steps_t0=${steps_t0:-$(date +%s)}
    printf '[%4ds] %s\n' "$(($(date +%s) - steps_t0))" "$*"
}

# steps_fail NAME TEXT LOG: one failed step and the end of its log.
steps_fail()
{
    steps_add 0 1 0
    steps_say "$1: FAILED: $2 (whole log: $3)"
    tail -n 40 "$3" | sed 's/^/    | /'
}

# steps_configure NAME MESON-OPTION...: make the build folder, or give it these
# options where it had others.
# Return: 0; 1 when it failed, which counts as one failure.
steps_configure()
{
    name=$1
    shift
    log=$steps_dir/logs/$name-build.log
    asked=$steps_dir/$name/asked-options
    set -- -Dwerror=true -Dtests=enabled -Db_colorout=never "$@"
    how=setup
    if [ -f "$steps_dir/$name/build.ninja" ]; then
        [ "$(cat "$asked" 2>/dev/null)" != "$*" ] || return 0
        how=configure
    fi
    if ! meson "$how" "$steps_dir/$name" "$@" >"$log" 2>&1 </dev/null; then
        rm -rf "${steps_dir:?}/$name"
        steps_fail "$name" "meson $how" "$log"
        return 1
    fi
    echo "$*" >"$asked"
}

# steps_build NAME MESON-OPTION...: configure and compile; as steps_configure.
steps_build()
{
    steps_say "$1: building"
    steps_configure "$@" && steps_compile "$1"
}

# steps_build_for SELECTION NAME MESON-OPTION...: the same, but compile only what
# the tests need that steps_test would run with the words of SELECTION; where
# those begin with --all, also what is compiled whoever tests.
steps_build_for()
{
    selected=$1
    shift
    steps_say "$1: building"
    steps_configure "$@" || return 1
    all=
    [ "$selected" = "${selected#--all}" ] || all=--all
    # shellcheck disable=SC2046,SC2086 # one word per option is meant
    needs=$(python3 tools/lib/needed.py $all "$steps_dir/$1" \
        $(steps_selection ${selected#--all}))
    # shellcheck disable=SC2086 # one word per target is meant
    [ -z "$needs" ] || steps_compile "$1" $needs
}

# The software device's own tests take as long as half of the others. Where all
# that they test is as it was when they passed last (tools/softcuda.passed), by
# the same compiler in the same kind of build, they say nothing new. Who names
# suites wants them run.
steps_device_hash=
steps_unrun=
steps_renewed=

# steps_device NAME [SUITE...]: sets `device` to what -Dsoftcuda:tests is to be.
steps_device()
{
    device=enabled
    device_compiler=$("${CC:-cc}" --version 2>&1 |
        sed '1!d; s/[^A-Za-z0-9.]\{1,\}/-/g')
    # Some of the tests are there where this is.
    ! PATH="$PATH:/usr/local/cuda/bin" command -v nvcc >/dev/null 2>&1 ||
        device_compiler=$device_compiler+nvcc
    steps_device_hash=$(python3 tools/lib/passed.py hash \
        tools/softcuda.passed) || steps_fail softcuda "no hash of it" \
        tools/softcuda.passed
    if [ $# -eq 1 ] && python3 tools/lib/passed.py is-current \
        tools/softcuda.passed "$1" "$device_compiler"; then
        device=disabled
        steps_unrun="$steps_unrun $1"
    fi
}

# steps_device_passed NAME [LOG]: all of them were run, after steps_device.
steps_device_passed()
{
    [ "$device" = enabled ] || return 0
    before=$(cat tools/softcuda.passed)
    if why=$(python3 tools/lib/passed.py renew tools/softcuda.passed "$1" \
        "$device_compiler" "$steps_device_hash" ${2:+softcuda "$2"} 2>&1); then
        [ "$before" = "$(cat tools/softcuda.passed)" ] || steps_renewed=yes
    else
        steps_say "$1: tools/softcuda.passed stays as it is: $why"
    fi
}

# steps_device_end: what was not run, and what is to be kept.
steps_device_end()
{
    for name in $steps_unrun; do
        steps_add 0 0 1
        steps_say "$name: the software device's own tests were not run: it is" \
            "as it was when they passed (tools/softcuda.passed);" \
            "'tools/check.sh softcuda' runs them"
    done
    [ -z "$steps_renewed" ] ||
        steps_say "tools/softcuda.passed was renewed: commit it"
}

# steps_compile NAME [TARGET...]: what is configured; as steps_configure.
steps_compile()
{
    name=$1
    shift
    log=$steps_dir/logs/$name-build.log
    if ! ninja -C "$steps_dir/$name" --quiet -k 0 "$@" >>"$log" 2>&1 \
        </dev/null; then
        steps_fail "$name" "compile" "$log"
        return 1
    fi
}

# steps_test NAME [--no-suite SUITE | SUITE...]: run tests of that build.
steps_test()
{
    name=$1
    shift
    log=$steps_dir/logs/$name-test.log
    json=$steps_dir/$name/meson-logs/testlog.json
    # shellcheck disable=SC2046 # one word per option is meant
    set -- $(steps_selection "$@")
    wrap=$(steps_fixed_addresses)
    steps_say "$name: testing ${*:-everything}"
    rm -f "$json"
    # shellcheck disable=SC2086 # wrap is a command or nothing
    $wrap meson test -C "$steps_dir/$name" --no-rebuild --print-errorlogs \
        "$(steps_beside)" "$(steps_patience "$name")" "$@" >"$log" 2>&1 </dev/null
    rc=$?
    if [ ! -s "$json" ]; then
        steps_fail "$name" "meson test ran nothing (status $rc)" "$log"
        return 1
    fi
    steps_count "$name" "$json" "$rc" "$log"
}

# steps_selection: turn suite words into meson's options.
steps_selection()
{
    while [ $# -gt 0 ]; do
        case $1 in
        --no-suite) printf '%s %s\n' "$1" "$2"; shift 2 ;;
        *) printf -- '--suite %s\n' "$1"; shift ;;
        esac
    done
}

# steps_beside: many tests wait for a device, a link or a child most of the time,
# so one more runs than there are processors.
steps_beside()
{
    echo "--num-processes=${MESON_TESTTHREADS:-$(($(nproc) + 1))}"
}

# steps_patience NAME: sanitised tests get more time.
steps_patience()
{
    case $1 in
    asan) echo --timeout-multiplier=3 ;;
    *) echo --timeout-multiplier=1 ;;
    esac
}

# steps_fixed_addresses: a prefix without address randomisation, where the
# kernel randomises more bits than ThreadSanitizer of gcc 12 can live with.
steps_fixed_addresses()
{
    bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)
    [ "$bits" -le 28 ] || ! setarch "$(uname -m)" -R true 2>/dev/null ||
        echo "setarch $(uname -m) -R"
}

# steps_count NAME JSON STATUS LOG: add the cases of one test run.
steps_count()
{
    notes=$steps_dir/logs/$1-cases.txt
    if ! python3 tools/lib/count_tests.py "$2" >"$notes"; then
        steps_fail "$1" "test log unreadable" "$4"
        return 1
    fi
    read -r ok bad skip <"$notes"
    steps_add "$ok" "$bad" "$skip"
    steps_logs="$steps_logs $2"
    steps_say "$1: $ok passed, $bad failed, $skip skipped"
    sed -n '2,$s/^./    &/p' "$notes"
    if [ "$bad" -gt 0 ]; then
        grep -vE ' (OK|SKIP) +[0-9.]+s' "$4" | tail -n 120 |
            sed 's/^/    | /'
    elif [ "$3" -ne 0 ]; then
        steps_fail "$1" "meson test ended with status $3" "$4"
    fi
}

# steps_clang: the whole tree compiles with clang, warnings as errors. It is
# not run, and clang warns without optimising.
steps_clang()
{
    if ! command -v clang >/dev/null 2>&1; then
        steps_add 0 0 1
        steps_say "clang: skipped, clang is not installed"
        return 0
    fi
    CC=clang steps_device clang
    if CC=clang steps_build clang -Dwarning_level=2 -Dnvcc=disabled \
        -Doptimization=0 "-Dsoftcuda:tests=$device"; then
        steps_add 1 0 0
        steps_say "clang: compiles"
        steps_device_passed clang
    fi
}

# steps_fuzz SECONDS: each target of tests/fuzz searches for so long; each that
# finds nothing counts as one passed.
steps_fuzz()
{
    log=$steps_dir/logs/fuzz.log
    probe=$steps_dir/logs/fuzz-probe
    if ! echo 'int LLVMFuzzerTestOneInput(void); int
        LLVMFuzzerTestOneInput(void) { return 0; }' |
        clang -fsanitize=fuzzer,address -x c -o "$probe" - >"$log" 2>&1; then
        steps_add 0 0 1
        steps_say "fuzz: skipped, clang has no libFuzzer here" \
            "(libclang-rt-dev)"
        return 0
    fi
    steps_say "fuzz: building"
    CC=clang steps_configure fuzz -Dfuzz=enabled -Dnvcc=disabled \
        -Db_sanitize=address,undefined -Db_lundef=false \
        -Dc_args=-fsanitize=fuzzer-no-link &&
        steps_compile fuzz fuzzers || return 1
    steps_say "fuzz: searching for $1 s each"
    tools/lib/fuzz.sh "$steps_dir/fuzz" "$1" >"$log" 2>&1
    steps_add "$(grep -c 'nothing found$' "$log")" \
        "$(grep -c ': FOUND: ' "$log")" 0
    sed 's/^/    /' "$log"
    [ -s "$log" ] || steps_fail fuzz "searched nothing" "$log"
}

# steps_aarch64: the libraries and tools compile for aarch64 (not linked: no
# aarch64 builds of the libraries they use are at hand).
steps_aarch64()
{
    cross=aarch64-linux-gnu-gcc
    log=$steps_dir/logs/aarch64.log
    if ! command -v "$cross" >/dev/null 2>&1; then
        steps_add 0 0 1
        steps_say "aarch64: skipped, $cross is not installed"
    elif [ ! -f "$steps_dir/main/compile_commands.json" ]; then
        steps_add 0 0 1
        steps_say "aarch64: skipped, there is no main build to follow"
    elif python3 tools/lib/cross_compile.py "$cross" "$steps_dir/main" \
        "$steps_dir/aarch64" >"$log" 2>&1; then
        steps_add 1 0 0
        steps_say "aarch64: $(tail -n 1 "$log")"
    else
        steps_fail aarch64 "compile" "$log"
    fi
}

# steps_format: .clang-format, which is written for clang-format 14.
steps_format()
{
    log=$steps_dir/logs/format.log
    tool=$(command -v clang-format-14 || command -v clang-format || true)
    version=$("${tool:-false}" --version 2>/dev/null |
        sed -n 's/.*version \([0-9]*\).*/\1/p')
    if [ "$version" != 14 ]; then
        steps_add 0 0 1
        steps_say "format: skipped, needs clang-format 14," \
            "found ${version:-none}"
        return 0
    fi
    files=$(find libadsm ptx protocols interpose tools tests bench \
        -name '*.[ch]' -type f | sort)
    # shellcheck disable=SC2086 # one word per file is meant
    if "$tool" --dry-run -Werror $files >"$log" 2>&1; then
        steps_add 1 0 0
        steps_say "format: clean"
    else
        sed -n 's/:.*clang-format-violations.*//p' "$log" | sort | uniq -c \
            >"$log.files"
        steps_fail format "places clang-format would change, by file" \
            "$log.files"
    fi
}

# steps_slowest N: the N longest tests of all that were counted.
steps_slowest()
{
    [ -n "$steps_logs" ] || return 0
    steps_say "the $1 slowest tests:"
    # shellcheck disable=SC2086 # one word per log is meant
    python3 tools/lib/count_tests.py --slowest "$1" $steps_logs |
        sed 's/^/    /'
}

# steps_end: the sum, and the exit status that goes with it.
steps_end()
{
    echo "$steps_passed passed, $steps_failed failed, $steps_skipped skipped"
    [ "$steps_failed" -eq 0 ] && [ "$steps_passed" -gt 0 ]
    exit $?
}
