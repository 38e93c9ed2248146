# SPDX-License-Identifier: MIT
"""What can go wrong between a recorder and a store: parts killed, messages twice, late, damaged and forged, disks full,
names shared. In the end nothing is lost or there twice; what was really withheld is named. Campaigns of the same at
random: tests/soak/fleet.py."""
import json
import os
import resource
import signal
import subprocess
import time

from support import clickhouse_server
from support.cases import case, expect, expect_equal
from support.context import ROOT
from support.fleet_faults import (HoldsAcknowledgements, bad_messages, command_of, counted_session,
                                  expect_dead_letters, expect_same, load_all, loader, make_consumer, make_stream,
                                  rows_of_clickhouse, rows_of_directory, send, undisturbed, verify)
from support.fleet_sessions import published
from support.nats_server import NatsServer


def fleet_of(ctx, nodes=2, chunks=4):
    """SITE/NODE/SESSION: {node: path of its session}."""
    return {f"n{i}": counted_session(ctx.dir / "sessions/lab" / f"n{i}" / "run", 0x50 + i, chunks)
            for i in range(nodes)}


def publish(ctx, server, sessions):
    for node, session in sessions.items():
        ctx.remora("publish", session, "--to", server.address, "--site", "lab", "--node", node)


def expect_closed(ctx, store, runs, *options):
    found = verify(ctx, store, *options)
    expect_equal((found["verdict"], len(found["runs"])), ("closed", runs), "verify")


def expect_as_undisturbed(ctx, store, sessions="sessions"):
    undisturbed(ctx, ctx.dir / sessions, ctx.dir / "undisturbed")
    expect_same(rows_of_directory(store), rows_of_directory(ctx.dir / "undisturbed"), "rows")


@case(timeout_s=60)
def fault_loader_killed_between_insert_and_acknowledgement(ctx):
    """Stored, and not acknowledged: it comes again and nothing is twice, in a directory and in ClickHouse."""
    sessions = fleet_of(ctx)
    undisturbed(ctx, ctx.dir / "sessions", ctx.dir / "undisturbed")
    with NatsServer(ctx.dir / "nats") as server, clickhouse_server.server(ctx) as clickhouse:
        publish(ctx, server, sessions)
        undisturbed(ctx, ctx.dir / "sessions", clickhouse.url + "/undisturbed")
        for name, store in (("directory", ctx.dir / "store"), ("clickhouse", clickhouse.url + "/fleet")):
            with server.client() as client:
                make_consumer(client, name)
            with HoldsAcknowledgements(server.port) as between, loader(ctx, between.address, store, "--consumer",
                                                                       name) as process:
                expect(between.held.wait(20), f"{name}: nothing is acknowledged")
                process.kill()
            counts = load_all(ctx, server.address, store, "--consumer", name)
            expect_equal((counts["again"], counts["chunks"], counts["sessions"]), (8, 0, 2), f"{name}: {counts}")
        expect_same(rows_of_directory(ctx.dir / "store"), rows_of_directory(ctx.dir / "undisturbed"), "directory")
        expect_same(rows_of_clickhouse(clickhouse, "fleet"), rows_of_clickhouse(clickhouse, "undisturbed"),
                    "clickhouse")
        expect_closed(ctx, clickhouse.url + "/fleet", 2, "--events")
        expect_closed(ctx, ctx.dir / "store", 2)


@case(timeout_s=60)
def fault_messages_twice_and_in_another_order(ctx):
    """Each is in the stream twice, sessions before chunks, and a loader takes one at a time."""
    sessions = fleet_of(ctx)
    with NatsServer(ctx.dir / "nats") as server:
        with server.client() as client:
            make_stream(client)
            for node, session in sessions.items():
                for message in reversed(published(session)):
                    send(client, node, message)
                    expect(send(client, node, message).get("duplicate"), "the server knows no id")
                    send(client, node, message, unique=False)
        load_all(ctx, server.address, ctx.dir / "store", "--batch", "1")
        expect_dead_letters(server, [])
    expect_closed(ctx, ctx.dir / "store", 2)
    expect_as_undisturbed(ctx, ctx.dir / "store")


