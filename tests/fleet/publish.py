# SPDX-License-Identifier: MIT
"""`remora publish`: sessions to a real server of NATS, read back by a client of the tests' own."""
import contextlib
import json
import subprocess
import time

from support.cases import case, expect, expect_equal
from support.context import BUILD, REMORA, ROOT
from support.fleet_sessions import published, write_session
from support.nats_server import NatsServer, certificates

REMORA_FLEET = f"{BUILD}/host/remora-fleet"
NAMES = ("--site", "lab", "--node", "board-7")


def publish(ctx, server, *options, codes=(0,), names=NAMES, env=None):
    return ctx.run(REMORA, "publish", *options, "--to", getattr(server, "address", server), *names, codes=codes,
                   env=env)


def expect_stored(server, *sessions, subject="REMORA.lab.board-7"):
    """The stream holds exactly the messages of these sessions, each in its order, byte for byte."""
    with server.client() as client:
        messages = client.messages()
    wanted = {session: published(session) for session in sessions}
    expect_equal(len(messages), sum(map(len, wanted.values())), "messages in the stream")
    for session, sent in wanted.items():
        ids = {number for number, _, _ in sent}
        found = [(headers["Nats-Msg-Id"], headers["Remora-Kind"], body) for _, _, headers, body in messages
                 if headers["Nats-Msg-Id"] in ids]
        expect_equal([entry[0] for entry in found], [entry[0] for entry in sent], f"order of {session.name}")
        expect(found == sent, f"{session.name}: a body differs")
    for _, name, headers, _ in messages:
        expect_equal(name, subject, "subject")
        expect_equal(set(headers), {"Nats-Msg-Id", "Remora-Kind", "Remora-Started"}, "headers")
    return messages


@contextlib.contextmanager
def publisher(ctx, server, *options):
    """A publisher that runs beside the case."""
    with open(ctx.dir / "publisher.log", "a", encoding="utf-8") as log:
        command = [ROOT / REMORA_FLEET, "publish", *options, "--to", server.address, *NAMES]
        process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                   cwd=ROOT)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@case
def publish_stores_a_session_byte_for_byte(ctx):
    """Chunks in their order and the manifest after them, with ids and headers; the stream is made as documented."""
    session = write_session(ctx.dir / "session", 0xA1, 5)
    with NatsServer(ctx.dir / "nats") as server:
        done = publish(ctx, server, session)
        expect("5 chunks," in done.stdout and "1 session published; 0 there already" in done.stdout, done.stdout)
        messages = expect_stored(server, session)
        expect_equal({headers["Remora-Started"] for _, _, headers, _ in messages}, {"1700000000"}, "started")
        with server.client() as client:
            config = client.api("STREAM.INFO.REMORA")["config"]
        expect_equal((config["subjects"], config["storage"], config["retention"], config["duplicate_window"]),
                     (["REMORA.>"], "file", "limits", 120_000_000_000), "stream")


@case
def publish_twice_stores_once(ctx):
    """By the record of progress; and without it, because the server knows the ids."""
    session = write_session(ctx.dir / "session", 0xA2, 4)
    with NatsServer(ctx.dir / "nats") as server:
        publish(ctx, server, session)
        done = publish(ctx, server, session)
        expect("0 chunks, 0 bytes, 0 sessions published; 1 there already" in done.stdout, done.stdout)
        (ctx.dir / "session.published").unlink()
        publish(ctx, server, session)
        expect_stored(server, session)


@case
def publish_waits_for_a_server_that_is_away(ctx):
    """Status 2 and the command that continues, if it stays away; else everything is stored."""
    session = write_session(ctx.dir / "session", 0xA3, 3)
    server = NatsServer(ctx.dir / "nats")
    done = publish(ctx, server, session, "--wait", "0.5", codes=(2,))
    expect("no server answers" in done.stderr and "continues" in done.stderr, done.stderr)
    with publisher(ctx, server, session, "--wait", "60") as process, server:
        expect_equal(process.wait(60), 0, (ctx.dir / "publisher.log").read_text())
        expect_stored(server, session)


@case(timeout_s=300)
def publish_survives_a_server_that_is_killed(ctx):
    """kill -9 of the server, several times among many chunks: nothing is missing, nothing is twice, the order holds."""
    session = write_session(ctx.dir / "session", 0xA4, 600, repeat=20)
    server = NatsServer(ctx.dir / "nats")
    server.start()
    try:
        with publisher(ctx, server, session, "--wait", "60") as process:
            for pause_s in (0.02, 0.05, 0.1):
                time.sleep(pause_s)
                server.kill()
                server.start()
            expect_equal(process.wait(60), 0, (ctx.dir / "publisher.log").read_text())
        expect_stored(server, session)
    finally:
        server.kill()


@case(timeout_s=300)
def publish_continues_after_kill_9(ctx):
    """A publisher that is killed at any instant and started again: exactly once, and in order."""
    session = write_session(ctx.dir / "session", 0xA5, 600, repeat=20)
    with NatsServer(ctx.dir / "nats") as server:
        killed = 0
        for attempt in range(12):
            with publisher(ctx, server, session) as process:
                time.sleep(0.005 + 0.005 * attempt)
                killed += process.poll() is None
        publish(ctx, server, session)
        expect(killed > 0, f"only {killed} publishers were killed")
        expect_stored(server, session)


