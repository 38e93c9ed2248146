#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the GoogleTest programs named on the command line, all of them even if one fails, one more at once than there are
# processors, because some wait for the network, and counts their tests. A program that dies before it has written its
# report counts as one failure, of the test that was running. Names that end in .js are tests of the page's scripts.
set -uo pipefail

programs=() scripts=()
for name in "$@"; do
    if [[ $name == *.js ]]; then scripts+=("$name"); else programs+=("$name"); fi
done

reports=$(mktemp -d)
export reports
trap 'rm -rf "$reports"' EXIT
# The output of a program is kept together, without the lines of tests that pass.
# shellcheck disable=SC2317 # called by xargs
test_program() {
    local output report=$reports/${1##*/}
    output=$("$1" --gtest_output="xml:$report" 2>&1) || touch "$report.bad"
    sed -n 's/^\[ RUN      \] //p' <<<"$output" | tail -n 1 >"$report.running"
    grep -vE '^(\[( RUN     |       OK|----------) ?\]|Running main\(\)|$)' <<<"$output"
}
export -f test_program
# From the last one on: the tracer's run longest.
# shellcheck disable=SC2016 # the inner shell expands its own argument
printf '%s\n' "${programs[@]}" | tac | xargs -P "$(($(nproc) + 1))" -I '{}' bash -c 'test_program "$0"' '{}'

status=0
for program in "${programs[@]}"; do
    report=$reports/${program##*/}
    tests=$(sed -n 's/^<testsuites tests="\([0-9]*\)".*/\1/p' "$report" 2>/dev/null)
    failed=$(sed -n 's/^<testsuites .*failures="\([0-9]*\)".*/\1/p' "$report" 2>/dev/null)
    if [[ -z $tests ]]; then
        printf 'FAIL %s did not end: it ended in %s\n' "$program" "$(cat "$report.running" 2>/dev/null)"
        tests=1 failed=1
    fi
    if [[ -e $report.bad || $failed -gt 0 ]]; then
        status=1
    fi
    if [[ -n ${RESULTS:-} ]]; then
        echo "$((tests - failed)) $failed unit ${program##*/}" >>"$RESULTS"
    fi
done

if [[ ${#scripts[@]} -gt 0 ]]; then
    output=$(node --test-reporter=tap tests/support/page.js "${scripts[@]}" 2>&1) || status=1
    grep -A 12 '^not ok' <<<"$output"
    passed=$(sed -n 's/^# pass //p' <<<"$output")
    if [[ -z $passed ]]; then
        printf '%s\nFAIL the tests of the page did not end\n' "$output"
        status=1
    fi
    failed=$(sed -n 's/^# fail //p' <<<"$output")
    if [[ -n ${RESULTS:-} ]]; then
        echo "${passed:-0} ${failed:-1} unit page" >>"$RESULTS"
    fi
fi
exit "$status"
