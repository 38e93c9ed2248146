#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs test suites, each a make target, one after the other, and ends with one line `N passed, N failed`. A failing
# suite does not prevent the following ones. Suites append lines `<passed> <failed> <name>` to the file $RESULTS; a
# suite that fails without having counted a failure (for example because it does not build) counts as one.
#
#   tests/all.sh [OPTION=VALUE ...] TARGET ...      exit code 0 only if nothing failed
#
# The duration is stored in build/$RUN_NAME.seconds, for `make bench`.
set -uo pipefail

RESULTS=$(mktemp)
export RESULTS
trap 'rm -f "$RESULTS"' EXIT

failures() { awk '{n += $2} END {print n + 0}' "$RESULTS"; }

options=()
while [[ ${1:-} == *=* ]]; do
    options+=("$1")
    shift
done
for suite in "$@"; do
    printf '\n=== %s\n' "$suite"
    before=$(failures)
    lines=$(wc -l <"$RESULTS")
    start=$SECONDS
    if "${MAKE:-make}" --no-print-directory -j"$(nproc)" "${options[@]}" "$suite"; then
        if [[ $(wc -l <"$RESULTS") -eq $lines ]]; then
            echo "1 0 $suite" >>"$RESULTS"
        fi
    elif [[ $(failures) -eq $before ]]; then
        printf 'FAIL %s\n' "$suite"
        echo "0 1 $suite" >>"$RESULTS"
    fi
    printf '=== %s: %d s\n' "$suite" $((SECONDS - start))
done

mkdir -p build
printf '%d\n' "$SECONDS" >"build/${RUN_NAME:-make_test}.seconds"
printf '\n'
awk '$2 > 0 {$1 = ""; print "failed:" $0}' "$RESULTS"
awk '{passed += $1; failed += $2} END {printf "%d passed, %d failed\n", passed, failed; exit failed > 0}' "$RESULTS"
