# SPDX-License-Identifier: MIT
"""The project's own files, as version control sees them: tracked, or new and not ignored."""
import os
import subprocess


def files(*suffixes):
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
                             check=True).stdout.splitlines()
    return sorted({name for name in listing if name.endswith(suffixes) and os.path.isfile(name)})


def lines(name):
    with open(name, encoding="utf-8") as file:
        return file.read().splitlines()
