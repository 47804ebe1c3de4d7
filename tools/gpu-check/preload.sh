# Step preload: the suites of the preload library, then programs made by the nvcc
# of this machine, with its run-time library linked shared and static, bare and
# under three protocols.

# programs_wanted: the lines of tests/cuda/programs this run takes.
programs_wanted()
{
    grep -v '^#' "$root/tests/cuda/programs" | grep -v '^machine_code' |
        if [ "$quick" = yes ]; then
            grep -wE 'vecadd|reduce_shared|streams|managed|graph_captured|copy2d'
        else
            cat
        fi
}

# compile_line KIND NAME WORD...: the command that makes a program.
compile_line()
{
    kind=$1 name=$2 sources=$2.cu ptx=75 flags=''
    shift 2
    for word in "$@"; do
        case $word in
        sources=*) sources=$(printf '%s' "${word#*=}" | tr , ' ') ;;
        ptx=*) ptx=${word#*=} ;;
        env=* | suite=*) ;;
        *) flags="$flags $word" ;;
        esac
    done
    printf 'cd %s/tests/cuda && %s -cudart %s -Wno-deprecated-gpu-targets' \
        "$root" "$(nvcc_here)" "$kind"
    [ -z "$ptx" ] ||
        printf ' -gencode arch=compute_%s,code=compute_%s' "$ptx" "$ptx"
    printf '%s -o %s/programs/%s.%s %s\n' "$flags" "$out" "$name" "$kind" \
        "$sources"
}

# programs_compile KIND: all that are wanted, as many at once as there are cores.
programs_compile()
{
    programs_wanted | while read -r words; do
        # shellcheck disable=SC2086 # words are words
        compile_line "$1" $words
    done >"$out/programs/commands"
    tr '\n' '\0' <"$out/programs/commands" |
        xargs -0 -P "$(nproc)" -I '{}' timeout 300 sh -c '{}' \
            >"$out/logs/preload-nvcc-$1" 2>&1
}

# programs_run KIND: each one, compared with itself under each protocol.
programs_run()
{
    programs_wanted | cut -d' ' -f1 >"$out/programs/names"
    while read -r name <&4; do
        if [ -x "$out/programs/$name.$1" ]; then
            item "$name, $1" 120 sh "$here/same.sh" "$out/programs/$name.$1" \
                "$build/interpose/libadsm-preload.so"
        else
            skip "$name, $1" "this nvcc does not compile it: \
$(grep -m1 "$name" "$out/logs/preload-nvcc-$1")"
        fi
    done 4<"$out/programs/names"
}

# record_libraries: which run-time library the programs get here.
record_libraries()
{
    found=$(for program in "$out"/programs/*.shared; do
        ldd "$program" | sed -n 's/^[[:space:]]*\(libcudart[^ ]* => [^ ]*\).*/\1/p'
    done | sort -u | tr '\n' ' ')
    printf '  run-time library: %s\n' "${found:-none}"
    printf '\nRun-time library: %s\n' "${found:-none}" >>"$out/section.md"
    record_rows
}

step_preload()
{
    record_rows
    if [ "$quick" = yes ]; then
        run_tests interpose '.*(copies|io|signals|hosts|written-.*|touched-.*|memory-.*|bulk-.*)'
    else
        run_tests interpose '.*'
    fi
    if [ -z "$(nvcc_here 2>/dev/null)" ]; then
        skip 'programs of nvcc' 'no nvcc here'
        return
    fi
    for kind in shared static; do
        if [ "$soft" = yes ] && [ "$kind" = static ]; then
            skip 'programs of nvcc, static' \
                "NVIDIA's run-time library does not accept the software device"
            continue
        fi
        programs_compile "$kind"
        [ "$kind" = static ] || record_libraries
        programs_run "$kind"
    done
}
