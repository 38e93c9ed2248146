#!/bin/bash
# SPDX-License-Identifier: MIT
# `make run`: starts the collector, boots the kernel, waits with a progress line, fetches the trace from the network and
# from the ramdisk, verifies it, compares the decisions with the theory (CLOCK=icount) and reports the result. It never
# waits for a key. The exit code is 0 only if the workload succeeded, the trace arrived complete and no decision was
# wrong.
#
#   qemu/run.sh KERNEL EFI_LOADER REMORA      options come from the environment, as the Makefile exports them
#
#   OUT/serial.log  OUT/qemu.log  OUT/collector.log  OUT/ramdisk.img      logs and ramdisk of the run
#   OUT/ram                                  the machine's memory, also while it runs (docs/black-box.md)
#   OUT/raises.csv                           with OBSERVE=on: when devices raised interrupts (docs/latency.md)
#   OUT/qmp.in  OUT/qmp.out                  QEMU's monitor, while it runs: after TIMEOUT_S it sends an NMI
#   OUT/udp  OUT/disk  OUT/run.html          the sessions of the last run that exported a trace, and its page
#   OUT/udp-<16 digits>-<n>                  if the machine was reset: the session of another boot
#   OUT/udp.journal                          only if the collector was killed
#   OUT/new                                  what a run has received that has not ended, or was interrupted
#   SINK=auto: both sessions, if the network failed when it had carried something
set -euo pipefail
# shellcheck source=qemu/lib.sh
source "$(dirname "$0")/lib.sh"

KERNEL=$1
EFI_LOADER=$2
REMORA=$3
OBSERVER=$(dirname "$REMORA")/observer.so
: "${APP:?}" "${SINK:?}" "${BOOT:?}" "${ACCEL:?}" "${CLOCK:?}" "${NIC:?}" "${OUT:?}" "${PORT:?}" "${SEED:?}"
: "${TIMEOUT_S:?}" "${TRACER:?}"
if [[ $TRACER == OFF ]]; then
    SINK=none
fi

# shellcheck source=qemu/sessions.sh
source "$(dirname "$0")/sessions.sh"

SERIAL=$OUT/serial.log
MONITOR=$OUT/qmp
QEMU_PID=
QEMU_STATUS=
TIMED_OUT=
STILL_ON=
PROBLEMS=()
SESSION=
RAISES=() # an option of remora

# --- host side -------------------------------------------------------------------------------------------------------

check_host() {
    check_values
    check_machine
    need_file "$KERNEL" 'make kernel'
    need_file "$REMORA" 'make host'
    if [[ $BOOT == uefi ]]; then
        need_file "$EFI_LOADER" 'make all'
    fi
    [[ ${OBSERVE:-off} != on ]] || need_file "$OBSERVER" 'make host'
    if sink_has disk; then
        need_tool mkfs.fat
        need_tool mcopy
    fi
}

# stop PID: asks the process to end, once, because a second signal would interrupt the closing of a session; after about
# 5 s it is killed. Its exit code is left to `wait`.
ASKED=' '
stop() {
    if [[ $ASKED != *" $1 "* ]]; then
        ASKED+="$1 "
        kill -TERM "$1" 2>/dev/null || true
    fi
    local tries
    for ((tries = 0; tries < 50; ++tries)); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$1" 2>/dev/null || true
}

# The children have sessions of their own (setsid), so Ctrl-C on the terminal reaches only this script.
stop_children() {
    trap '' INT TERM HUP PIPE
    local pid
    for pid in $QEMU_PID $COLLECTOR_PID; do
        stop "$pid"
    done
    if [[ -n $STARTED ]]; then
        rm -f "$MONITOR".{in,out} "$OUT"/run.html.*.partial
        drop_new
        [[ ! -d $NEW ]] || say "what had arrived is in $NEW until the next run" >&2
    fi
}
STARTED=
trap stop_children EXIT
catch_signals() {
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    trap 'exit 141' PIPE
}
catch_signals

prepare_out() {
    claim_out
    # Everything is checked before the first file is removed.
    each_place check_folder
    check_folder "$NEW" "$kNewFiles"
    check_folder "$OUT/esp" "$kEspFiles"
    check_ramdisk "$OUT/ramdisk.img"
    check_ram "$OUT/ram"
    clear_folder "$NEW" "$kNewFiles"
    clear_folder "$OUT/esp" "$kEspFiles"
    rm -f "$OUT/ramdisk.img" "$OUT/ram" "$SERIAL" "$READY" "$OUT/qemu.log" "$OUT/collector.log" "$MONITOR".{in,out}
    mkdir "$NEW"
    STARTED=yes
    touch "$SERIAL"
    if sink_has disk; then
        make_ramdisk "$OUT/ramdisk.img"
    fi
}

