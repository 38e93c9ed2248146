#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs a build and states its cost: processor seconds, and how many times a reference compile that is. Machines differ
# in speed, so the limit is such a multiple. A build that costs more fails: what made it slower is to be found, or the
# limit is raised by a commit that says why.
#
#   tests/build_cost.sh COMMAND ...     exit code: the command's, or 1 above the limit
set -uo pipefail
kLimit=600

# cost COMMAND ...: the processor seconds of a command and its children, in `seconds`; the exit code is the command's.
cost() {
    local before status
    before=$(ended)
    "$@"
    status=$?
    seconds=$(awk -v before="$before" -v after="$(ended)" 'BEGIN {print after - before}')
    return $status
}

# The processor seconds of the children of this script that have ended: /proc/PID/stat counts them in ticks.
ended() { awk -v ticks="$(getconf CLK_TCK)" '{sub(/.*\) /, ""); print ($14 + $15) / ticks}' "/proc/$$/stat"; }

# The standard library alone, so that no change of the project changes the reference.
reference() {
    printf '#include <%s>\n' regex map string functional iostream algorithm |
        cat - <(echo 'bool is_name(const std::string& text) { return std::regex_match(text, std::regex("[a-z]+")); }') |
        g++ -std=c++20 -O1 -x c++ - -c -o /dev/null
}

cost reference || exit 1
least=$seconds
for _ in 1 2; do
    cost reference || exit 1
    least=$(awk -v a="$least" -v b="$seconds" 'BEGIN {print (b < a ? b : a)}')
done
cost "$@" || exit 1
awk -v build="$seconds" -v reference="$least" -v limit=$kLimit 'BEGIN {
    multiple = build / reference
    printf "%s build cost: %.0f processor seconds, %.0f times the reference compile of %.1f s; limit %d\n",
        (multiple > limit ? "FAIL" : "PASS"), build, multiple, reference, limit
    exit (multiple > limit)
}'
