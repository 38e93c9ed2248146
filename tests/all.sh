#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs test suites, each a make target, one after the other, and ends with one line `N passed, N failed`. A failing
# suite does not prevent the following ones. Suites append lines `<passed> <failed> <name>` to the file $RESULTS; a
# suite that fails without having counted a failure (for example because it does not build) counts as one.
#
#   tests/all.sh [OPTION=VALUE ...] TARGET ...      exit code 0 only if nothing failed
#
# The table at the end says what each suite took: seconds, and seconds of processors, which load changes less.
# The duration of all is stored in build/$RUN_NAME.seconds, for `make bench`.
set -uo pipefail

RESULTS=$(mktemp)
export RESULTS
costs=$(mktemp)
trap 'rm -f "$RESULTS" "$costs" "$costs.times"' EXIT

failures() { awk '{n += $2} END {print n + 0}' "$RESULTS"; }

# The processor seconds of what has ended, into `processors`. `times` writes the shell's line and its children's, each
# `0m1.2s 0m0.1s`; in a subshell it would know no children.
read_processors() {
    times >"$costs.times"
    processors=$(awk -F '[ms ]+' 'NR == 2 {printf "%d", $1 * 60 + $2 + $3 * 60 + $4}' "$costs.times")
}

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
    read_processors
    before_processors=$processors
    if "${MAKE:-make}" --no-print-directory -j"$(nproc)" "${options[@]}" "$suite"; then
        if [[ $(wc -l <"$RESULTS") -eq $lines ]]; then
            echo "1 0 $suite" >>"$RESULTS"
        fi
    elif [[ $(failures) -eq $before ]]; then
        printf 'FAIL %s\n' "$suite"
        echo "0 1 $suite" >>"$RESULTS"
    fi
    printf '=== %s: %d s\n' "$suite" $((SECONDS - start))
    read_processors
    printf '%s %d %d\n' "$suite" $((SECONDS - start)) $((processors - before_processors)) >>"$costs"
done

mkdir -p build
printf '%d\n' "$SECONDS" >"build/${RUN_NAME:-make_test}.seconds"
printf '\n'
awk 'BEGIN {printf "%-22s %7s %10s\n", "suite", "seconds", "processors"}
  {printf "%-22s %7d %10d\n", $1, $2, $3; seconds += $2; processors += $3}
  END {printf "%-22s %7d %10d\n\n", "all", seconds, processors}' "$costs"
awk '$2 > 0 {$1 = ""; print "failed:" $0}' "$RESULTS"
awk '{passed += $1; failed += $2} END {printf "%d passed, %d failed\n", passed, failed; exit failed > 0}' "$RESULTS"
