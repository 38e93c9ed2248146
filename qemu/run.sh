#!/bin/bash
# SPDX-License-Identifier: MIT
# `make run`: starts the collector, boots the kernel, waits with a progress line, fetches the trace from the network and
# from the ramdisk, checks it and says what came of it. The exit code is 0 only if the workload ended well and the trace
# arrived whole.
#
#   qemu/run.sh KERNEL EFI_LOADER REMORA      options come from the environment, as the Makefile exports them
#
#   OUT/serial.log  OUT/qemu.log  OUT/collector.log  OUT/ramdisk.img      what the run left
#   OUT/udp  OUT/disk                                                     the sessions
set -euo pipefail
# shellcheck source=qemu/lib.sh
source "$(dirname "$0")/lib.sh"

KERNEL=$1
EFI_LOADER=$2
REMORA=$3
: "${APP:?}" "${SINK:?}" "${BOOT:?}" "${ACCEL:?}" "${CLOCK:?}" "${NIC:?}" "${OUT:?}" "${PORT:?}" "${SEED:?}"
: "${TIMEOUT_S:?}" "${TRACER:?}"
if [[ $TRACER == OFF ]]; then
    SINK=none
fi

SERIAL=$OUT/serial.log
READY=$OUT/collector.ready
COLLECTOR_PID=
QEMU_PID=
QEMU_STATUS=
COLLECTOR_STATUS=
PROBLEMS=()

# --- host side -------------------------------------------------------------------------------------------------------

check_host() {
    check_machine
    need_file "$KERNEL" 'make kernel'
    need_file "$REMORA" 'make host'
    if [[ $BOOT == uefi ]]; then
        need_file "$EFI_LOADER" 'make all'
    fi
    if sink_has disk; then
        need_tool mkfs.fat
        need_tool mcopy
    fi
}

stop_children() {
    local pid
    for pid in $QEMU_PID $COLLECTOR_PID; do
        kill "$pid" 2>/dev/null || true
    done
}
trap stop_children EXIT
trap 'exit 130' INT TERM

prepare_out() {
    mkdir -p "$OUT"
    # Everything is looked at before the first file goes.
    check_folder "$OUT/udp" "$kSessionFiles"
    check_folder "$OUT/disk" "$kSessionFiles"
    check_folder "$OUT/esp" "$kEspFiles"
    check_ramdisk "$OUT/ramdisk.img"
    clear_folder "$OUT/udp" "$kSessionFiles"
    clear_folder "$OUT/disk" "$kSessionFiles"
    clear_folder "$OUT/esp" "$kEspFiles"
    rm -f "$OUT/ramdisk.img" "$SERIAL" "$READY" "$OUT/qemu.log" "$OUT/collector.log"
    touch "$SERIAL"
    if sink_has disk; then
        make_ramdisk "$OUT/ramdisk.img"
    fi
}

# The collector must listen before the first packet: it says so through its ready file.
start_collector() {
    "$REMORA" record --listen "127.0.0.1:$PORT" --out "$OUT/udp" --ready-file "$READY" --force \
        >"$OUT/collector.log" 2>&1 &
    COLLECTOR_PID=$!
    local tries
    for ((tries = 0; tries < 100; ++tries)); do
        if [[ -e $READY ]]; then
            return
        fi
        if ! kill -0 "$COLLECTOR_PID" 2>/dev/null; then
            cat "$OUT/collector.log" >&2
            COLLECTOR_PID=
            die "the collector does not start on 127.0.0.1:$PORT" 'end what uses the port, or choose another: PORT=n'
        fi
        sleep 0.05
    done
    cat "$OUT/collector.log" >&2
    die 'the collector did not get ready within 5 s'
}

start_guest() {
    local ramdisk=
    if sink_has disk; then
        ramdisk=$OUT/ramdisk.img
    fi
    KERNEL=$KERNEL EFI_LOADER=$EFI_LOADER WORK=$OUT RAMDISK=$ramdisk BOOT=$BOOT ACCEL=$ACCEL CLOCK=$CLOCK NIC=$NIC \
        "$(dirname "$0")/boot.sh" "$(kernel_words acpi)" >"$OUT/qemu.log" 2>&1 &
    QEMU_PID=$!
}

# --- waiting ---------------------------------------------------------------------------------------------------------

# What the guest is doing now, from the last marker line.
guest_state() {
    local last
    last=$(marker "$SERIAL" .)
    case $last in
    '') if [[ $BOOT == uefi ]]; then say firmware; else say booting; fi ;;
    'running '*) say "$last" ;;
    'exporting '* | 'exited '*) say exporting ;;
    'exported '* | 'export failed'* | 'result '*) say finishing ;;
    *) say booting ;;
    esac
}

received_bytes() { find "$OUT/udp" -type f -printf '%s\n' 2>/dev/null | awk '{n += $1} END {print n + 0}'; }

# progress STATE: rewrites one line on a terminal; elsewhere prints a line for each new state.
LAST_STATE=
progress() {
    if [[ -t 1 ]]; then
        printf '\r\033[K%3d s  %s  %d bytes received' "$SECONDS" "$1" "$(received_bytes)"
    elif [[ $1 != "$LAST_STATE" ]]; then
        say "$SECONDS s  $1"
    fi
    LAST_STATE=$1
}

end_progress() {
    if [[ -t 1 ]]; then
        printf '\r\033[K'
    fi
}

