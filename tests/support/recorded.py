# SPDX-License-Identifier: MIT
"""The recorded run: the application `control` under an instruction clock, as `remora record` stored it. It is kept as a
packed session; who needs its files gets them unpacked in build/recorded, in a directory of its own for each packed file
and each build of the tool."""
import os
import subprocess
import tempfile

from support.context import BUILD, INHERITED, REMORA, ROOT

PACKED = ROOT / "tests/viewers/data/control.rpk"


def control():
    """The directory of the session. Several threads and processes may ask for it at once: each unpacks beside it and
    renames the result, and the first one's is everybody's. A session that exists is never changed or removed, because
    another case may read it."""
    stamps = [path.stat().st_mtime_ns for path in (PACKED, ROOT / REMORA)]
    folder = ROOT / BUILD / "recorded"
    current = folder / "-".join(f"{stamp:x}" for stamp in stamps)
    if not current.exists():
        folder.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.mkdtemp(dir=folder)
        subprocess.run([ROOT / REMORA, "unpack", PACKED, "-o", f"{scratch}/control"], check=True, env=INHERITED,
                       stdout=subprocess.DEVNULL)
        try:
            os.rename(scratch, current)
        except OSError:  # another one was faster: a directory with files in it is not replaced
            subprocess.run(["rm", "-rf", scratch], check=True)
    return current / "control"
