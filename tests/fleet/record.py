# SPDX-License-Identifier: MIT
"""`remora record --publish`: what comes by UDP is published as it comes, and the disk is the spool."""
import functools
import json
import os
import shutil
import signal
import time

from support import collectors
from support.cases import case, expect, expect_equal
from support.context import BUILD, ROOT
from support.fleet_sessions import chunks_of
from support.nats_server import NatsServer


def packets(boot, chunks):
    """A run as a machine sends it."""
    sent, records = [], 0
    for fields, image in chunks_of(boot, chunks):
        records += fields["records"]
        sent += collectors.packets(image, len(sent) + 1)
    return sent + list(collectors.packets(collectors.export_end(chunks, records), len(sent) + 1))


record = functools.partial(collectors.record, mode="a")
send = functools.partial(collectors.send, pause_s=0.0002)


def said(ctx):
    return (ctx.dir / "log").read_text()


def wait_for(ctx, what, condition):
    while not condition():
        expect(ctx.left_s() > 1, f"{what}: {said(ctx)}")
        time.sleep(0.05)


def stored_of(server):
    """Of each boot in the stream: (subject, chunks, manifest or None); ids are there once, the manifest last."""
    with server.client() as client:
        messages = client.messages()
    ids = [headers["Nats-Msg-Id"] for _, _, headers, _ in messages]
    expect_equal(len(set(ids)), len(ids), "ids that are there once")
    found = {}
    for _, subject, headers, body in messages:
        boot = headers["Nats-Msg-Id"].split("/")[0]
        _, chunks, manifest = found.setdefault(boot, (subject, {}, None))
        expect(manifest is None, f"{headers['Nats-Msg-Id']} follows its session's manifest")
        if headers["Remora-Kind"] == "session":
            found[boot] = (subject, chunks, json.loads(body))
        elif headers["Remora-Kind"] == "chunk":
            chunks[headers["Nats-Msg-Id"]] = body
    return found


def expect_listed(boot, found):
    """Every chunk that the manifest lists is in the stream."""
    _, chunks, manifest = found
    expect(manifest is not None, f"{boot}: no manifest")
    listed = [f"{boot}/{chunk['cpu']}/{chunk['chunk']}/{chunk['generation']}" for chunk in manifest["chunks"]]
    expect_equal(sorted(chunks), sorted(listed), f"chunks of {boot}")
    return manifest


@case
def record_publishes_one_run(ctx):
    """Exit status 0 means that the server has it; the node is named by the user."""
    with NatsServer(ctx.dir / "nats") as server:
        with record(ctx, "--out", ctx.dir / "run", "--publish", server.address, "--site", "lab", "--node",
                    "board-7") as (process, address):
            send(address, packets(0xB1, 6))
            expect_equal(process.wait(60), 0, said(ctx))
        ((boot, found),) = stored_of(server).items()
        expect_equal((boot, found[0]), (f"{0xB1:016x}", "REMORA.lab.board-7"), "boot and subject")
        manifest = expect_listed(boot, found)
        expect(manifest["complete"], manifest["reason"])
        expect(abs(manifest["started"] - time.time()) < 3600, f"started {manifest['started']}")
        expect("published" in said(ctx), said(ctx))


