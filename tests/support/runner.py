# SPDX-License-Identifier: MIT
"""Runs the cases of a suite: one more at a time than there are processors, because many wait for the network or for a
child, then one by one those that must run alone. A guest under CLOCK=icount depends on no clock of the host, so load
cannot change what it does."""
import concurrent.futures
import fnmatch
import os
import time

from support import context
from support.cases import Failure


def selected(cases, patterns):
    """Those whose names match one of the shell patterns; without patterns all."""
    return [case for case in cases
            if not patterns or any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns)]


def run_case(make_context, case):
    """Whether the case passed. Prints one line."""
    start = time.monotonic()
    try:
        case.function(make_context(case.name, case.timeout_s))
        fault = None
    except Failure as failure:
        fault = str(failure)
    except Exception as error:  # pylint: disable=broad-except  # a broken case is a failed case; the others continue
        fault = f"{type(error).__name__}: {error}"
    seconds = time.monotonic() - start
    print(f"PASS {case.name} ({seconds:.1f} s)" if fault is None else f"FAIL {case.name} ({seconds:.1f} s): {fault}",
          flush=True)
    return fault is None


def run_cases(suite, make_context, cases, jobs=None):
    """The exit code: 0 if at least one case ran and none failed. The counts go to the file RESULTS, if there is one."""
    os.chdir(context.ROOT)
    longest_first = sorted(cases, key=lambda case: -case.timeout_s)
    together = [case for case in longest_first if not case.alone]
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count() + 1) as pool:
        results = list(pool.map(lambda case: run_case(make_context, case), together))
    results += [run_case(make_context, case) for case in cases if case.alone]
    return report(suite, results.count(True), results.count(False))


def report(suite, passed, failed):
    if os.environ.get("RESULTS"):
        with open(os.environ["RESULTS"], "a", encoding="utf-8") as results:
            results.write(f"{passed} {failed} {suite}\n")
    print(f"{suite}: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0
