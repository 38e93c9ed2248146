# SPDX-License-Identifier: MIT
"""The project's own files, as version control sees them: tracked, or new and not ignored."""
import os
import subprocess
import sys


def files(*suffixes):
    """The files with these endings. Ends the test if there are none: a check of no files would pass."""
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=False)
    found = sorted({name for name in done.stdout.splitlines() if name.endswith(suffixes) and os.path.isfile(name)})
    if done.returncode != 0 or not found:
        sys.exit(f"error: git lists no files here: {done.stderr.strip()}\n"
                 f"remedy: git config --global --add safe.directory {os.getcwd()}")
    return found


def lines(name):
    with open(name, encoding="utf-8") as file:
        return file.read().splitlines()