@case(timeout_s=60)
def fault_chunk_after_its_session_was_stored(ctx):
    """It is stored, and verify says that jobs were made without it; removed and loaded again the account closes."""
    session = fleet_of(ctx, 1)["n0"]
    sent = published(session)
    with NatsServer(ctx.dir / "nats") as server, server.client() as client:
        make_stream(client)
        for message in sent[:1] + sent[2:]:
            send(client, "n0", message)
        load_all(ctx, server.address, ctx.dir / "store")
        first = verify(ctx, ctx.dir / "store", codes=(2,))["runs"][0]
        expect_equal((first["first_missing_file"], first["missing_chunks"]), ("1trace.dat", 1), "withheld")
        send(client, "n0", sent[1])
        load_all(ctx, server.address, ctx.dir / "store")
        why = verify(ctx, ctx.dir / "store", codes=(2,))["runs"][0]["why"]
        expect("came after the session" in why, why)


@case(timeout_s=60)
def fault_damaged_and_forged_messages(ctx):
    """Each is one dead letter with its reason; what is good is stored."""
    sessions = fleet_of(ctx, 1)
    bad = bad_messages(sessions["n0"])
    with NatsServer(ctx.dir / "nats") as server:
        with server.client() as client:
            make_stream(client)
            for identity, kind, body, started, _ in bad:
                send(client, "n0", (identity, kind, body), started=started, unique=False)
        publish(ctx, server, sessions)
        load_all(ctx, server.address, ctx.dir / "store", codes=(2,))
        expect_dead_letters(server, bad)
    expect_closed(ctx, ctx.dir / "store", 1)
    expect_as_undisturbed(ctx, ctx.dir / "store")


