#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the cases of a suite:

    guest          what runs inside the test kernel, one guest for each case (tests/kernel, tests/integration/guest.py)
    integration    boots, exports, faults and options, seen from outside (tests/integration)
    viewers        what `remora convert` writes, read by the programs it is meant for, and compared with what
                   `remora print --json` says of the same trace (tests/viewers, one file for each format)
    fleet          traces of many machines, with the real servers NATS and ClickHouse (tests/fleet)

    tests/run.py SUITE [PATTERN ...] [--list] [-j N]     shell patterns over names of cases; also CASES='PATTERN ...'

One line PASS or FAIL per case; what a case leaves is in build/<suite>/<case>. Counts go to the file $RESULTS."""
import argparse
import functools
import importlib
import os
import pathlib
import sys

from support import context, guests, runner
from support.cases import CASES

TESTS = pathlib.Path(__file__).resolve().parent


def import_guest():
    importlib.import_module("integration.guest").register()


def import_integration():
    for path in sorted((TESTS / "integration").glob("*.py")):
        importlib.import_module(f"integration.{path.stem}")
    importlib.import_module("integration.compact").register_layouts()
    importlib.import_module("integration.exports").register_applications()
    importlib.import_module("integration.whole_run").register_documented_runs()
    importlib.import_module("integration.documents").register_documents()


def import_viewers():
    for path in sorted((TESTS / "viewers").glob("*.py")):
        importlib.import_module(f"viewers.{path.stem}")


def import_fleet():
    for path in sorted((TESTS / "fleet").glob("*.py")):
        importlib.import_module(f"fleet.{path.stem}")


SUITES = {"guest": (import_guest, guests.GuestContext), "integration": (import_integration, guests.GuestContext),
          "viewers": (import_viewers, context.Context), "fleet": (import_fleet, context.Context)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("-j", dest="jobs", type=int, metavar="N",
                        help="cases at a time (default: one more than there are processors)")
    options = parser.parse_args()
    import_cases, context_class = SUITES[options.suite]
    import_cases()
    cases = runner.selected(CASES, options.patterns or os.environ.get("CASES", "").split())
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    return runner.run_cases(options.suite, functools.partial(context_class, options.suite), cases, options.jobs)


sys.exit(main())
