# SPDX-License-Identifier: MIT
"""`remora record` as a process: killed at any instant, stopped, started twice, and as a service. The packets are those
of a recorded run, sent again."""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import time

from support import recorded, sandbox
from support.acknowledged import DATA, HELLO_ACK, RECORDS_MAX, Machine
from support.cases import case, expect
from support.collectors import export_end, packets, record, send, started
from support.context import REMORA, ROOT


def datagrams():
    """The recorded run as its machine sent it, its chunk three times under other chunk numbers."""
    run = recorded.control()
    manifest = json.loads((run / "manifest.json").read_text())
    image = (run / manifest["chunks"][0]["file"]).read_bytes()
    sent = []
    for chunk in range(3):
        # The third field of chunk_begin, in par2 of the first slot.
        sent += packets(image[:14] + struct.pack("<H", chunk) + image[16:], len(sent) + 1)
    records = 3 * manifest["chunks"][0]["records"]
    return sent + list(packets(export_end(3, records), len(sent) + 1)), records


def events_shown(ctx, session):
    done = ctx.remora("print", "--json", session, codes=(0, 2, 3))
    return done.stdout.count("\n"), done.stderr


@case(timeout_s=300)
def collector_killed_at_any_instant(ctx):
    """kill -9 after any number of packets: the session shows every chunk whose packets had arrived, the manifest does
    not promise more, and `remora adopt --force` lists what there is."""
    sent, _ = datagrams()
    per_chunk = (len(sent) - 1) // 3
    chance = random.Random(15)
    with record(ctx, "--out", ctx.dir / "whole") as (process, address):
        send(address, sent)
        expect(process.wait(20) == 0, (ctx.dir / "log").read_text())
    whole, _ = events_shown(ctx, ctx.dir / "whole")
    for attempt in range(12):
        session = ctx.dir / f"killed{attempt}"
        count = chance.randrange(1, len(sent))
        with record(ctx, "--out", session) as (process, address):
            send(address, sent[:count])
            time.sleep(chance.random() * 0.05)
            process.kill()
            process.wait()
        sealed = [number for number in range(count // per_chunk)
                  if (session / f"{number}trace.dat").exists()
                  and (session / f"{number}trace.dat").stat().st_size == (ctx.dir / "whole/0trace.dat").stat().st_size]
        shown, said = events_shown(ctx, session)
        expect(shown >= len(sealed) * whole // 3, f"{count} packets, {len(sealed)} chunks: {shown} of {whole}: {said}")
        manifest = json.loads((session / "manifest.json").read_text())
        expect(not manifest["complete"] and "killed" in manifest["reason"], f"{manifest['reason']}")
        listed = {chunk["file"] for chunk in manifest["chunks"]}
        for file in sorted(path.name for path in session.glob("*trace.dat")):
            expect(file in listed or (file in said and "remora adopt --force" in said), f"{file} is not named: {said}")
        if shown:
            ctx.remora("adopt", "--force", session, codes=(2,))
            again, said = events_shown(ctx, session)
            expect(again == shown and "adopt" not in said, f"{again} of {shown}: {said}")


@case
def second_collector_of_a_directory_is_refused(ctx):
    """With the process of the first one; that is not disturbed."""
    sent, records = datagrams()
    for option in ("--out", "--serve"):
        directory = ctx.dir / option
        with record(ctx, option, directory) as (process, address):
            done = ctx.remora("record", "--listen", "127.0.0.1:0", option, directory, codes=(1,))
            expect(f"another collector (process {process.pid})" in done.stderr, done.stderr)
            send(address, sent)
            if option == "--serve":
                time.sleep(0.5)
                process.send_signal(signal.SIGTERM)
            expect(process.wait(20) == 0, (ctx.dir / "log").read_text())
            (manifest,) = [json.loads(path.read_text()) for path in directory.glob("**/manifest.json")]
            expect(manifest["complete"] and manifest["transfer"]["records"] == records, manifest["reason"])


@case
def collector_serves_until_it_is_stopped(ctx):
    """Two machines, a stop in the middle of the second, a restart: events, exit code 0, no session touched again."""
    sent, records = datagrams()
    served = ctx.dir / "served"
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        before = {path: path.read_bytes() for path in served.glob("*/*")}
        with record(ctx, "--serve", served, "--json") as (process, address):
            send(address, sent)
            send(address, sent[:len(sent) // 2])
            while (ctx.dir / "log").read_text().count("chunk_sealed") < 4:
                expect(ctx.left_s() > 0 and process.poll() is None, (ctx.dir / "log").read_text())
                time.sleep(0.05)
            process.send_signal(signal_number)
            expect(process.wait(20) == 0, (ctx.dir / "log").read_text())
        events = [json.loads(line) for line in (ctx.dir / "log").read_text().splitlines() if line.startswith("{")]
        names = [event["event"] for event in events]
        expect(names.count("session_opened") == names.count("session_closed") == 2, f"{names}")
        closed = [event for event in events if event["event"] == "session_closed"]
        expect([event["complete"] for event in closed] == [True, False], f"{closed}")
        expect(closed[0]["records"] == records and "asked to stop" in closed[1]["reason"], f"{closed}")
        ctx.remora("print", closed[0]["session"], "--limit", "1")
        expect(all(path.read_bytes() == content for path, content in before.items()), "a session was touched again")
    expect(len(list(served.iterdir())) == 4, f"{sorted(served.iterdir())}")


@case
def collector_says_what_was_too_much(ctx):
    """A limit ends the run with exit code 4 and a sentence that names the option."""
    with record(ctx, "--out", ctx.dir / "out", "--session-bytes", "4K") as (process, address):
        send(address, datagrams()[0])
        expect(process.wait(20) == 4, (ctx.dir / "log").read_text())
    said = (ctx.dir / "log").read_text()
    expect("at most 4096 bytes (--session-bytes)" in said, said)
    ctx.remora("record", "--out", ctx.dir / "a", "--serve", ctx.dir / "b", codes=(1,))
    ctx.remora("record", codes=(1,))


def held_by(process):
    """The open files of a process, and the bytes of its memory that are in use."""
    pages = int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return len(os.listdir(f"/proc/{process.pid}/fd")), pages * os.sysconf("SC_PAGE_SIZE")


@case
def collector_keeps_its_limits_in_a_flood(ctx):
    """A machine opens more sessions than there are places, each with eight streams that begin a chunk and have a gap.
    The collector holds at most a quarter of its descriptors and 64 MiB, and the next machine is served."""
    run = recorded.control()
    image = (run / "0trace.dat").read_bytes()
    records = json.loads((run / "manifest.json").read_text())["chunks"][0]["records"]
    image += next(packets(export_end(1, records), 1))[24:]
    with record(ctx, "--serve", ctx.dir / "served", "--json") as (process, address), contextlib.ExitStack() as flood:
        _, memory = held_by(process)
        for session in range(1, 71):
            machine = flood.enter_context(Machine(address, session))
            for stream in range(8):
                expect(machine.enters(stream), f"session {session} was refused")
                for seq in (0, 2, 3):
                    machine.post(DATA, image[:16 * RECORDS_MAX], seq=seq, stream=stream)
        begin = time.monotonic()
        with Machine(address, 0xAB) as machine:
            expect(machine.export(image), f"not acknowledged: {(ctx.dir / 'log').read_text()}")
        delay_s = time.monotonic() - begin
        files, after = held_by(process)
        limit = int(re.search(r"Max open files +(\d+)", pathlib.Path(f"/proc/{process.pid}/limits").read_text())[1])
        print(f"{files} of {limit} descriptors, {(after - memory) >> 10} KiB, {delay_s:.2f} s for {len(image)} bytes")
        expect(files <= min(limit, 1024) // 4, f"{files} files are open")
        expect(after - memory <= 64 << 20, f"{after - memory} bytes")
        while '"complete":true' not in (ctx.dir / "log").read_text():
            expect(ctx.left_s() > 0 and process.poll() is None, (ctx.dir / "log").read_text())
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.wait(20)
    closed = [json.loads(line) for line in (ctx.dir / "log").read_text().splitlines() if '"session_closed"' in line]
    expect([one["records"] for one in closed if one["complete"]] == [records], f"{closed}")


@case
def collector_in_its_sandbox(ctx):
    """The service as systemd would execute it: a user without rights who may write the state directory alone. It takes
    a trace that is acknowledged and one that is not, and does not start where it could acknowledge nothing."""
    ready = ctx.dir / "tmp/ready"
    command, state, _ = sandbox.command_in_sandbox(ROOT / "host/collector/remora-record.service.in", ROOT / REMORA,
                                                   ctx.dir, ["--ready-file", str(ready)])
    sent, records = datagrams()
    run = recorded.control()
    image = (run / "0trace.dat").read_bytes() + next(packets(export_end(1, records // 3), 1))[24:]
    with started(ctx, command, ready) as (process, address):
        with Machine(address) as machine:
            expect(machine.export(image), f"not acknowledged: {(ctx.dir / 'log').read_text()}")
        send(address, sent)
        while (ctx.dir / "log").read_text().count("session_closed") < 2:
            expect(ctx.left_s() > 0 and process.poll() is None, (ctx.dir / "log").read_text())
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        expect(process.wait(20) == 0, (ctx.dir / "log").read_text())
    events = [json.loads(line) for line in (ctx.dir / "log").read_text().splitlines() if line.startswith("{")]
    closed = [(event["complete"], event["records"]) for event in events if event["event"] == "session_closed"]
    expect(sorted(closed) == [(True, records // 3), (True, records)], f"{closed}")
    expect(len(list(state.iterdir())) == 2 and not list(state.parent.glob("*.journal")), f"{list(state.iterdir())}")
    (state / "journal").write_text("")
    done = ctx.run(*command, codes=(1,))
    expect(f"{state}/journal" in done.stderr, done.stderr)


@case(timeout_s=400)
def collector_is_a_service(ctx):
    """The unit that `make install` leaves: systemd accepts it, and it starts the installed program."""
    ctx.run("make", "--no-print-directory", "install", f"DESTDIR={ctx.dir}/root", "PREFIX=/usr")
    unit = ctx.dir / "root/usr/lib/systemd/system/remora-record.service"
    text = unit.read_text()
    settings = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    command = settings["ExecStart"].split()
    expect(command[0] == "/usr/bin/remora" and (ctx.dir / "root/usr/bin/remora").exists(), f"{command}")
    for setting in ("NoNewPrivileges", "DynamicUser", "MemoryDenyWriteExecute", "PrivateDevices"):
        expect(settings[setting] == "yes", f"{setting} is {settings[setting]}")
    usage = ctx.remora("record", "--help").stdout
    for option in (word for word in command if word.startswith("--")):
        expect(option in usage, f"{option} is no option of record")
    if shutil.which("systemd-analyze"):
        # Where the program is now.
        local = ctx.dir / "remora-record.service"
        local.write_text(text.replace("/usr/bin/remora", str(ctx.dir / "root/usr/bin/remora")))
        done = ctx.run("systemd-analyze", "verify", "--man=no", local, codes=None)
        complaints = [line for line in done.stderr.splitlines() if "remora-record" in line]
        expect(not complaints, f"{complaints}")