@case
def record_publishes_while_it_records(ctx):
    """A chunk that is sealed is in the stream before the run ends."""
    with NatsServer(ctx.dir / "nats") as server:
        sent = packets(0xB2, 6)
        with record(ctx, "--out", ctx.dir / "run", "--publish", server.address) as (process, address):
            send(address, sent[:len(sent) // 2])
            wait_for(ctx, "no chunk comes", lambda: any(found[1] for found in stored_of(server).values()))
            expect(process.poll() is None, said(ctx))


@case(timeout_s=180)
def record_spools_while_the_server_is_away(ctx):
    """Machines run, the server comes later: everything is published, as the machines' nodes."""
    server = NatsServer(ctx.dir / "nats")
    with record(ctx, "--serve", ctx.dir / "served", "--publish", server.address, "--json") as (process, address):
        for boot in (0xC1, 0xC2, 0xC3):
            send(address, packets(boot, 4))
        wait_for(ctx, "the sessions do not end", lambda: said(ctx).count("session_closed") == 3)
        expect("until then the sessions wait on the disk" in said(ctx), said(ctx))
        with server:
            wait_for(ctx, "nothing is published", lambda: said(ctx).count("session_published") == 3)
            process.send_signal(signal.SIGTERM)
            expect_equal(process.wait(60), 0, said(ctx))
            stored = stored_of(server)
            expect_equal(sorted(stored), [f"{boot:016x}" for boot in (0xC1, 0xC2, 0xC3)], "boots")
            for boot, found in stored.items():
                expect_equal(found[0], "REMORA.default.127-0-0-1", "subject")
                expect(expect_listed(boot, found)["complete"], boot)


@case(timeout_s=180)
def record_says_what_a_server_that_stays_away_left(ctx):
    """Status 2 and a command; that command publishes it, under the names that the collector gave."""
    server = NatsServer(ctx.dir / "nats")
    with record(ctx, "--serve", ctx.dir / "served", "--publish", server.address, "--publish-wait", "0.5") as (process,
                                                                                                              address):
        send(address, packets(0xC4, 4))
        wait_for(ctx, "the session does not end", lambda: "complete" in said(ctx))
        process.send_signal(signal.SIGTERM)
        expect_equal(process.wait(60), 2, said(ctx))
    expect(f"remora publish {ctx.dir / 'served'} --to {server.address}" in said(ctx), said(ctx))
    with server:
        ctx.remora("publish", ctx.dir / "served", "--to", server.address)
        ((boot, found),) = stored_of(server).items()
        expect_equal(found[0], "REMORA.default.127-0-0-1", "subject")
        expect_listed(boot, found)


@case(timeout_s=180)
def record_reports_to_the_fleet_what_a_full_disk_cost(ctx):
    """--total-bytes is reached while the server is away: that is said, and the manifests that are published say it."""
    server = NatsServer(ctx.dir / "nats")
    with record(ctx, "--serve", ctx.dir / "served", "--publish", server.address, "--total-bytes", "250K", "--json") as (
            process, address):
        for boot in (0xC5, 0xC6, 0xC7):
            send(address, packets(boot, 4))
        wait_for(ctx, "the sessions do not end", lambda: said(ctx).count("session_closed") >= 3)
        with server:
            wait_for(ctx, "nothing is published", lambda: said(ctx).count("session_published") >= 3)
            process.send_signal(signal.SIGTERM)
            expect_equal(process.wait(60), 4, said(ctx))
            stored = stored_of(server)
    expect("--total-bytes" in said(ctx), said(ctx))
    manifests = [expect_listed(boot, found) for boot, found in stored.items()]
    expect_equal(len(manifests), 3, "sessions in the fleet")
    cut = [manifest["reason"] for manifest in manifests if not manifest["complete"]]
    expect(cut and all("--total-bytes" in reason for reason in cut), f"{cut}")


@case(timeout_s=180)
def record_removes_what_is_published(ctx):
    """More runs than --total-bytes holds at a time: all of them come, because each is removed when it is published."""
    with NatsServer(ctx.dir / "nats") as server:
        boots = range(0xD0, 0xD6)
        with record(ctx, "--serve", ctx.dir / "served", "--publish", server.address, "--remove-published",
                    "--total-bytes", "300K", "--json") as (process, address):
            for number, boot in enumerate(boots, 1):
                send(address, packets(boot, 4))
                wait_for(ctx, f"run {number} is not published",
                         lambda number=number: said(ctx).count("session_published") == number)
            process.send_signal(signal.SIGTERM)
            expect_equal(process.wait(60), 0, said(ctx))
        expect_equal(list((ctx.dir / "served").iterdir()), [], "what is left")
        stored = stored_of(server)
        expect_equal(sorted(stored), [f"{boot:016x}" for boot in boots], "boots")
        for boot, found in stored.items():
            expect(expect_listed(boot, found)["complete"], boot)


@case(timeout_s=180)
def record_publishes_first_what_an_earlier_collector_left(ctx):
    server = NatsServer(ctx.dir / "nats")
    with record(ctx, "--serve", ctx.dir / "served") as (process, address):
        send(address, packets(0xE1, 4))
        wait_for(ctx, "the session does not end", lambda: "complete" in said(ctx))
        process.send_signal(signal.SIGTERM)
        expect_equal(process.wait(60), 0, said(ctx))
    with server, record(ctx, "--serve", ctx.dir / "served", "--publish", server.address, "--node", "old",
                        "--json") as (process, address):
        wait_for(ctx, "nothing is published", lambda: "session_published" in said(ctx))
        process.send_signal(signal.SIGTERM)
        expect_equal(process.wait(60), 0, said(ctx))
        ((boot, found),) = stored_of(server).items()
        expect_equal(found[0], "REMORA.default.old", "subject")
        expect_listed(boot, found)


def publisher_of(process):
    """The process that publishes for a collector."""
    children = (ROOT / f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    expect(children, "the collector has no publisher")
    return int(children[0])


@case(timeout_s=180)
def record_starts_a_publisher_again_that_dies(ctx):
    with NatsServer(ctx.dir / "nats") as server:
        with record(ctx, "--serve", ctx.dir / "served", "--publish", server.address, "--json") as (process, address):
            send(address, packets(0xE2, 4))
            wait_for(ctx, "nothing is published", lambda: "session_published" in said(ctx))
            os.kill(publisher_of(process), signal.SIGKILL)
            wait_for(ctx, "the end is not said", lambda: "the publisher ended with status 137" in said(ctx))
            send(address, packets(0xE3, 4))
            wait_for(ctx, "nothing more is published", lambda: said(ctx).count("session_published") == 2)
            process.send_signal(signal.SIGTERM)
            expect_equal(process.wait(60), 0, said(ctx))
        expect_equal(len(stored_of(server)), 2, "boots")


@case(timeout_s=180)
def record_continues_with_wrong_credentials(ctx):
    """They are said at once; the run is recorded; status 2."""
    with NatsServer(ctx.dir / "nats", users={"remora": "right"}) as server:
        wrong = f"nats://remora:wrong-word@127.0.0.1:{server.port}"
        with record(ctx, "--out", ctx.dir / "run", "--publish", wrong) as (process, address):
            send(address, packets(0xE4, 4))
            expect_equal(process.wait(60), 2, said(ctx))
        expect("refuses these credentials" in said(ctx) and "wrong-word" not in said(ctx), said(ctx))
        expect(json.loads((ctx.dir / "run/manifest.json").read_text())["complete"], said(ctx))


@case
def record_without_the_program_for_servers_says_so(ctx):
    """remora alone, without remora-fleet beside it."""
    for program in ("remora", "remora-full"):
        shutil.copy(ROOT / BUILD / "host" / program, ctx.dir / program)
    for words in (("record", "--out", ctx.dir / "run", "--publish", "nats://127.0.0.1"),
                  ("publish", "tests/viewers/data/control.rpk", "--to", "nats://127.0.0.1"),
                  ("fleet", "nodes", "out/fleet"),
                  ("load", "--from", "tests/viewers/data/control.rpk", "--to", ctx.dir / "store")):
        done = ctx.run(ctx.dir / "remora", *words, codes=(1,))
        expect("make fleet" in done.stderr, done.stderr)
