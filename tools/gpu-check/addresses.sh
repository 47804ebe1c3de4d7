# Step addresses: what the driver does with addresses, and the core suites under
# each way to share them.

# run_tests GROUP PATTERN [NAME=VALUE]: the tests of that group whose names match
# the pattern of grep -E; the variable goes before their own.
run_tests()
{
    grep "^[^	]*	$1	" "$tests" | grep -E "^($2)	" >"$out/selected"
    tab=$(printf '\t')
    while IFS=$tab read -r test _ seconds words <&3; do
        words=$(printf '%s' "$words" | sed "s|@root@|$root|g
            s|@build@|$build|g; s|@device@|$LD_LIBRARY_PATH|g")
        # shellcheck disable=SC2086 # words are words
        item "$test${3:+, ${3#*=}}" "$seconds" env ${3:-} $words
    done 3<"$out/selected"
    rm -f "$out/selected"
}

# strategy NAME: whether it can be had, and the suites with it.
strategy()
{
    export ADSM_ADDRESS="$1"
    item "adsm-info, $1" 30 "$build/tools/adsm-info" --devices
    record_quote "$log"
    record_rows
    unset ADSM_ADDRESS
    if grep -q 'cannot be had' "$log"; then
        skip "core suites, $1" "$(grep -m1 'cannot be had' "$log")"
    elif [ "$quick" = yes ]; then
        run_tests core '(api|threads|twin)-rolling' "ADSM_ADDRESS=$1"
    else
        run_tests core '[^/]*' "ADSM_ADDRESS=$1"
        run_tests regress '.*' "ADSM_ADDRESS=$1"
    fi
}

step_addresses()
{
    record_rows
    item 'address probe' 240 "$build/tools/gpu-check/gpu-probe" --table
    record_quote "$log"
    "$build/tools/gpu-check/gpu-probe" >>"$out/results.jsonl" 2>/dev/null
    record_rows
    item 'adsm-info' 30 "$build/tools/adsm-info" --devices --driver --engines
    record_quote "$log"
    record_rows
    run_tests core 'accel/.*'
    for way in window overlay translate; do
        strategy "$way"
    done
}
