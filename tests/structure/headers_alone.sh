#!/bin/bash
# SPDX-License-Identifier: MIT
# Compiles each header on the command line as if it were the only one, with the flags of the world that it belongs to.
# Headers that run in both worlds (lib, tracer, drivers) are compiled for both.
#
# environment   HEADER_FLAGS_KERNEL HEADER_FLAGS_HOST HEADER_FLAGS_TEST HEADER_FLAGS_EFI   RESULTS=file for the counts
set -uo pipefail

worlds() {
    case $1 in
    arch/uefi/firmware.hpp | arch/uefi/volume.hpp) echo EFI ;;
    arch/* | kernel/* | apps/* | tests/kernel/*) echo KERNEL ;;
    host/*) echo HOST ;;
    tests/*) echo TEST ;;
    *) echo KERNEL TEST ;;
    esac
}

# compile WORLD HEADER; called by xargs.
# shellcheck disable=SC2317
compile() {
    local flags
    local name=HEADER_FLAGS_$1
    read -ra flags <<<"${!name}"
    g++ "${flags[@]}" -fsyntax-only -include "$2" -x c++ /dev/null || {
        printf 'FAIL %s does not compile alone (%s)\n' "$2" "$1"
        return 1
    }
}
export -f compile

jobs=()
for header in "$@"; do
    for world in $(worlds "$header"); do
        jobs+=("$world $header")
    done
done
# shellcheck disable=SC2016 # the inner shell expands its own arguments
output=$(printf '%s\n' "${jobs[@]}" | xargs -r -P "$(nproc)" -L 1 bash -c 'compile "$0" "$1"' 2>&1)
status=$?
failed=$(grep -c '^FAIL ' <<<"$output")
if [[ $status -ne 0 ]]; then
    printf '%s\n' "$output"
fi
printf 'check-headers: %d passed, %d failed\n' $((${#jobs[@]} - failed)) "$failed"
if [[ -n ${RESULTS:-} ]]; then
    echo "$((${#jobs[@]} - failed)) $failed check-headers" >>"$RESULTS"
fi
exit "$status"
