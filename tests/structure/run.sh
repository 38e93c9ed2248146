#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the structural tests, which examine the project without running it. Each test is a program in this folder that
# prints nothing on success, else the errors, and ends with a non-zero code. One line PASS or FAIL per test; counts go
# to the file $RESULTS, if there is one. KERNEL, TEST_KERNEL and BUILD come from the Makefile.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

passed=0
failed=0
for test in include_directions.py includes.py weight.py style.py english.py kernel_api.py event_rows.py fault_rows.py \
    mutant_patterns.py mutations.py switched_mutants.py equivalent_mutants.py verification_tables.py \
    versions.py image.sh entry_check.py tracer_off.sh documented_commands.sh; do
    name=${test%.*}
    if output=$("tests/structure/$test" 2>&1); then
        printf 'PASS %s\n' "$name"
        passed=$((passed + 1))
    else
        printf '%s\nFAIL %s\n' "$output" "$name"
        failed=$((failed + 1))
    fi
done
if [[ -n ${RESULTS:-} ]]; then
    echo "$passed $failed structure" >>"$RESULTS"
fi
printf 'structure: %d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]
