#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds targets; each step is a line that says which of how many it is.
#
#   mk/build.sh MAKE TARGET ...     exit code: that of make
set -uo pipefail
make=$1
shift
total=$("$make" -n "$@" 2>/dev/null | grep -c "^echo '  ")
"$make" --no-print-directory "$@" | awk -v total="$total" '
    /^  [A-Z0-9]+ / {printf "  %*d/%d%s\n", length(total), ++done, total, substr($0, 2); fflush(); next}
    {print; fflush()}'
