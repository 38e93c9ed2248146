#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures and prints one line a figure: `FIGURE name value unit`, or `GOAL id value goal met|missed`.
# Usage: run.sh RECORD_COST COMPACT_COST KERNEL TEST_KERNEL EFI REMORA
set -euo pipefail

record_cost=$1 compact_cost=$2 kernel=$3 test_kernel=$4 efi=$5 remora=$6
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

figure() { printf 'FIGURE %s %s %s\n' "$1" "$2" "$3"; }

# goal ID VALUE LIMIT: met if VALUE <= LIMIT.
goal() {
    local verdict
    verdict=$(awk -v value="$2" -v limit="$3" 'BEGIN { print (value <= limit) ? "met" : "missed" }')
    printf 'GOAL %s %s <=%s %s\n' "$1" "$2" "$3" "$verdict"
}

# Instructions of so many iterations of one variant, as callgrind counts them.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$record_cost" "$1" "$2" 2>&1 |
        awk '/Collected/ { print $NF }'
}

# Exact: the difference of two lengths is free of start-up, the loop's own instructions are taken off.
per_iteration() {
    local few=10000 many=110000
    awk -v few="$(instructions "$1" $few)" -v many="$(instructions "$1" $many)" -v count=$((many - few)) \
        'BEGIN { printf "%.2f", (many - few) / count }'
}

record_figures() {
    local ratio loop enabled filtered guest
    "$record_cost" | tee "$scratch/record"
    ratio=$(awk '/record_enabled_over_base/ { print $3 }' "$scratch/record")
    goal P1 "$ratio" 1.03
    loop=$(per_iteration loop)
    enabled=$(awk -v a="$(per_iteration enabled)" -v b="$loop" 'BEGIN { printf "%.2f", a - b }')
    filtered=$(awk -v a="$(per_iteration filtered)" -v b="$loop" 'BEGIN { printf "%.2f", a - b }')
    figure record_instructions_callgrind "$enabled" instructions
    figure record_filtered_instructions_callgrind "$filtered" instructions
    KERNEL=$test_kernel WORK=$scratch CLOCK=icount NIC=none timeout 60 \
        qemu/boot.sh 'app=b_record exit=debug clock=icount' || true # the exit code says 33; the figures are looked for
    guest=$(tr -d '\r' <"$scratch/serial.log")
    enabled=$(awk '/figure record_enabled/ { print $NF }' <<<"$guest")
    figure record_instructions_icount "$enabled" instructions
    goal P3 "$enabled" 22
    filtered=$(awk '/figure record_filtered/ { print $NF }' <<<"$guest")
    figure record_filtered_instructions_icount "$filtered" instructions
    goal P4 "$filtered" 3
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

# How long the last `make test` and `.ci/run` took; they leave the number behind.
suite_figures() {
    local name
    for name in make_test ci_run; do
        if [[ -f $root/build/$name.seconds ]]; then
            figure "$name" "$(<"$root/build/$name.seconds")" s
        fi
    done
}

record_figures
compact_figures
python3 "$here/boot_times.py" --kernel "$kernel" --efi "$efi" --remora "$remora"
size_figures
suite_figures
