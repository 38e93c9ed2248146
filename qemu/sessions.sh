# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # lib.sh sets, and run.sh uses variables
# What receives the trace of `make run`, and where it stays: the collector, the files of the ramdisk, and the directory
# OUT/new, whose sessions take the places of the earlier ones. It is sourced by qemu/run.sh, whose variables it uses.

# A session gets its place when the machine has ended and the collector has closed it: a run that fails before that, or
# is interrupted, leaves the session of the one before as it is.
NEW=$OUT/new
READY=$OUT/collector.ready
COLLECTOR_PID=
COLLECTOR_STATUS=

# received DIR ...: whether any of these holds a part of a trace.
received() {
    [[ -n $(find "$@" -type f \( -name '*trace.dat' -o -name '*.trc' \) -size +0 -print -quit 2>/dev/null || true) ]]
}

# The boot id in the name of another boot's session.
kBoot=$(printf '[0-9a-f]%.0s' {1..16})

# each_place COMMAND: executes it for each directory that a run fills, with the files that it may have.
each_place() {
    local place
    for place in "$OUT"/{udp,udp-$kBoot-[0-9]*,disk}; do
        "$1" "$place" "$kSessionFiles"
    done
    "$1" "$OUT/udp.journal" "$kJournalFiles"
}

# Removes what a run has left that received nothing.
drop_new() { received "$NEW" || clear_folder "$NEW" "$kNewFiles"; }

# Gives the sessions of this run their places, and removes those of the one before with its page. No signal interrupts
# that.
keep_new() {
    received "$NEW" || return 0
    trap '' INT TERM HUP PIPE
    each_place clear_folder
    rm -f "$OUT/raises.csv" "$OUT/run.html"
    mv "$NEW"/* "$OUT"
    rmdir "$NEW"
    catch_signals
}

# listen PORT: starts the collector, which must listen before the first packet, and returns whether it is ready; it
# writes its address into its ready file when it is.
listen() {
    local options=()
    # A file that is not an image is refused by the loader, with a better message.
    if [[ $(head -c 4 "$KERNEL" | tr -d '\0') == $'\x7fELF' ]]; then
        options=(--kernel "$KERNEL")
    fi
    if [[ -n ${KEY:-} ]]; then
        options+=(--key "$KEY")
    fi
    setsid "$REMORA" record --listen "127.0.0.1:$1" --out "$NEW/udp" --ready-file "$READY" \
        "${options[@]}" >"$OUT/collector.log" 2>&1 &
    COLLECTOR_PID=$!
    local tries
    for ((tries = 0; tries < 100; ++tries)); do
        if [[ -s $READY ]]; then
            PORT=$(sed 's/.*://' "$READY")
            return
        fi
        if ! kill -0 "$COLLECTOR_PID" 2>/dev/null; then
            COLLECTOR_PID=
            return 1
        fi
        sleep 0.05
    done
    cat "$OUT/collector.log" >&2
    die 'the collector did not get ready within 5 s'
}

# Without PORT=n it is a free port, the usual one if possible: so the collectors of two checkouts do not meet.
start_collector() {
    local port=$PORT
    [[ $port != auto ]] || port=$kPort
    listen "$port" && return
    if grep -q "$port is taken" "$OUT/collector.log"; then
        [[ $PORT == auto ]] ||
            die "the port $port is taken" 'end what uses it, or leave out PORT=n: then a free one is used'
        listen 0 && return
    fi
    cat "$OUT/collector.log" >&2
    die 'the collector does not start'
}

received_bytes() {
    find "$NEW/udp" -type f -name '*trace.dat' -printf '%s\n' 2>/dev/null | awk '{n += $1} END {print n + 0}'
}

# The collector ends by itself after the end of the export; a trace without an end is closed by asking it to stop.
wait_for_collector() {
    local tries
    for ((tries = 0; tries < 25; ++tries)); do
        kill -0 "$COLLECTOR_PID" 2>/dev/null || break
        sleep 0.2
    done
    stop "$COLLECTOR_PID"
    COLLECTOR_STATUS=0
    wait "$COLLECTOR_PID" || COLLECTOR_STATUS=$?
    COLLECTOR_PID=
}

# Ends the collector immediately, because nothing was sent, or not everything, and the disk has what the machine still
# had. What the collector got may be nowhere else, because the machine records again into a chunk that was acknowledged.
end_collector() {
    stop "$COLLECTOR_PID"
    wait "$COLLECTOR_PID" || true
    COLLECTOR_PID=
    if received "$NEW/udp" "$NEW/udp.journal"; then
        say "what the network had carried before it failed is in $OUT/udp"
        return
    fi
    clear_folder "$NEW/udp.journal" "$kJournalFiles"
    clear_folder "$NEW/udp" "$kSessionFiles"
}

# The files of a run have the name that the application gave FTrace_init_disk_writer(), after their numbers; those of a
# session are 0trace.dat, 1trace.dat, ...
fetch_disk() {
    local entry name='' file
    mkdir -p "$NEW/disk"
    while IFS= read -r entry; do
        if [[ $entry == ::/0* ]]; then
            name=${entry#::/0}
        fi
    done < <(MTOOLS_LOWER_CASE=1 mdir -b -i "$OUT/ramdisk.img" '::' 2>"$OUT/mcopy.log")
    if [[ -z $name ]] ||
        ! MTOOLS_LOWER_CASE=1 mcopy -n -i "$OUT/ramdisk.img" "::*$name" "$NEW/disk/" 2>"$OUT/mcopy.log"; then
        PROBLEMS+=("no trace file on the ramdisk: $(tail -n 1 "$OUT/mcopy.log")")
        return
    fi
    if [[ $name != trace.dat ]]; then
        for file in "$NEW"/disk/*"$name"; do
            mv "$file" "${file%"$name"}trace.dat"
        done
        say "the files *$name of the ramdisk are *trace.dat in $OUT/disk"
    fi
    if ! "$REMORA" adopt --kernel "$KERNEL" "$NEW/disk" >/dev/null; then
        PROBLEMS+=("the files of the ramdisk are no session")
    fi
}