start_guest() {
    local ramdisk=
    if sink_has disk; then
        ramdisk=$OUT/ramdisk.img
    fi
    local ram=
    if has_room_for_ram "$OUT"; then
        ram=$OUT/ram
    fi
    local monitor=()
    if mkfifo "$MONITOR.in" "$MONITOR.out" 2>/dev/null; then # not every file system has them
        monitor=(-chardev "pipe,id=monitor,path=$(quoted "$MONITOR")" -mon 'chardev=monitor,mode=control')
    fi
    local raises=
    [[ ${OBSERVE:-off} != on ]] || raises=$NEW/raises.csv RAISES=(--raises "$OUT/raises.csv")
    KERNEL=$KERNEL EFI_LOADER=$EFI_LOADER WORK=$OUT RAMDISK=$ramdisk RAM=$ram BOOT=$BOOT ACCEL=$ACCEL CLOCK=$CLOCK \
        OBSERVER=$OBSERVER RAISES=$raises \
        NIC=$NIC setsid "$(dirname "$0")/boot.sh" "$(kernel_words acpi)" "${monitor[@]}" >"$OUT/qemu.log" 2>&1 &
    QEMU_PID=$!
}

# --- waiting ---------------------------------------------------------------------------------------------------------

# The state of the guest, from the last marker line.
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

# inject_nmi: sends an NMI, at which the kernel panics and exports its trace, even if it hangs. A kernel that has
# panicked already or exports is left alone. Returns false if nothing that runs can be asked.
inject_nmi() {
    [[ -p $MONITOR.in && -n $(marker "$SERIAL" '^running ') ]] || return 1
    [[ -z $(marker "$SERIAL" '^panic') && $(guest_state) != exporting ]] || return 0
    # Opened for both directions, so that it does not wait for a reader.
    printf '%s\n' '{"execute": "qmp_capabilities"}' '{"execute": "inject-nmi"}' 1<>"$MONITOR.in"
}

# A kernel that has reported its result switches the machine off; one that cannot is stopped after a moment.
kExportWait_s=30
wait_for_guest() {
    SECONDS=0
    local result_seen_s='' ends_s=0
    while kill -0 "$QEMU_PID" 2>/dev/null; do
        progress "$(guest_state)"
        if [[ -n $(marker "$SERIAL" '^loader failed') ]]; then
            stop "$QEMU_PID"
            break
        fi
        if [[ -z $result_seen_s && -n $(marker "$SERIAL" '^result ') ]]; then
            result_seen_s=$SECONDS
        elif [[ -n $result_seen_s ]] && ((SECONDS > result_seen_s + 2)); then
            STILL_ON=yes
            stop "$QEMU_PID"
            break
        fi
        if [[ -z $TIMED_OUT ]] && ((SECONDS >= TIMEOUT_S)); then
            TIMED_OUT=$LAST_STATE
            ends_s=$SECONDS
            if inject_nmi; then
                ends_s=$((SECONDS + kExportWait_s))
            fi
        fi
        if [[ -n $TIMED_OUT ]] && ((SECONDS >= ends_s)); then
            stop "$QEMU_PID"
            break
        fi
        sleep 0.2
    done
    end_progress
    QEMU_STATUS=0
    wait "$QEMU_PID" || QEMU_STATUS=$?
    QEMU_PID=
    rm -f "$MONITOR".{in,out}
}

# --- the result ------------------------------------------------------------------------------------------------------

kNmiPanic='panic: exception 2 (NMI)'

# The cause of a failed run, in one line: the first that applies explains the others.
cause() {
    local pattern line
    for pattern in '^loader failed' '^command line: ' '^panic' '^main task: ' '^export failed'; do
        line=$(marker "$SERIAL" "$pattern")
        if [[ -n $line && ! (-n $TIMED_OUT && $line == "$kNmiPanic") ]]; then
            say "the guest says: $line"
            return
        fi
    done
    line=$(marker "$SERIAL" '^result ')
    if [[ -n $TIMED_OUT ]]; then
        local panicked=
        if [[ -n $(marker "$SERIAL" "^$kNmiPanic") ]]; then
            panicked=', and panicked at an NMI'
        fi
        say "the guest did not end within $TIMEOUT_S s (state: $TIMED_OUT)$panicked; TIMEOUT_S=n waits longer"
    elif [[ -n $line ]]; then
        say "the kernel reported: $line"
    elif [[ $QEMU_STATUS -ne 0 ]]; then
        say "QEMU ended with exit code $QEMU_STATUS: $(tail -n 1 "$OUT/qemu.log")"
    else
        say 'the machine stopped and the kernel reported no result'
    fi
}

judge_guest() {
    if [[ $(marker "$SERIAL" '^result ') != 'result ok'* ]]; then
        PROBLEMS+=("$(cause) (see $SERIAL)")
    elif [[ $QEMU_STATUS -ne 0 && -z $STILL_ON ]]; then
        PROBLEMS+=("QEMU ended with exit code $QEMU_STATUS (see $OUT/qemu.log)")
    elif [[ -n $STILL_ON ]]; then
        PROBLEMS+=("the machine did not switch off after the kernel's result (see $SERIAL)")
    fi
}

