#!/bin/bash
# SPDX-License-Identifier: MIT
# Every `make TARGET` and every script in the documentation exists, every target has its line in make help, and
# docs/README.md leads to each document once, and the sources that ARCHITECTURE.md names exist.
set -uo pipefail

status=0
targets=$(sed -n 's/^\([a-z][a-z._-]*\):.*/\1/p' Makefile mk/*.mk | sort -u)
while IFS=: read -r file target; do
    if ! grep -qxF "$target" <<<"$targets"; then
        printf '%s: make %s is no target\n' "$file" "$target"
        status=1
    fi
done < <(grep -oHE '(`|^ {0,4}|\$ )make [a-z][a-z._-]*[a-z]' -- *.md docs/*.md docs/*/*.md 2>/dev/null |
    sed 's/:.*make /:/' | sort -u)

while IFS=: read -r file path; do
    if [[ ! -e $path ]]; then
        printf '%s: %s does not exist\n' "$file" "$path"
        status=1
    fi
done < <(grep -oHE '\b(qemu|tests|\.ci|docs)/[A-Za-z0-9_./-]*\.(sh|py|md)\b' -- *.md 2>/dev/null |
    grep -v NNNN | sort -u)

# shellcheck disable=SC2016 # these backquotes are text
grep -oE '`[a-z]+/[A-Za-z0-9_/]*\.(hpp|cpp|S|py)`' ARCHITECTURE.md | tr -d '`' | sort -u | while read -r path; do
    [[ -e $path ]] || printf 'ARCHITECTURE.md: %s does not exist\n' "$path"
done | grep . && status=1

for path in docs/*.md docs/*/*.md; do
    links=$(grep -oF "](${path#docs/})" docs/README.md | wc -l)
    if [[ $path != docs/README.md && $links -ne 1 ]]; then
        printf 'docs/README.md: %s links to %s, not one\n' "$links" "$path"
        status=1
    fi
done

described=$(make help | sed -n 's/^  \([a-z-]*\) .*/\1/p')
phony=$(make -pn help 2>/dev/null | sed -n 's/^\.PHONY: //p' | tr ' ' '\n' | sort -u)
for target in $phony; do
    if ! grep -qxF "$target" <<<"$described"; then
        printf 'Makefile: target %s has no line in make help\n' "$target"
        status=1
    fi
done
exit "$status"
