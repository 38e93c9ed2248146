#!/bin/bash
# SPDX-License-Identifier: MIT
# gtkwave_picture.sh TRACE.vcd SCRIPT.tcl PICTURE.png: GTKWave on a display of its own, with the script's signals.
set -euo pipefail
dump=$1 script=$2 picture=$3
home=$(mktemp -d)
trap 'kill "${viewer:-}" "${server:-}" 2>/dev/null || true; rm -rf "$home"' EXIT

# The server picks a free display and says which.
Xvfb -displayfd 3 -screen 0 1400x900x24 -nolisten tcp 3>"$home/display" 2>/dev/null &
server=$!
for _ in $(seq 100); do
    [[ -s $home/display ]] && break
    sleep 0.1
done
DISPLAY=:$(<"$home/display")
export DISPLAY HOME=$home

cat >"$home/gtkwaverc" <<'RC'
initial_window_x 1400
initial_window_y 900
initial_signal_window_width 300
hide_sst 1
splash_disable 1
RC
(cd "$(dirname "$dump")" && exec gtkwave -r "$home/gtkwaverc" -S "$script" "$(basename "$dump")") >"$home/log" 2>&1 &
viewer=$!

# It has drawn when two pictures in a row are the same and not plain.
last=
for _ in $(seq 60); do
    sleep 1
    kill -0 "$viewer" 2>/dev/null || { cat "$home/log" >&2; exit 1; }
    import -window root "$picture"
    sum=$(md5sum <"$picture")
    colours=$(convert "$picture" -format %k info:)
    [[ $sum == "$last" && $colours -ge 8 ]] && exit 0
    last=$sum
done
echo "GTKWave drew nothing" >&2
exit 1
