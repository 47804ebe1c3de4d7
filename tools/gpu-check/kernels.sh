# Step kernels: PTX cases against references in C, and the results of whole
# programs beside those of the software device, bit for bit.

step_kernels()
{
    record_rows
    grep -q '	opcodes	' "$tests" || skip 'PTX cases' \
        'built without them: meson configure build -Dsoftcuda:tests=enabled'
    run_tests opcodes '.*'
    for benchmark in cp mri-fhd mri-q pns rpes sad tpacf vecadd stencil; do
        item "$benchmark, beside the software device" 200 \
            sh "$here/beside.sh" result "$benchmark" "$size"
    done
    [ "$soft" = no ] || return 0
    for program in "$out"/programs/*.shared; do
        [ -x "$program" ] || continue
        item "$(basename "$program" .shared), beside the software device" 120 \
            sh "$here/beside.sh" output "$program"
    done
}
