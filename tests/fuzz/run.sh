#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs each fuzz target over its corpus and then over so many inputs made from it, or for so many seconds; as many
# targets at once as there are processors. The seed is fixed, so a run in CI is the same run everywhere. New inputs stay
# in the build directory; an input that fails is kept and named.
#
#   tests/fuzz/run.sh DIRECTORY RUNS SECONDS NAME ...      SECONDS 0: count runs instead
set -uo pipefail

export directory=$1 runs=$2 seconds=$3 here=${0%/*}
shift 3

# fuzz NAME; called by xargs.
# shellcheck disable=SC2317
fuzz() {
    local name=$1 log=$directory/$1.log limit=(-runs="$runs")
    mkdir -p "$directory/corpus/$name" "$directory/failures"
    if [[ $seconds -gt 0 ]]; then
        limit=(-max_total_time="$seconds")
    fi
    if "$directory/$name" -seed=1 -max_len=8192 -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 \
        -artifact_prefix="$directory/failures/$name-" "${limit[@]}" "$directory/corpus/$name" "$here/corpus/$name" \
        >"$log" 2>&1; then
        printf 'PASS fuzz %-10s %s executions, coverage %s edges\n' "$name" \
            "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
            "$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$log" | tail -1)"
    else
        printf 'FAIL fuzz %s: see %s\n%s\n' "$name" "$log" "$(tail -15 "$log")"
    fi
}
export -f fuzz

# shellcheck disable=SC2016 # the inner shell expands its own arguments
output=$(printf '%s\n' "$@" | xargs -P "$(nproc)" -I '{}' bash -c 'fuzz "$0"' '{}')
printf '%s\n' "$output"
passed=$(grep -c '^PASS fuzz ' <<<"$output")
if [[ -n ${RESULTS:-} ]]; then
    echo "$passed $(($# - passed)) fuzz" >>"$RESULTS"
fi
exit $((passed < $#))