@case
def publish_takes_sessions_of_a_served_directory(ctx):
    """Each is one line of the summary's count; a progress file beside them is no session."""
    served = ctx.dir / "served"
    sessions = [write_session(served / f"{boot:016x}-0", boot, 2) for boot in (1, 2, 3)]
    with NatsServer(ctx.dir / "nats") as server:
        done = publish(ctx, server, served)
        expect("6 chunks," in done.stdout and "3 sessions published" in done.stdout, done.stdout)
        done = publish(ctx, server, served)
        expect("3 there already" in done.stdout, done.stdout)
        expect_stored(server, *sessions)


@case
def publish_leaves_a_damaged_chunk_out(ctx):
    """It is named, the others are published, status 2."""
    session = write_session(ctx.dir / "session", 0xA6, 4)
    chunk = session / "2trace.dat"
    data = bytearray(chunk.read_bytes())
    data[-1] ^= 1
    chunk.write_bytes(data)
    with NatsServer(ctx.dir / "nats") as server:
        done = publish(ctx, server, session, codes=(2,))
        expect("2trace.dat is not published" in done.stderr, done.stderr)
        with server.client() as client:
            ids = [headers["Nats-Msg-Id"] for _, _, headers, _ in client.messages()]
        expect_equal(ids, [number for number, _, _ in published(session) if "/2/0" not in number], "ids")


@case
def publish_refuses_a_session_without_boot_id(ctx):
    session = write_session(ctx.dir / "session", 0, 2)
    with NatsServer(ctx.dir / "nats") as server:
        done = publish(ctx, server, session, codes=(2,))
        expect("boot id is not known" in done.stderr, done.stderr)
        with server.client() as client:
            expect_equal(client.messages(), [], "messages")


@case
def publish_with_wrong_credentials_is_refused_at_once(ctx):
    """And no message shows a password."""
    session = write_session(ctx.dir / "session", 0xA7, 2)
    with NatsServer(ctx.dir / "nats", users={"remora": "right-password"}) as server:
        wrong = f"nats://remora:wrong-password@127.0.0.1:{server.port}"
        for address, options in ((wrong, ()), (server.address, ())):
            done = publish(ctx, address, session, "--wait", "30", *options, codes=(2,))
            expect("refuses these credentials" in done.stderr, done.stderr)
            expect("wrong-password" not in done.stderr + done.stdout, done.stderr)
        publish(ctx, server, session, "--user", "remora", env={"REMORA_PASSWORD": "right-password"})
        expect_stored(server, session)


@case
def publish_verifies_the_certificate_of_a_server(ctx):
    """With the right authority; not with another one, nor for another host."""
    session = write_session(ctx.dir / "session", 0xA8, 2)
    right, other = certificates(ctx.dir / "tls", "right"), certificates(ctx.dir / "tls", "other")
    with NatsServer(ctx.dir / "nats", tls=right) as server:
        done = publish(ctx, server, session, "--tls-ca", other["ca"], codes=(2,))
        expect("TLS failed" in done.stderr and "--tls-ca" in done.stderr, done.stderr)
        done = publish(ctx, server, session, codes=(2,))
        expect("TLS failed" in done.stderr, done.stderr)
        publish(ctx, server, session, "--tls-ca", right["ca"])
        expect_stored(server, session)
    wrong_host = certificates(ctx.dir / "tls", "elsewhere", "nats.example.org")
    with NatsServer(ctx.dir / "nats2", tls=wrong_host) as server:
        done = publish(ctx, server, write_session(ctx.dir / "session2", 0xA9, 2), "--tls-ca", wrong_host["ca"],
                       codes=(2,))
        expect("TLS failed" in done.stderr, done.stderr)


@case
def publish_names_a_chunk_that_the_server_does_not_take(ctx):
    """With the setting that takes it."""
    session = write_session(ctx.dir / "session", 0xAA, 1)
    with NatsServer(ctx.dir / "nats", max_payload=65536) as server:
        done = publish(ctx, server, session, codes=(2,))
        expect("0trace.dat" in done.stderr and "max_payload" in done.stderr, done.stderr)


@case
def publish_needs_jetstream(ctx):
    session = write_session(ctx.dir / "session", 0xAB, 1)
    with NatsServer(ctx.dir / "nats", jetstream=False) as server:
        done = publish(ctx, server, session, "--wait", "0.5", codes=(2,))
        expect("JetStream" in done.stderr and "nats-server with -js" in done.stderr, done.stderr)


@case
def publish_keeps_the_name_under_which_a_session_was_begun(ctx):
    """Without --site and --node, a session that was begun stays that node's."""
    session = write_session(ctx.dir / "session", 0xAC, 2)
    server = NatsServer(ctx.dir / "nats")
    (ctx.dir / "session.published").write_text(json.dumps(
        {"format": "remora-published", "version": 1, "site": "lab", "node": "board-7", "boot_id": f"{0xAC:016x}",
         "started": 1, "chunks": 0, "differing": 0, "session": False}))
    with server:
        publish(ctx, server, session, names=())
        expect_equal({headers["Remora-Started"] for _, _, headers, _ in expect_stored(server, session)}, {"1"},
                     "started, as of the first publisher")


@case
def remora_is_linked_with_no_library_of_servers(ctx):
    """They are in remora-fleet alone."""
    linked = ctx.run("ldd", REMORA).stdout
    expect("libnats" not in linked and "libcurl" not in linked, linked)
    linked = ctx.run("ldd", REMORA_FLEET).stdout
    expect("libnats" in linked, linked)