# is_expected SINK: whether this sink has a session to wait for and to check. Without an export marker and a received
# byte a run that failed has none.
is_expected() {
    sink_has "$1" && carried "$1" || return
    [[ ${#PROBLEMS[@]} -eq 0 || -n $(marker "$SERIAL" '^export\(ed\|ing\) ') ]] || (($(received_bytes) > 0))
}

# judge_session DIR: verifies and shows one session.
judge_session() {
    if [[ ${#PROBLEMS[@]} -gt 0 ]] && ! received "$1"; then
        return # nothing arrived, and the cause is known
    fi
    if [[ ! -e $1/manifest.json ]]; then
        PROBLEMS+=("no session in $1")
        return
    fi
    say
    say "== $1"
    local verified=0
    "$REMORA" --no-pager verify "$1" || verified=$?
    case $verified in
    0) ;;
    8) [[ ${#PROBLEMS[@]} -gt 0 ]] || PROBLEMS+=("the run in $1 ended badly") ;;
    6) PROBLEMS+=("whether the trace in $1 is whole is not known: its account stays open") ;;
    *) PROBLEMS+=("the trace in $1 is not whole") ;;
    esac
    "$REMORA" --no-pager summary "$1" "${RAISES[@]}" || PROBLEMS+=("the trace in $1 cannot be read")
    # Only a clock that counts instructions shows the kernel's timing alone.
    if [[ $CLOCK == icount ]]; then
        say
        say 'the decisions, compared with the scheduling theory:'
        local judged=0
        "$REMORA" --no-pager check "$1" || judged=$?
        case $judged in
        0 | 8) ;;
        6) PROBLEMS+=("not all decisions in $1 could be judged") ;;
        *) PROBLEMS+=("$1 shows decisions that the theory does not allow") ;;
        esac
    fi
}

# carried SINK: whether this sink carried the trace with SINK=auto; both carry a trace that left unacknowledged.
carried() { [[ $SINK != auto || -n $(marker "$SERIAL" "^exported .* by $1") ]]; }

judge_sessions() {
    local sessions=() session disk=
    ! is_expected disk || disk=yes
    if is_expected udp && [[ $SINK != auto || -z $disk ]]; then
        wait_for_collector
        if [[ $COLLECTOR_STATUS -ne 0 ]]; then
            tail -n 5 "$OUT/collector.log" >&2
            PROBLEMS+=("the collector ended with exit code $COLLECTOR_STATUS (see $OUT/collector.log)")
        fi
        sessions=("$OUT/udp")
    elif sink_has udp; then
        end_collector
    fi
    if [[ -n $disk ]]; then
        fetch_disk
        sessions+=("$OUT/disk")
    fi
    if ! received "$NEW"; then
        # The session of the run before is not that of this one.
        [[ ${#sessions[@]} -eq 0 || ${#PROBLEMS[@]} -gt 0 ]] || PROBLEMS+=('no trace arrived')
        return
    fi
    keep_new
    for session in "${sessions[@]}"; do
        judge_session "$session"
    done
    SESSION=${sessions[0]:-}
    if [[ -n $SESSION ]]; then
        report_sessions "$SESSION"
    fi
}

report_guest() {
    # SINK=both: each sink has a line.
    markers "$SERIAL" | grep -E '^(boot|running|limit_ms:|exited|exporting disk,|exported|result) ' |
        sed 's/^/guest: /' || true
    local asked_ms=${DURATION_MS:-0} ran_ms
    ran_ms=$(marker "$SERIAL" '^exited ' | grep -oE '[0-9]+ ms' || true)
    ran_ms=${ran_ms% ms}
    if ((asked_ms > 0 && ${ran_ms:-0} > asked_ms + asked_ms / 5 + 10)); then
        say "note: $APP ran for $ran_ms ms: it cannot be shorter, or does not look at DURATION_MS=$asked_ms"
    fi
}

report_sessions() {
    local session=$1 written=0
    "$REMORA" report "$session" --kernel "$KERNEL" "${RAISES[@]}" -o "$OUT/run.html" 2>/dev/null || written=$?
    say
    say 'look further:'
    if ((written == 0 || written == 2)); then
        say "  xdg-open $OUT/run.html          the run as a page: timeline, jobs, figures"
    fi
    say "  $REMORA print $session          one line per event"
    say "  $REMORA summary $session        figures per task and per family"
    say "  $REMORA print --json $session   for scripts"
    if [[ -e $OUT/ram ]]; then
        say "  $REMORA attach $OUT/ram          the same from the machine's memory, while it runs with --follow"
    fi
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
    judge_sessions
    how_it_ended "$SESSION"
    if [[ ${#PROBLEMS[@]} -gt 0 ]]; then
        say
        printf 'error: %s\n' "${PROBLEMS[@]}" >&2
        if [[ $TRACER != OFF && -s $OUT/ram && -n $(marker "$SERIAL" '^running ') ]]; then
            printf '%s\n' "what was traced is in the machine's memory: $REMORA attach $OUT/ram" >&2
        fi
        exit 1
    fi
}

main