@case(timeout_s=60)
def fault_forged_session(ctx):
    """A manifest that lists chunks that never were, one with very many, and one with none: stored, and verify names
    what is missing."""
    session = fleet_of(ctx, 1)["n0"]
    text = json.loads(published(session)[-1][2])
    with NatsServer(ctx.dir / "nats", max_payload=64 << 20) as server, server.client() as client:
        make_stream(client)
        for number, chunks in enumerate((0, 1, 20_000)):
            row, boot = text["chunks"][0], f"{0x70 + number:016x}"
            forged = {**text, "boot_id": boot, "chunks": [
                {**row, "file": f"{i}trace.dat", "chunk": i % 65536, "generation": i // 65536} for i in range(chunks)]}
            send(client, f"forged{number}", (f"{boot}/session", "session", json.dumps(forged).encode()))
        counts = load_all(ctx, server.address, ctx.dir / "store")
        expect_equal((counts["sessions"], counts["rejected"]), (3, 0), f"{counts}")
    runs = {run["node"]: run for run in verify(ctx, ctx.dir / "store", codes=(2,))["runs"]}
    expect_equal([runs[f"forged{i}"]["missing_chunks"] for i in range(3)], [0, 1, 20_000], "missing")
    expect_equal(runs["forged2"]["first_missing_file"], "0trace.dat", "the first one")


@case(timeout_s=60)
def fault_messages_as_large_as_the_server_takes(ctx):
    """A dead letter has more headers than its message: one that leaves no room for them does not stop the loaders."""
    sessions = fleet_of(ctx, 1)
    with NatsServer(ctx.dir / "nats") as server:
        with server.client() as client:
            make_stream(client)
            send(client, "n0", (f"{0x60:016x}/0/0/0", "chunk", b"x" * ((1 << 20) - 140)))
            send(client, "n0", ("y" * 60_000, "chunk", b"x"))
            send(client, "n0", (f"{0x61:016x}/0/0/0", "z" * 60_000, b"x"))
            send(client, "n" * 63, (f"{0x62:016x}/0/0/0", "chunk", b""), site="s" * 63)
        publish(ctx, server, sessions)
        load_all(ctx, server.address, ctx.dir / "store", codes=(2,))
        with server.client() as client:
            letters = {headers["Remora-Id"][:20]: (headers, body) for _, _, headers, body in
                       client.messages("REMORA_DEAD")}
        expect_equal(len(letters), 4, "dead letters")
        headers, body = letters[f"{0x60:016x}/0/0/0"[:20]]
        expect_equal(headers["Remora-Cut"], str((1 << 20) - 140), "bytes before it was cut")
        expect(body and not body.strip(b"x"), "the beginning of its body")
    expect_closed(ctx, ctx.dir / "store", 1)


@case(timeout_s=60)
def fault_consumer_or_stream_removed(ctx):
    """Under a loader that runs: it makes them anew and continues; what was published before comes again."""
    sessions = fleet_of(ctx, 3)
    with NatsServer(ctx.dir / "nats") as server, server.client() as client:
        publish(ctx, server, {"n0": sessions["n0"]})
        with loader(ctx, server.address, ctx.dir / "store") as process:
            wait_stored(ctx, "store", 1)
            expect(client.api("CONSUMER.DELETE.REMORA.load").get("success"), "consumer")
            publish(ctx, server, {"n1": sessions["n1"]})
            wait_stored(ctx, "store", 2)
            expect(client.api("STREAM.DELETE.REMORA").get("success"), "stream")
            publish(ctx, server, {"n2": sessions["n2"]})
            wait_stored(ctx, "store", 3)
            expect(process.poll() is None, (ctx.dir / "loader.log").read_text())
            client.api("STREAM.PURGE.REMORA")
        expect_dead_letters(server, [])
    expect_closed(ctx, ctx.dir / "store", 3)
    expect_as_undisturbed(ctx, ctx.dir / "store")


def wait_stored(ctx, store, sessions):
    while True:
        if (ctx.dir / store / "fleet.sqlite").exists():
            done = ctx.remora("fleet", "nodes", ctx.dir / store, "--json", codes=None)
            if done.returncode == 0 and sum(
                    node["runs"] - node["not_ended"] for node in json.loads(done.stdout)["nodes"]) >= sessions:
                return
        expect(ctx.left_s() > 1, f"{sessions} sessions do not come: {(ctx.dir / 'loader.log').read_text()}")
        time.sleep(0.2)


@case(timeout_s=60)
def fault_stream_purged_before_it_is_loaded(ctx):
    """Chunks that the stream has removed: the session is stored, and verify names the first of them."""
    sessions = fleet_of(ctx, 1)
    with NatsServer(ctx.dir / "nats") as server, server.client() as client:
        publish(ctx, server, sessions)
        client.request("$JS.API.STREAM.PURGE.REMORA", json.dumps({"seq": 3}).encode())
        load_all(ctx, server.address, ctx.dir / "store")
    first = verify(ctx, ctx.dir / "store", codes=(2,))["runs"][0]
    expect_equal((first["first_missing_file"], first["missing_chunks"]), ("0trace.dat", 2), "purged")


@case(timeout_s=60)
def fault_session_without_its_last_message(ctx):
    """Its account stays open, and the chunks are there."""
    session = fleet_of(ctx, 1)["n0"]
    with NatsServer(ctx.dir / "nats") as server:
        with server.client() as client:
            make_stream(client)
            for message in published(session)[:-1]:
                send(client, "n0", message)
        load_all(ctx, server.address, ctx.dir / "store")
    run = verify(ctx, ctx.dir / "store", codes=(6,))["runs"][0]
    expect_equal((run["state"], run["stored_chunks"]), ("open", 4), f"{run}")


@case(timeout_s=60)
def fault_names_shared_by_machines(ctx):
    """Two machines under one name are two runs; one session under two names, too."""
    first = counted_session(ctx.dir / "sessions/lab/same/a", 0x81, 3)
    second = counted_session(ctx.dir / "sessions/lab/same/b", 0x82, 3)
    with NatsServer(ctx.dir / "nats") as server:
        publish(ctx, server, {"same": first})
        publish(ctx, server, {"same": second})
        load_all(ctx, server.address, ctx.dir / "store")
        expect_closed(ctx, ctx.dir / "store", 2)
        expect_as_undisturbed(ctx, ctx.dir / "store")
        with server.client() as client:
            for message in published(first):
                send(client, "other", message, unique=False)
        load_all(ctx, server.address, ctx.dir / "store")
    expect_closed(ctx, ctx.dir / "store", 3)


@case(timeout_s=60)
def fault_start_differs_between_messages_of_a_run(ctx):
    """Chunks in the partition of another day than their session: found all the same, in both stores."""
    sent = published(fleet_of(ctx, 1)["n0"])
    with NatsServer(ctx.dir / "nats") as server, clickhouse_server.server(ctx) as clickhouse:
        with server.client() as client:
            make_stream(client)
            for number, message in enumerate(sent):
                send(client, "n0", message, started=number * 40_000_000)
                send(client, "n0", message, started=4_294_967_295 - number, unique=False)
        for name, store in (("directory", ctx.dir / "store"), ("clickhouse", clickhouse.url + "/fleet")):
            load_all(ctx, server.address, store, "--consumer", name)
            expect_closed(ctx, store, 1, *(["--events"] if name == "clickhouse" else []))
        undisturbed(ctx, ctx.dir / "sessions", clickhouse.url + "/undisturbed")
        for table in ("events", "jobs", "chunks", "nodes", "listed"):
            expect_equal(*(clickhouse.number(f"SELECT count() FROM {database}.{table}")
                           for database in ("fleet", "undisturbed")), table)
        expect_equal(clickhouse.ask("SELECT sum(jobs) FROM fleet.task_minutes"),
                     clickhouse.ask("SELECT count() FROM fleet.jobs"), "minutes")


@case(timeout_s=60)
def fault_stores_at_the_same_stream(ctx):
    """With a consumer of its own each gets everything; a name that is no name is refused."""
    sessions = fleet_of(ctx)
    with NatsServer(ctx.dir / "nats") as server, loader(ctx, server.address, ctx.dir / "one", name="loader"), loader(
            ctx, server.address, ctx.dir / "two", "--consumer", "two", name="two"):
        publish(ctx, server, sessions)
        wait_stored(ctx, "one", 2)
        wait_stored(ctx, "two", 2)
        ctx.remora("load", "--from", server.address, "--to", ctx.dir / "three", "--consumer", "a.b", codes=(1,))
    expect_as_undisturbed(ctx, ctx.dir / "one")
    expect_as_undisturbed(ctx, ctx.dir / "two")


@case(timeout_s=60)
def fault_disk_of_a_directory_full(ctx):
    """No file may grow beyond 200 KB: it ends and names the file; with room again, everything is stored."""
    sessions = fleet_of(ctx, 3, chunks=8)
    with NatsServer(ctx.dir / "nats") as server:
        publish(ctx, server, sessions)
        with server.client() as client:
            make_consumer(client)

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

        done = subprocess.run(command_of(server.address, ctx.dir / "store", "--until-empty"), cwd=ROOT, check=False,
                              capture_output=True, text=True, timeout=ctx.left_s(), stdin=subprocess.DEVNULL,
                              preexec_fn=limit, restore_signals=False)
        expect(done.returncode in (1, 4), f"{done.returncode}: {done.stderr}")
        expect("fleet.sqlite" in done.stderr or ".rpk" in done.stderr, done.stderr)
        load_all(ctx, server.address, ctx.dir / "store")
    expect_closed(ctx, ctx.dir / "store", 3)
    expect_as_undisturbed(ctx, ctx.dir / "store")


@case(timeout_s=60)
def fault_loader_without_the_right_credentials(ctx):
    """Ends at once, says which server refuses, and leaves everything for one that has them."""
    sessions = fleet_of(ctx, 1)
    with NatsServer(ctx.dir / "nats", users={"remora": "right"}) as server:
        right = f"nats://remora:right@127.0.0.1:{server.port}"
        ctx.remora("publish", sessions["n0"], "--to", right, "--site", "lab", "--node", "n0")
        wrong = right.replace("right", "wrong-word")
        done = ctx.remora("load", "--from", wrong, "--to", ctx.dir / "store", codes=(1,))
        expect("refuses" in done.stderr and "wrong-word" not in done.stderr, done.stderr)
        load_all(ctx, right, ctx.dir / "store")
    expect_closed(ctx, ctx.dir / "store", 1)


@case(timeout_s=60)
def fault_spool_full_while_the_server_is_away(ctx):
    """What --total-bytes cut off is in no chunk that is listed; after it is published and loaded, verify says why."""
    # pylint: disable-next=import-outside-toplevel
    from fleet.record import packets, record, said, send as send_packets, wait_for
    server = NatsServer(ctx.dir / "nats")
    with record(ctx, "--serve", ctx.dir / "served", "--publish", server.address, "--total-bytes", "150K", "--json") as (
            process, address):
        for boot in (0xC8, 0xC9):
            send_packets(address, packets(boot, 4))
        wait_for(ctx, "the sessions do not end", lambda: said(ctx).count("session_closed") >= 2)
        with server:
            wait_for(ctx, "nothing is published", lambda: said(ctx).count("session_published") >= 2)
            process.send_signal(signal.SIGTERM)
            expect_equal(process.wait(30), 4, said(ctx))
            load_all(ctx, server.address, ctx.dir / "store", codes=(0, 2))  # 2: a chunk was cut off within
    runs = verify(ctx, ctx.dir / "store", codes=(2,))["runs"]
    expect(any("--total-bytes" in run["why"] for run in runs), f"{[run['why'] for run in runs]}")


@case(timeout_s=60)
def fault_servers_and_loaders_killed(ctx):
    """Seeded: see tests/soak/fleet.py, of which this is one round."""
    from soak.fleet import round_of  # pylint: disable=import-outside-toplevel
    round_of(ctx, int(os.environ.get("SEED", "1")), sessions=3, kills=3)
