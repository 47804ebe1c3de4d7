# Step speed: medians and spread, each beside its floor or peer in the same run.

# load_check: say so where other work would spoil the figures.
load_check()
{
    awk -v cores="$(nproc)" '$1 > cores / 2 {
        printf "\nOther work runs here (load average %s, %d cores): the " \
            "figures of this step mean little.\n", $1, cores }' \
        /proc/loadavg | tee -a "$out/section.md"
}

# json_table: lines of JSON as every bench prints them, as a table.
json_table()
{
    awk '
    function value(key,   at, text) {
        at = index($0, "\"" key "\":")
        if (!at)
            return ""
        text = substr($0, at + length(key) + 3)
        if (text ~ /^"/) {
            text = substr(text, 2)
            return substr(text, 1, index(text, "\"") - 1)
        }
        sub(/[,}].*/, "", text)
        return text
    }
    BEGIN {
        print "\n| bench | case | unit | median | min | max | ratio | of |"
        print "|---|---|---|---|---|---|---|---|"
    }
    {
        printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", value("bench"),
            value("case"), value("unit"), value("median"), value("min"),
            value("max"), value("ratio"), value("against")
    }'
}

# figures NAME LIMIT COMMAND...: an item that prints figures as JSON lines.
figures()
{
    record_rows
    item "$@"
    grep '^{' "$log" | tee -a "$out/results.jsonl" |
        json_table >>"$out/section.md"
}

step_speed()
{
    real=--real small=''
    [ "$soft" = no ] || real=''
    [ "$quick" = no ] || small=--quick
    load_check
    # shellcheck disable=SC2086 # real and small are one word or none
    figures 'the wave program' 600 "$build/bench/wave/adsm-wave" --json $real \
        --reps "$reps" --volume "$root/bench/wave/data/salt.vol" \
        --png "$out/wave.png"
    # shellcheck disable=SC2086
    figures 'the benchmarks' 1500 "$build/bench/parboil/adsm-bench" --json \
        $real --quiet --no-verify --size "$size" --reps "$reps" \
        --form explicit,managed,managed-hints,ported,adsm --protocol lazy,rolling
    for bench in micro/bench_fault micro/bench_write micro/bench_choice \
        softcuda/bench_copy softcuda/bench_launch; do
        # shellcheck disable=SC2086
        figures "$(basename "$bench")" 300 "$build/bench/$bench" $small \
            --reps="$reps"
    done
    # What a launch costs more when preloaded.
    # shellcheck disable=SC2086
    figures 'bench_launch, preloaded' 300 "$build/tools/adsm-run" -- \
        "$build/bench/softcuda/bench_launch" $small --reps="$reps"
}
