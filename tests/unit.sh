#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the GoogleTest programs named on the command line, all of them even if one fails, and counts their tests. A
# program that dies before it has written its report counts as one failure.
set -uo pipefail

report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
for program in "$@"; do
    : >"$report"
    "$program" --gtest_brief=1 --gtest_output="xml:$report" || status=1
    tests=$(sed -n 's/^<testsuites tests="\([0-9]*\)".*/\1/p' "$report")
    failed=$(sed -n 's/^<testsuites .*failures="\([0-9]*\)".*/\1/p' "$report")
    if [[ -z $tests ]]; then
        printf 'FAIL %s did not end\n' "$program"
        tests=1 failed=1 status=1
    fi
    if [[ -n ${RESULTS:-} ]]; then
        echo "$((tests - failed)) $failed unit ${program##*/}" >>"$RESULTS"
    fi
done
exit "$status"
