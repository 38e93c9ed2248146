#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the integration cases, two at a time: `guest` (what runs inside the test kernel), `outside` (everything else).

    tests/integration/run.py guest|outside [--list]      CASES='pattern ...' selects by name (shell patterns)

One line PASS or FAIL per case; what a case left lies in build/integration/<case>. Counts go to the file $RESULTS."""
import concurrent.futures
import fnmatch
import os
import sys
import time

import harness

WORKERS = 2


def collect(group):
    if group == "guest":
        import guest
        guest.register()
    else:
        import boots, exports, faults, options, steps, whole_run  # noqa: E401, F401: each registers its cases
        exports.register_applications()
    patterns = os.environ.get("CASES", "").split()
    return [case for case in harness.CASES
            if not patterns or any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns)]


def run(case):
    start = time.monotonic()
    try:
        case.function(harness.Context(case.name, case.timeout_s))
        fault = None
    except harness.Failure as failure:
        fault = str(failure)
    except Exception as error:  # a broken case is a failed case; the others go on
        fault = f"{type(error).__name__}: {error}"
    seconds = time.monotonic() - start
    print(f"PASS {case.name} ({seconds:.1f} s)" if fault is None else f"FAIL {case.name} ({seconds:.1f} s): {fault}",
          flush=True)
    return fault is None


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("guest", "outside"):
        sys.exit(__doc__)
    group = sys.argv[1]
    os.chdir(harness.ROOT)
    cases = collect(group)
    if "--list" in sys.argv[2:]:
        print("\n".join(case.name for case in cases))
        return
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(run, cases))
    passed, failed = results.count(True), results.count(False)
    if os.environ.get("RESULTS"):
        with open(os.environ["RESULTS"], "a", encoding="utf-8") as results_file:
            results_file.write(f"{passed} {failed} integration {group}\n")
    print(f"{group}: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
