#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures and prints one line per figure: `FIGURE name value unit`, `PEER name value unit ratio note`, `NOTE text` or
# `GOAL id value goal met|missed`. docs/performance.md describes each. The goals are repeated at the end.
# Usage: run.sh RECORD_COST LTTNG_PEER COMPACT_COST KERNEL TEST_KERNEL EFI REMORA
set -euo pipefail

record_cost=$1 lttng_peer=$2 compact_cost=$3 kernel=$4 test_kernel=$5 efi=$6 remora=$7
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

figure() { printf 'FIGURE %s %s %s\n' "$1" "$2" "$3"; }

# goal ID VALUE LIMIT: met if VALUE is a number <= LIMIT.
goal() {
    local verdict
    verdict=$(awk -v value="$2" -v limit="$3" \
        'BEGIN { print (value ~ /^[0-9.]+$/ && value + 0 <= limit + 0) ? "met" : "missed" }')
    printf 'GOAL %s %s <=%s %s\n' "$1" "$2" "$3" "$verdict"
}

# Instructions of N iterations of one variant, as counted by callgrind.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$record_cost" "$1" "$2" 2>&1 |
        awk '/Collected/ { print $NF }'
}

# Exact: the difference of two lengths excludes start-up; the loop's own instructions are subtracted.
per_iteration() {
    local few=10000 many=110000
    awk -v few="$(instructions "$1" $few)" -v many="$(instructions "$1" $many)" -v count=$((many - few)) \
        'BEGIN { printf "%.2f", (many - few) / count }'
}

record_figures() {
    local loop enabled filtered guest
    "$here/lttng_session.sh" "$lttng_peer" "$record_cost"
    loop=$(per_iteration loop)
    enabled=$(awk -v a="$(per_iteration enabled)" -v b="$loop" 'BEGIN { printf "%.2f", a - b }')
    filtered=$(awk -v a="$(per_iteration filtered)" -v b="$loop" 'BEGIN { printf "%.2f", a - b }')
    figure record_instructions_callgrind "$enabled" instructions
    figure record_filtered_instructions_callgrind "$filtered" instructions
    goal P3.callgrind "$enabled" 16
    goal P4.callgrind "$filtered" 3
    KERNEL=$test_kernel WORK=$scratch BOOT=pvh ACCEL=tcg CLOCK=icount NIC=none timeout 60 \
        qemu/boot.sh 'app=b_record exit=debug clock=icount' || true # the exit code says 33; the figures are looked for
    guest=$(tr -d '\r' <"$scratch/serial.log")
    enabled=$(awk '/figure record_enabled/ { print $NF }' <<<"$guest")
    figure record_instructions_icount "$enabled" instructions
    goal P3.icount "${enabled:-none}" 16
    filtered=$(awk '/figure record_filtered/ { print $NF }' <<<"$guest")
    figure record_filtered_instructions_icount "$filtered" instructions
    goal P4.icount "${filtered:-none}" 3
}

# TRACER=OFF against sources without any hook: the check itself reports each difference.
compiled_out() {
    local found
    if found=$("$root/tests/structure/tracer_off.sh"); then
        goal P4.compiled_out 0 0
    else
        printf 'NOTE %s\n' "$(head -n 1 <<<"$found")"
        goal P4.compiled_out "$(grep -c 'the hooks remain' <<<"$found" || true)_objects_differ" 0
    fi
}

# Compact chunks, on the trace of one deterministic run.
compact_figures() {
    make --no-print-directory -C "$root" run APP=control BOOT=pvh CLOCK=icount SINK=disk OUT="$scratch/compact" \
        DEPS=skip >"$scratch/compact.log" 2>&1 || { cat "$scratch/compact.log" >&2; return 1; }
    "$compact_cost" "$scratch/compact/disk"
}

size_figures() {
    local folder lines
    for folder in lib arch tracer drivers kernel apps host tests qemu docs; do
        lines=$(git -C "$root" ls-files "$folder" | sed "s|^|$root/|" | grep -E '\.(cpp|hpp|S|h|sh|py|md)$' |
            xargs cat | wc -l)
        figure "lines_$folder" "$lines" lines
    done
    figure kernel_text "$(size -A "$kernel" | awk '$1 == ".text" { print $2 }')" bytes
}

# How long the last `make test` and `.ci/run` took; they store the number.
suite_figures() {
    local name
    for name in make_test ci_run; do
        if [[ -f $root/build/$name.seconds ]]; then
            figure "$name" "$(<"$root/build/$name.seconds")" s
        fi
    done
}

{
    printf 'NOTE processor:%s; load %s\n' "$(awk -F: '/^model name/ { print $2; exit }' /proc/cpuinfo)" \
        "$(cut -d' ' -f1-3 /proc/loadavg)"
    record_figures
    compiled_out
    compact_figures
    python3 "$here/boot_times.py" --kernel "$kernel" --efi "$efi" --remora "$remora"
    size_figures
    suite_figures
} | tee "$scratch/all"
printf '\n%-20s %12s %10s  %s\n' goal figure wanted verdict
awk '$1 == "GOAL" { printf "%-20s %12s %10s  %s\n", $2, $3, $4, $5 }' "$scratch/all"
