#!/bin/bash
# SPDX-License-Identifier: MIT
# The soak and its own test: without the rewind, and with the region one instruction short, it must fail; then the storm
# as the entry stubs would serve it.
#
#   tests/soak/run.sh PROGRAM RECORDS      counts go to the file $RESULTS, if there is one
set -uo pipefail
program=$1 records=$2
kSpoiltRecords=200000000

status=0
for fault in no-rewind short-region; do
    output=$("$program" $kSpoiltRecords "$fault")
    found=$(sed -n 's/^FAIL soak: //p' <<<"$output")
    if [[ -n $found ]]; then
        printf 'PASS soak_objects_to_%s (%s)\n' "${fault//-/_}" "$found"
    else
        printf 'FAIL soak_objects_to_%s: %d records and no objection\n' "${fault//-/_}" $kSpoiltRecords
        status=1
    fi
done
"$program" "$records" || status=1
if [[ -n ${RESULTS:-} ]]; then
    echo "$((1 - status)) $status soak" >>"$RESULTS"
fi
exit "$status"
