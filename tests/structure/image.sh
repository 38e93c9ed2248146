#!/bin/bash
# SPDX-License-Identifier: MIT
# What the kernel images must and must not contain: no undefined symbols, no code that runs before the entry point, no
# unwind tables, no path of the machine that built them, no memory that is both writable and executable, and initialised
# data in the file, because the loader treats a segment without content as the trace arena and does not clear it.
set -uo pipefail
: "${BUILD:=build}" "${KERNEL:=$BUILD/kernel/kernel.elf}" "${TEST_KERNEL:=$BUILD/kernel/kernel-test.elf}"

status=0
fault() {
    printf '%s: %s\n' "$1" "$2"
    status=1
}

for image in "$KERNEL" "$TEST_KERNEL" "$BUILD/kernel-off/kernel.elf"; do
    if [[ ! -f $image ]]; then
        fault "$image" 'not built'
        continue
    fi
    undefined=$(nm -u "$image")
    [[ -z $undefined ]] || fault "$image" "undefined symbols: $undefined"
    grep -qaF -- "$PWD" "$image" && fault "$image" "it names sources below $PWD instead of below ."
    # section name and size in hexadecimal
    sections=$(readelf -SW "$image" | sed -n 's/^ *\[ *[0-9]*\] //p' | awk '{print $1, $5}')
    grep -qE '^\.(eh_frame|gcc_except_table|dynamic|interp)' <<<"$sections" &&
        fault "$image" 'unwind or dynamic section'
    grep -E '^\.(init_array|ctors|got|rela)' <<<"$sections" | grep -qv ' 0*$' &&
        fault "$image" '.init_array, .got or .rela has content'
    # The texts of trace_printf are in the file, at address 0, and not in a loaded segment.
    if grep -q '^\.trace_formats ' <<<"$sections"; then
        readelf -SW "$image" | grep -E '\.trace_formats +PROGBITS +0+ ' | grep -q ' A ' &&
            fault "$image" '.trace_formats would be loaded'
        # Texts that linker.ld did not collect would be loaded with the constants.
        stray=$(nm "$image" | awk '/trace_format_text/ && $1 >= "0000000000100000" {print $3}')
        [[ -z $stray ]] || fault "$image" "a format of trace_printf is outside .trace_formats: $stray"
        loaded=$(mktemp)
        objcopy -O binary --remove-section=.arena "$image" "$loaded"
        while IFS= read -r text; do
            if [[ ${#text} -ge 8 ]] && grep -qaF -- "$text" "$loaded"; then
                fault "$image" "a format of trace_printf is loaded: $text"
            fi
        done < <(objcopy -O binary --only-section=.trace_formats --set-section-flags .trace_formats=alloc "$image" \
            /dev/stdout | tr '\0' '\n')
        rm -f "$loaded"
    else
        fault "$image" 'no section .trace_formats'
    fi
    segments=$(readelf -lW "$image" | grep -E '^ +(LOAD|GNU_STACK)')
    grep -qE ' (RWE|WE) ' <<<"$segments" && fault "$image" 'a segment is writable and executable'
    grep -qE 'LOAD .* 0x0*[1-9a-f][0-9a-f]* 0x[0-9a-f]+ RW ' <<<"$segments" || fault "$image" 'no writable segment'
    awk '$7 == "RW" && $3 < "0x0000000002000000" && $5 ~ /^0x0+$/ && $6 !~ /^0x0+$/ {exit 1}' <<<"$segments" ||
        fault "$image" '.bss is in a segment without content: it is not cleared'
done
exit "$status"
