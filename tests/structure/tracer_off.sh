#!/bin/bash
# SPDX-License-Identifier: MIT
# TRACER=OFF costs nothing: the kernel's object code has the references, the virtual calls and, up to choices of the
# compiler, the instructions of sources from which every statement `trace_points::...;` is blanked out. Both are built
# in a copy of the tree, each source as an object of its own, without warnings (variables of the second may be unused).
set -uo pipefail

copy=$(mktemp -d)
trap 'rm -rf "$copy" "$copy.list"' EXIT
if ! git ls-files -co --exclude-standard >"$copy.list" || [[ ! -s $copy.list ]]; then
    printf 'error: git lists no files here\nremedy: git config --global --add safe.directory %s\n' "$PWD"
    exit 1
fi
tar -cf - --files-from "$copy.list" 2>/dev/null | tar -xf - -C "$copy"

# The kernel's objects in an image without tracer, as listed by the Makefile.
# shellcheck disable=SC2016 # make expands them
list='all_objects = $(call object,$(KERNEL_DIR),$(IMAGE_SOURCES))
list: ; @printf "%s\n" $(patsubst $(BUILD)/%,%,$(filter $(KERNEL_DIR)/kernel/%,$(all_objects)))'
mapfile -t objects < <(make -s TRACER=OFF TSC=TRUE --eval "$list" list)
build() {
    if ! make -C "$copy" -s -j"$(nproc)" TRACER=OFF TSC=TRUE SINGLE=% BUILD="$1" WARNINGS=-w "${objects[@]/#/$1/}" \
        >"$copy/log" 2>&1; then
        tail -n 20 "$copy/log"
        printf 'the kernel does not compile in a copy of the tree, %s hooks\n' "$1"
        exit 1
    fi
}
build with

# Line breaks are kept, because __LINE__ is part of the code.
find "$copy/kernel" \( -name '*.cpp' -o -name '*.hpp' \) ! -path '*/kernel/trace/*' -print0 |
    xargs -0 perl -0pi -e 's{(?<![\w:])(?:::)?(?:kernel::)?trace_points::[^;]*;}{";" . ("\n" x ($& =~ tr/\n//))}ge'
blanked=$(diff -rq kernel "$copy/kernel" | wc -l)
if [[ $blanked -eq 0 ]]; then
    printf 'no statement trace_points::...; was found: the test compares nothing\n'
    exit 1
fi

build without

# An empty inline function is still a statement to the compiler: it may number its registers, lay out its branches or
# split off a cold part in another way, with the same work done. A hook that remains is visible as a reference (to the
# tracer, or to a value computed only for it), as a call (a virtual one has no reference) or as instructions. Only more
# references are a hook: without the statement the compiler may as well duplicate what follows it.
references() { objdump -dr --no-show-raw-insn "$1" | awk '$2 ~ /^R_X86_64/ {sub(/[+-]0x.*/, "", $3); print $3}' |
    grep -v '^\.' | sort | uniq -c; }
more_references() { awk 'NR == FNR {without[$2] = $1; next}
    $1 > without[$2] + 0 {print $2 ": " $1 " instead of " without[$2] + 0}' <(references "$2") <(references "$1"); }
instructions() { objdump -d --no-show-raw-insn "$1" | grep -cE '^ +[0-9a-f]+:\s+[a-z]' || true; }
virtual_calls() { objdump -d --no-show-raw-insn "$1" | grep -cE '^ +[0-9a-f]+:\s+call\s+\*' || true; }

# One of a hundred instructions may be a choice of the compiler.
kAllowedPercent=1
status=0
for object in "${objects[@]}"; do
    more=$(more_references "$copy/with/$object" "$copy/without/$object")
    if [[ -n $more ]]; then
        printf '%s: the hooks remain as references:\n%s\n' "$object" "$(head -n 6 <<<"$more")"
        status=1
    fi
    if [[ $(virtual_calls "$copy/with/$object") != $(virtual_calls "$copy/without/$object") ]]; then
        printf '%s: the hooks remain as virtual calls\n' "$object"
        status=1
    fi
    with=$(instructions "$copy/with/$object")
    without=$(instructions "$copy/without/$object")
    if ((with * 100 > without * (100 + kAllowedPercent) + 800)); then
        printf '%s: the hooks remain as %d instructions\n' "$object" $((with - without))
        status=1
    fi
done
exit "$status"
