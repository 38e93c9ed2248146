#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs a command while an LTTng-UST session records the event of lttng_peer.tp, with the peer's library in LTTNG_PEER.
# The session overwrites its oldest data (snapshot mode), so that no reader's speed affects the figure; at the end a
# snapshot shows that events were recorded. Without a session the command still runs, after a line NOTE.
# Usage: lttng_session.sh LIBRARY COMMAND [ARGUMENT ...]
set -uo pipefail

library=$1
shift
scratch=$(mktemp -d)
daemon=
session=remora-bench-$$

control() { timeout 20 lttng --no-sessiond "$@" >>"$scratch/log" 2>&1; }

# shellcheck disable=SC2317 # the trap calls it
leave() {
    if [[ -n $daemon ]]; then
        kill "$daemon" 2>/dev/null
        wait "$daemon" 2>/dev/null
    fi
    rm -rf "$scratch"
}
trap leave EXIT

# One daemon per user: if one is already running, it gets another session and is not stopped.
start_daemon() {
    export LTTNG_HOME=$scratch
    control list && return 0
    lttng-sessiond --no-kernel --quiet >>"$scratch/log" 2>&1 &
    daemon=$!
    local look
    for ((look = 0; look < 100; ++look)); do
        control list && return 0
        kill -0 "$daemon" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}

start_session() {
    control create "$session" --snapshot --output="$scratch/snapshot" &&
        control enable-channel --userspace --session="$session" --overwrite --subbuf-size=1M --num-subbuf=4 events &&
        control enable-event --userspace --session="$session" --channel=events 'remora_bench:two_words' &&
        control start "$session"
}

if ! command -v lttng >/dev/null || ! start_daemon || ! start_session; then
    printf 'NOTE LTTng-UST: no session: %s\n' "$(tail -n 1 "$scratch/log" 2>/dev/null)"
    "$@"
    exit
fi
LTTNG_PEER=$library LTTNG_UST_REGISTER_TIMEOUT=10000 "$@"
status=$?
control snapshot record --session="$session"
size=$(find "$scratch/snapshot" -type f -name 'events_*' -printf '%s\n' 2>/dev/null |
    awk '{ sum += $1 } END { print sum + 0 }')
printf 'FIGURE lttng_ust_snapshot %s bytes\n' "$size"
if [[ $size -lt 1000000 ]]; then
    printf 'NOTE LTTng-UST: the snapshot is too small: the events of the run are not in it\n'
fi
control destroy "$session"
exit "$status"
