#!/bin/bash
# SPDX-License-Identifier: MIT
# `make debug`: boots the kernel stopped at its first instruction with QEMU's gdb server listening. On a terminal gdb
# starts at once and QEMU ends with it; elsewhere the command to attach is printed and QEMU waits.
#
#   qemu/debug.sh KERNEL EFI_LOADER      options from the environment, as for `make run`; GDB_PORT=n (default 1234)
set -euo pipefail
# shellcheck source=qemu/lib.sh
source "$(dirname "$0")/lib.sh"

KERNEL=$1
EFI_LOADER=$2
: "${APP:?}" "${SINK:?}" "${BOOT:?}" "${ACCEL:?}" "${CLOCK:?}" "${NIC:?}" "${OUT:?}" "${PORT:?}" "${SEED:?}"
if [[ ${TRACER:-NEW} == OFF ]]; then
    SINK=none
fi

check_values
check_machine
[[ $PORT != auto ]] || PORT=$kPort
need_file "$KERNEL" 'make kernel'
claim_out
rm -f "$OUT/serial.log"
ramdisk=
if sink_has disk; then
    need_tool mkfs.fat
    make_ramdisk "$OUT/ramdisk.img"
    ramdisk=$OUT/ramdisk.img
fi

attach=(gdb -q "$KERNEL" -ex "target remote 127.0.0.1:$GDB_PORT" -ex 'hbreak kernel_entry')
say "The machine is stopped before its first instruction. Serial output: $OUT/serial.log"
if sink_has udp; then
    say "The trace goes to UDP port $PORT; to keep it: build/host/remora record --listen 127.0.0.1:$PORT --out DIR"
fi
say 'Attach from elsewhere with:'
say "  gdb $KERNEL -ex 'target remote 127.0.0.1:$GDB_PORT' -ex 'hbreak kernel_entry' -ex continue"

boot() {
    KERNEL=$KERNEL EFI_LOADER=$EFI_LOADER WORK=$OUT RAMDISK=$ramdisk BOOT=$BOOT ACCEL=$ACCEL CLOCK=$CLOCK NIC=$NIC \
        exec "$(dirname "$0")/boot.sh" "$(kernel_words acpi)" -S -gdb "tcp:127.0.0.1:$GDB_PORT"
}

if [[ -t 0 && -t 1 ]]; then
    need_tool gdb
    boot >"$OUT/qemu.log" 2>&1 &
    qemu=$!
    trap 'kill "$qemu" 2>/dev/null || true' EXIT
    sleep 0.5
    if ! kill -0 "$qemu" 2>/dev/null; then
        cat "$OUT/qemu.log" >&2
        die "QEMU does not start (is port $GDB_PORT taken?)" 'GDB_PORT=n'
    fi
    "${attach[@]}"
else
    boot
fi