# A kernel that has reported its result switches the machine off; one that cannot is stopped after a moment.
wait_for_guest() {
    SECONDS=0
    local result_seen_s=
    while kill -0 "$QEMU_PID" 2>/dev/null; do
        progress "$(guest_state)"
        if [[ -n $(marker "$SERIAL" '^loader failed') ]]; then
            PROBLEMS+=("the UEFI loader gave up: $(marker "$SERIAL" '^loader failed')")
            kill "$QEMU_PID" 2>/dev/null || true
            break
        fi
        if [[ -z $result_seen_s && -n $(marker "$SERIAL" '^result ') ]]; then
            result_seen_s=$SECONDS
        elif [[ -n $result_seen_s ]] && ((SECONDS > result_seen_s + 2)); then
            PROBLEMS+=("the machine did not switch off after the kernel's result")
            kill "$QEMU_PID" 2>/dev/null || true
            break
        fi
        if ((SECONDS >= TIMEOUT_S)); then
            PROBLEMS+=("the guest did not end within $TIMEOUT_S s (state: $LAST_STATE); TIMEOUT_S=n waits longer")
            kill "$QEMU_PID" 2>/dev/null || true
            break
        fi
        sleep 0.2
    done
    end_progress
    QEMU_STATUS=0
    wait "$QEMU_PID" || QEMU_STATUS=$?
    QEMU_PID=
}

# The collector ends by itself after the end of the export; a trace without an end is closed by asking it to stop.
wait_for_collector() {
    local tries
    for ((tries = 0; tries < 25; ++tries)); do
        kill -0 "$COLLECTOR_PID" 2>/dev/null || break
        sleep 0.2
    done
    kill -TERM "$COLLECTOR_PID" 2>/dev/null || true
    COLLECTOR_STATUS=0
    wait "$COLLECTOR_PID" || COLLECTOR_STATUS=$?
    COLLECTOR_PID=
}

# --- what came of it -------------------------------------------------------------------------------------------------

judge_guest() {
    local result
    result=$(marker "$SERIAL" '^result ')
    if [[ $QEMU_STATUS -ne 0 && ${#PROBLEMS[@]} -eq 0 ]]; then
        tail -n 5 "$OUT/qemu.log" >&2
        PROBLEMS+=("QEMU ended with exit code $QEMU_STATUS (see $OUT/qemu.log)")
    fi
    if [[ $result != 'result ok'* ]]; then
        PROBLEMS+=("the kernel did not report success but: ${result:-nothing} (see $SERIAL)")
        local reason
        for reason in '^command line: ' '^panic' '^export failed'; do
            reason=$(marker "$SERIAL" "$reason")
            if [[ -n $reason ]]; then
                PROBLEMS+=("$reason")
            fi
        done
    fi
}

fetch_disk() {
    mkdir -p "$OUT/disk"
    if ! MTOOLS_LOWER_CASE=1 mcopy -n -i "$OUT/ramdisk.img" '::*trace.dat' "$OUT/disk/" 2>"$OUT/mcopy.log"; then
        PROBLEMS+=("no trace file on the ramdisk: $(tail -n 1 "$OUT/mcopy.log")")
        return
    fi
    if ! "$REMORA" adopt "$OUT/disk"; then
        PROBLEMS+=("the files in $OUT/disk are no session")
    fi
}

# judge_session DIR: verifies and shows one session.
judge_session() {
    if [[ ! -e $1/manifest.json ]]; then
        PROBLEMS+=("no session in $1")
        return
    fi
    say
    say "== $1"
    "$REMORA" verify "$1" || PROBLEMS+=("the trace in $1 is not whole")
    "$REMORA" summary "$1" || PROBLEMS+=("the trace in $1 cannot be read")
}

report_guest() {
    local line
    for line in '^boot ' '^running ' '^exited ' '^exported ' '^result '; do
        line=$(marker "$SERIAL" "$line")
        if [[ -n $line ]]; then
            say "guest: $line"
        fi
    done
}

report_sessions() {
    local session=$1
    say
    say 'look further:'
    say "  $REMORA print $session          one line per event"
    say "  $REMORA summary $session        figures per task and per family"
    say "  $REMORA print --json $session   for scripts"
    say "  less $SERIAL"
}

main() {
    check_host
    prepare_out
    if sink_has udp; then
        start_collector
    fi
    say "booting $APP (BOOT=$BOOT ACCEL=$ACCEL CLOCK=$CLOCK NIC=$NIC SINK=$SINK SEED=$SEED)"
    start_guest
    wait_for_guest
    judge_guest
    report_guest
    local session=
    if sink_has udp; then
        wait_for_collector
        if [[ $COLLECTOR_STATUS -ne 0 ]]; then
            tail -n 5 "$OUT/collector.log" >&2
            PROBLEMS+=("the collector ended with exit code $COLLECTOR_STATUS (see $OUT/collector.log)")
        fi
        judge_session "$OUT/udp"
        session=$OUT/udp
    fi
    if sink_has disk; then
        fetch_disk
        judge_session "$OUT/disk"
        session=${session:-$OUT/disk}
    fi
    if [[ -n $session ]]; then
        report_sessions "$session"
    fi
    if [[ ${#PROBLEMS[@]} -gt 0 ]]; then
        say
        printf 'error: %s\n' "${PROBLEMS[@]}" >&2
        exit 1
    fi
}

main
