# What gpu-check.sh knows of its items: a line on the terminal as each ends, a
# log, a JSON line, and a row of the section for docs/hardware.md. Sourced.

# record_begin DIR: everything below goes there.
record_begin()
{
    mkdir -p "$1/logs" "$1/programs" || exit 2
    out=$(CDPATH='' cd -- "$1" && pwd)
    : >"$out/results.jsonl"
    : >"$out/failed.md"
    : >"$out/section.md"
    passed=0 failed=0 skipped=0
    began=$(date +%s)
}

# record_step NAME: a heading.
record_step()
{
    step=$1
    printf '\n%s (%s s)\n' "$step" "$(($(date +%s) - began))"
    printf '\n### %s\n\n' "$step" >>"$out/section.md"
}

# record_rows: begins a table of items in the section.
record_rows()
{
    printf '\n| item | outcome | s | |\n|---|---|---|---|\n' >>"$out/section.md"
}

# record_quote FILE: its text, as it is, in the section.
record_quote()
{
    { printf '\n```text\n'; cat "$1"; printf '```\n'; } >>"$out/section.md"
}

# json_text: standard input as the inside of a JSON string.
json_text()
{
    tr '\n\t' '  ' | tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g; s/ *$//'
}

# record_row ITEM OUTCOME SECONDS DETAIL REPEAT
record_row()
{
    case $2 in
    passed) passed=$((passed + 1)) ;;
    skipped) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
    esac
    printf '  %-8s %s (%s s)%s\n' "$2" "$1" "$3" "${4:+: $4}"
    printf '| %s | %s | %s | %s |\n' "$1" "$2" "$3" \
        "$(printf '%s' "$4" | tr '|\n' '/ ')" >>"$out/section.md"
    printf '{"step":"%s","item":"%s","outcome":"%s","seconds":%s,' \
        "$step" "$1" "$2" "$3" >>"$out/results.jsonl"
    printf '"detail":"%s","repeat":"%s"}\n' \
        "$(printf '%s' "$4" | json_text)" \
        "$(printf '%s' "$5" | json_text)" >>"$out/results.jsonl"
}

# record_failure ITEM OUTCOME LOG REPEAT: a paragraph for who reads the report.
record_failure()
{
    {
        printf '\n**%s, %s: %s.** The end of what it said:\n\n' \
            "$step" "$1" "$2"
        printf '```text\n'
        tail -n 12 "$3" | cut -c1-300
        printf '```\n\nTo repeat it, here:\n\n```sh\n%s\n```\n' "$4"
    } >>"$out/failed.md"
}

# item NAME LIMIT-S COMMAND...: run it; 77 means skipped, as everywhere here.
# The detail is its last line where it failed or was skipped. Return: its status.
item()
{
    name=$1 limit=$2
    shift 2
    log=$out/logs/$step-$(printf '%s' "$name" | tr -c 'A-Za-z0-9_.\n' -)
    repeat="LD_LIBRARY_PATH=$LD_LIBRARY_PATH $*"
    t0=$(date +%s%N)
    timeout -k 5 "$limit" "$@" >"$log" 2>&1 </dev/null
    rc=$?
    seconds=$(awk "BEGIN { printf \"%.1f\", ($(date +%s%N) - $t0) / 1e9 }")
    last=$(tail -n 1 "$log" | cut -c1-160)
    case $rc in
    0) record_row "$name" passed "$seconds" '' "$repeat" ;;
    77) record_row "$name" skipped "$seconds" "$last" "$repeat" ;;
    *)
        outcome="failed with status $rc"
        [ "$rc" -ne 124 ] && [ "$rc" -ne 137 ] || outcome="over $limit s"
        record_row "$name" "$outcome" "$seconds" "$last" "$repeat"
        record_failure "$name" "$outcome" "$log" "$repeat" ;;
    esac
    return "$rc"
}

# skip NAME WHY: an item that cannot run here.
skip()
{
    record_row "$1" skipped 0 "$2" ''
}

# record_end: the section, the sums, the exit status.
record_end()
{
    {
        printf '## %s, %s\n\n' "$(record_device)" "$(date +%Y-%m-%d)"
        printf '`tools/gpu-check.sh`%s%s: %s items passed, %s failed, %s skipped\n' \
            "$([ "$quick" = no ] || echo ' `--quick`')" \
            "$([ "$soft" = no ] || echo ' `--soft`')" \
            "$passed" "$failed" "$skipped"
        cat "$out/section.md"
        [ ! -s "$out/failed.md" ] || printf '\n### What failed\n'
        cat "$out/failed.md"
    } >"$out/hardware.md"
    rm -f "$out/section.md"
    [ ! -s "$out/failed.md" ] || printf '\n%s\n' "What failed, with the commands \
that repeat it, is at the end of $out/hardware.md."
    printf '\n%s passed, %s failed, %s skipped in %s s; the report: %s\n' \
        "$passed" "$failed" "$skipped" "$(($(date +%s) - began))" \
        "$out/hardware.md"
    [ "$failed" -eq 0 ]
    exit $?
}

# record_device: the device's name, as the driver has it.
record_device()
{
    "$build/tools/adsm-info" --devices 2>/dev/null |
        sed -n 's/^ *0  \(.*[^ ]\)  *[0-9][0-9]*  *[0-9][0-9]*  .*/\1/p' |
        sed 's/ *$//' | grep . || echo 'unknown device'
}
