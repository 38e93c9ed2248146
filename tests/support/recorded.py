# SPDX-License-Identifier: MIT
"""The recorded run: the application `control` under an instruction clock, as `remora record` stored it. It is kept as a
packed session; who needs its files gets them unpacked in build/recorded."""
import os
import subprocess
import tempfile

from support.context import BUILD, INHERITED, REMORA, ROOT

PACKED = ROOT / "tests/viewers/data/control.rpk"


def control():
    """The directory of the session. Several processes may ask for it at once."""
    folder = ROOT / BUILD / "recorded"
    session = folder / "control"
    if not session.exists() or session.stat().st_mtime < PACKED.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.mkdtemp(dir=folder)
        subprocess.run([ROOT / REMORA, "unpack", PACKED, "-o", f"{scratch}/control"], check=True, env=INHERITED,
                       stdout=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", session], check=True)
        try:
            os.rename(f"{scratch}/control", session)
        except OSError:  # another process was faster
            pass
        subprocess.run(["rm", "-rf", scratch], check=True)
    return session
