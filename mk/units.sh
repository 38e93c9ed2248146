#!/bin/bash
# SPDX-License-Identifier: MIT
# The objects of C++ sources, for mk/flags.mk. The sources of one folder are compiled together, because most of a
# source's cost is what it includes: DIRECTORY/FOLDER/unit.cpp includes them. A source that was edited after its unit
# was compiled leaves the unit, so that the next edit compiles it alone; when more than four have left, the unit is
# compiled as a whole again. Every call for a folder of a directory has to name the same sources.
#
#   mk/units.sh DIRECTORY SOURCE ...     prints the objects, and writes the units whose contents have changed
set -euo pipefail
kApartMost=4

directory=$1
shift
declare -A sources_of
for source in "$@"; do
    sources_of[${source%/*}]+=" $source"
done
for folder in "${!sources_of[@]}"; do
    read -ra sources <<<"${sources_of[$folder]}"
    unit=$directory/$folder/unit
    together=() apart=()
    for source in "${sources[@]}"; do
        if [[ -e $unit.o && ($source -nt $unit.o || -e $directory/$source.apart) ]]; then
            apart+=("$source")
        else
            together+=("$source")
        fi
    done
    if ((${#sources[@]} == 1)); then
        printf '%s\n' "$directory/${sources[0]}.o"
        continue
    fi
    if ((${#apart[@]} > kApartMost || ${#together[@]} < 2)); then
        rm -f "$directory/$folder/"*.apart
        together=("${sources[@]}") apart=()
    fi
    for source in "${apart[@]}"; do
        : >"$directory/$source.apart"
    done
    printf -v text '#include "%s"\n' "${together[@]}"
    old=
    if [[ -e $unit.cpp ]]; then
        IFS= read -r -d '' old <"$unit.cpp" || true # it ends without a zero byte
    fi
    if [[ $old != "$text" ]]; then
        mkdir -p "$directory/$folder"
        printf '%s' "$text" >"$unit.cpp"
    fi
    printf '%s\n' "$unit.o"
    for source in "${apart[@]}"; do
        printf '%s\n' "$directory/$source.o"
    done
done
