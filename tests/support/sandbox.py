# SPDX-License-Identifier: MIT
"""Executes the command of a systemd unit as its settings demand, as far as this machine permits it without systemd: a
mount namespace in which only the state directory and a temporary directory can be written, another user, no
capabilities, the unit's limit of descriptors. Without root, the namespace is that of an ordinary user."""
import os
import pathlib
import subprocess

from support.cases import expect

UNPRIVILEGED = 65534
STATE_MODE = {"0750": 0o750, "0700": 0o700}


def settings_of(unit):
    lines = (line for line in pathlib.Path(unit).read_text().splitlines() if "=" in line and not line.startswith("#"))
    return dict(line.split("=", 1) for line in lines)


def _mounts_above(path):
    """The mount points that hold a path, and /: what ProtectSystem=strict makes read-only."""
    done = subprocess.run(["findmnt", "-nro", "TARGET", "-T", path], capture_output=True, text=True, check=True)
    return sorted({"/", done.stdout.strip()}, key=len, reverse=True)


def command_in_sandbox(unit, program, directory, options):
    """Returns the command, the state directory that it has, and a directory for temporary files. The unit's program is
    replaced by `program`, and $REMORA_OPTIONS by `options`."""
    settings = settings_of(unit)
    expect(settings["ProtectSystem"] == "strict" and settings["DynamicUser"] == "yes", "the unit is less strict now")
    root = os.geteuid() == 0
    writable = [directory / "state" / settings["StateDirectory"], directory / "tmp"]
    for path in writable:
        path.mkdir(parents=True, mode=STATE_MODE[settings["StateDirectoryMode"]])
        if root:
            os.chown(path, UNPRIVILEGED, UNPRIVILEGED)
    words = []
    for word in settings["ExecStart"].replace("%S", str(directory / "state")).split():
        words += options if word == "$REMORA_OPTIONS" else [word.replace("${REMORA_LISTEN}", "127.0.0.1:0")]
    words[0] = str(program)
    script = "".join(f"mount --bind '{path}' '{path}'\n" for path in writable)
    script += "".join(f"mount -o remount,bind,ro '{path}'\n" for path in _mounts_above(directory))
    script += f"if touch '{directory}/state/outside' 2>/dev/null; then echo 'the sandbox has a hole' >&2; exit 99; fi\n"
    script += f"umask {settings['UMask']}\nulimit -n {settings['LimitNOFILE']}\n"
    user = f"--reuid={UNPRIVILEGED} --regid={UNPRIVILEGED} --clear-groups" if root else ""
    script += f"exec setpriv {user} --no-new-privs --bounding-set=-all --inh-caps=-all -- \"$@\"\n"
    namespace = ["unshare", "--mount"] if root else ["unshare", "--mount", "--map-root-user"]
    return [*namespace, "sh", "-ec", script, "sandbox", *words], *writable
