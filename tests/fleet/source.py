# SPDX-License-Identifier: MIT
"""`remora load --from nats://...`: what the stream gives, to one loader or two, over restarts of the server; and what
it is not made of."""
import contextlib
import json
import subprocess
import time

from support.cases import case, expect, expect_equal
from support.context import BUILD, REMORA, ROOT
from support.fleet_sessions import published, write_session
from support.nats_server import NatsServer

REMORA_FLEET = f"{BUILD}/host/remora-fleet"


def load(ctx, server, *options, codes=(0,)):
    done = ctx.run(REMORA, "load", "--from", server.address, "--to", ctx.dir / "store", "--until-empty", "--json",
                   *options, codes=codes)
    return json.loads(done.stdout)


@contextlib.contextmanager
def loader(ctx, server, name):
    """One that runs beside the case, until it is stopped."""
    with open(ctx.dir / f"{name}.log", "a", encoding="utf-8") as log:
        command = [ROOT / REMORA_FLEET, "load", "--from", server.address, "--to", ctx.dir / "store"]
        process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def publish(ctx, server, session, node):
    ctx.remora("publish", session, "--to", server.address, "--site", "lab", "--node", node)


def consumer(server):
    with server.client() as client:
        return client.api("CONSUMER.INFO.REMORA.load")


def expect_settled(ctx, server):
    """Every message is acknowledged."""
    while True:
        state = consumer(server)
        if "error" not in state and state["num_pending"] + state["num_ack_pending"] == 0:
            return
        expect(ctx.left_s() > 1, f"{state}: {[path.read_text() for path in ctx.dir.glob('*.log')]}")
        time.sleep(0.1)


def dead_letters(server):
    with server.client() as client:
        return client.messages("REMORA_DEAD")


@case(timeout_s=180)
def source_gives_all_messages_and_they_are_acknowledged(ctx):
    sessions = [write_session(ctx.dir / f"s{boot}", boot, 5) for boot in (0x11, 0x12, 0x13)]
    with NatsServer(ctx.dir / "nats") as server:
        for session in sessions:
            publish(ctx, server, session, session.name)
        counts = load(ctx, server)
        expect_equal((counts["chunks"], counts["sessions"], counts["rejected"]), (15, 3, 0), f"{counts}")
        expect_settled(ctx, server)
        again = load(ctx, server)
        expect_equal((again["chunks"], again["sessions"]), (0, 0), f"{again}")


@case(timeout_s=180)
def source_rejects_what_is_no_message_of_ours(ctx):
    """Each is one dead letter with its reason, its headers and its body; the others are loaded."""
    session = write_session(ctx.dir / "s", 0x21, 2)
    good = {"Nats-Msg-Id": f"{0x22:016x}/0/0/0", "Remora-Kind": "chunk", "Remora-Started": "1"}
    bad = [("REMORA.lab", good, "SITE.NODE"),
           ("REMORA.lab.a.b", good, "SITE.NODE"),
           ("REMORA.lab.x", {**good, "Nats-Msg-Id": "x"}, "not the id"),
           ("REMORA.lab.x", {**good, "Remora-Kind": "session"}, "not the id"),
           ("REMORA.lab.x", {**good, "Remora-Kind": "other"}, "neither chunk nor session"),
           ("REMORA.lab.x", {**good, "Remora-Started": "yesterday"}, "no number of seconds"),
           ("REMORA.lab.x", {}, "neither chunk nor session")]
    with NatsServer(ctx.dir / "nats") as server:
        publish(ctx, server, session, "good")
        with server.client() as client:
            for number, (subject, headers, _) in enumerate(bad):
                unique = {"Nats-Msg-Id": f"unique-{number}"} if not headers else headers
                answer = json.loads(client.request(subject, f"body {number}".encode(),
                                                   {**unique, "Nats-Msg-Id": unique["Nats-Msg-Id"] + " " * number}))
                expect("error" not in answer, f"{answer}")
        counts = load(ctx, server, codes=(2,))
        expect_equal((counts["chunks"], counts["sessions"]), (2, 1), f"{counts}")
        expect_settled(ctx, server)
        letters = {body.decode(): (subject, headers) for _, subject, headers, body in dead_letters(server)}
        with server.client() as client:
            stored = [entry for entry in client.messages() if entry[3].startswith(b"body")]
        expect_equal(len(letters), len(stored), "dead letters")
        expect_equal(counts["rejected"], len(stored), "what the loader counts")
        for _, subject, headers, body in stored:
            reason = bad[int(body.split()[1])][2]
            letter_subject, letter = letters[body.decode()]
            expect(reason in letter["Remora-Reason"], f"{subject}: {letter}")
            expect_equal(letter["Remora-Subject"], subject, "first subject")
            expect_equal(letter.get("Remora-Kind", ""), headers.get("Remora-Kind", ""), "kind")
            known = subject.count(".") == 2
            expect_equal(letter_subject, "REMORA_DEAD.lab.x" if known else "REMORA_DEAD._._", "subject")


@case(timeout_s=180)
def source_makes_a_dead_letter_of_a_damaged_chunk(ctx):
    """Once, however often it is loaded; the session is stored without it."""
    session = write_session(ctx.dir / "s", 0x23, 3)
    with NatsServer(ctx.dir / "nats") as server:
        publish(ctx, server, session, "good")
        with server.client() as client:
            identity, _, body = published(session)[0]
            damaged = identity[:-1] + "7"
            client.request("REMORA.lab.good", body, {"Nats-Msg-Id": damaged, "Remora-Kind": "chunk",
                                                     "Remora-Started": "1700000000"})
        counts = load(ctx, server, codes=(2,))
        expect_equal((counts["chunks"], counts["sessions"], counts["rejected"]), (3, 1, 1), f"{counts}")
        ((_, subject, headers, body),) = dead_letters(server)
        expect_equal((subject, headers["Remora-Id"]), ("REMORA_DEAD.lab.good", damaged), "dead letter")
        expect(headers["Remora-Reason"], f"{headers}")


@case(timeout_s=300)
def source_survives_a_server_that_is_killed(ctx):
    """kill -9 and a restart on the same port while a loader takes: it continues by itself, and everything is stored."""
    session = write_session(ctx.dir / "s", 0x24, 300)
    server = NatsServer(ctx.dir / "nats")
    server.start()
    try:
        publish(ctx, server, session, "good")
        with loader(ctx, server, "loader"):
            for pause_s in (0.3, 0.2, 0.5):
                time.sleep(pause_s)
                server.kill()
                server.start()
            expect_settled(ctx, server)
        counts = load(ctx, server)
        expect_equal((counts["chunks"], counts["sessions"]), (0, 0), "what was left")
    finally:
        server.kill()


@case(timeout_s=300)
def source_is_shared_by_loaders(ctx):
    """Two at a time, one of them killed: all that it had taken comes to the other one, or again."""
    sessions = [write_session(ctx.dir / f"s{boot}", boot, 30) for boot in (0x31, 0x32, 0x33, 0x34)]
    with NatsServer(ctx.dir / "nats") as server:
        for session in sessions:
            publish(ctx, server, session, session.name)
        with loader(ctx, server, "one"), loader(ctx, server, "two"):
            expect_settled(ctx, server)
        counts = load(ctx, server)
        expect_equal((counts["chunks"], counts["sessions"], counts["rejected"]), (0, 0, 0), f"{counts}")
