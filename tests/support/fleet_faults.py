# SPDX-License-Identifier: MIT
"""What the cases of tests/fleet/faults.py and the campaign tests/soak/fleet.py have in common: sessions whose account
closes, messages that no loader may store, and what a store must hold in the end."""
import contextlib
import json
import socket
import sqlite3
import subprocess
import threading

from support.cases import Failure, expect, expect_equal
from support.context import REMORA, ROOT
from support.fleet_sessions import published, write_session

REMORA_FLEET = ROOT / f"{REMORA}-fleet"
STARTED = 1_700_000_000

# Tables of a directory store; ClickHouse has `events`, too.
TABLES = ("nodes", "listed", "chunks", "jobs", "intervals", "interrupts", "losses", "task_minutes", "response_classes",
          "worst_jobs")


def counted_session(directory, boot, chunks, **options):
    """A session of a machine that counted what it committed, so its account closes."""
    write_session(directory, boot, chunks, **options)
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["announced"] |= {"committed": manifest["announced"]["records"], "tracer_made": 0}
    (directory / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    return directory


def send(client, node, message, *, site="lab", started=STARTED, unique=True):
    """One message as a publisher sends it. unique: False: without an id, so the server stores it in any case."""
    identity, kind, body = message
    headers = {"Nats-Msg-Id": identity, "Remora-Kind": kind, "Remora-Started": str(started)}
    if not unique:  # the server compares ids to the byte, a loader takes the header without blanks around it
        headers["Nats-Msg-Id"] += " " * next(BLANKS)
    answer = json.loads(client.request(f"REMORA.{site}.{node}", body, headers))
    expect("error" not in answer, f"{node} {identity}: {answer}")
    return answer


def _blanks():
    number = 0
    while True:
        number += 1
        yield number


BLANKS = _blanks()


def bad_messages(session):
    """(id, kind, body, started, part of the reason): what was damaged or forged, of a session that is otherwise
    good."""
    sent = published(session)
    identity, _, body = sent[0]
    boot = identity.split("/", maxsplit=1)[0]
    manifest = sent[-1][2]
    other = f"{int(boot, 16) ^ 0xF000:016x}"
    torn = bytearray(body)
    torn[len(body) // 2] ^= 0x40
    return [(f"{boot}/0/900/0", "chunk", b"", STARTED, ""),
            (f"{boot}/0/901/0", "chunk", body, STARTED, "header is that of another chunk"),
            (f"{boot}/0/902/0", "chunk", body[:len(body) // 2 + 5], STARTED, ""),
            (f"{boot}/0/903/0", "chunk", bytes(torn), STARTED, ""),
            (f"{boot}/0/904/0", "chunk", b"\xff" * 100_000, STARTED, ""),
            (f"{boot.upper()[:-1]}F/0/00/0", "chunk", body, STARTED, "not the id of a chunk"),
            (f"{other}/0/0/0", "chunk", body, -5, "no number of seconds"),
            (f"{other}/0/1/0", "chunk", body, 1 << 40, "no number of seconds"),
            (f"{other}/session", "session", manifest, STARTED, "does not name the boot"),
            (f"{other}/session", "session", b"{}", STARTED, ""),
            (f"{boot}/formats", "formats", b"{", STARTED, "formats.json: "),
            (f"{boot}/formats", "session", manifest, STARTED, "not the id of a session"),
            (f"{boot}/session", "session", b"", STARTED, ""),
            (f"{boot}/session", "session", manifest[:len(manifest) // 2], STARTED, ""),
            (f"{boot}/session", "session", manifest.replace(b'"0trace.dat"', b'"../0trace.dat"', 1), STARTED,
             "file name")]


def command_of(source, place, *options):
    return [str(word) for word in (REMORA_FLEET, "load", "--from", source, "--to", place, *options)]


@contextlib.contextmanager
def loader(ctx, source, place, *options, name="loader"):
    """One that runs beside the case, until it is killed."""
    with open(ctx.dir / f"{name}.log", "a", encoding="utf-8") as log:
        process = subprocess.Popen(command_of(source, place, *options), stdout=log, stderr=log,
                                   stdin=subprocess.DEVNULL, cwd=ROOT)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def load_all(ctx, source, place, *options, codes=(0,)):
    """Until nothing is left. What the loader counted."""
    done = ctx.run(REMORA, "load", "--from", source, "--to", place, "--until-empty", "--json", *options, codes=codes)
    return json.loads(done.stdout)


def verify(ctx, place, *options, codes=(0,)):
    return json.loads(ctx.remora("fleet", "verify", place, "--json", *options, codes=codes).stdout)


def rows_of_directory(path):
    """Every row of every table, in a fixed order, without the place in the stream."""
    found = {}
    with contextlib.closing(sqlite3.connect(f"file:{path / 'fleet.sqlite'}?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        for table in TABLES:
            found[table] = sorted(repr([row[key] for key in row.keys() if key != "sequence"])
                                  for row in database.execute(f"SELECT * FROM {table}"))
        found["images"] = [repr(tuple(row)) for row in database.execute("SELECT count(*) FROM images")]
    return found


def rows_of_clickhouse(server, database):
    found = {}
    for table in (*TABLES, "events"):
        columns = [row[0] for row in server.ask(f"SELECT name FROM system.columns WHERE database = '{database}' AND "
                                                f"table = '{table}'") if row[0] != "sequence"]
        found[table] = sorted(server.ask(f"SELECT {', '.join(columns)} FROM {database}.{table}"))
    return found


def expect_same(found, expected, what):
    for table, rows in expected.items():
        if found[table] != rows:
            here, there = ({str(row) for row in one} for one in (found[table], rows))
            raise Failure(f"{what}: {table} has {len(found[table])} rows, expected {len(rows)}; only here and only "
                          f"there: {sorted(here - there)[:1]} {sorted(there - here)[:1]}")


def undisturbed(ctx, sessions, place):
    """A load from the directories SITE/NODE/SESSION, past every server of messages."""
    ctx.run(REMORA, "load", "--from", sessions, "--to", place, codes=(0, 2))


def expect_dead_letters(server, bad):
    """One for each of these messages, with its reason, and no others."""
    with server.client() as client:
        letters = client.messages("REMORA_DEAD")
    found = {(headers["Remora-Id"], body): headers["Remora-Reason"] for _, _, headers, body in letters}
    expect_equal(len(letters), len(bad), f"dead letters {sorted(identity for identity, _ in found)}")
    for identity, _, body, _, reason in bad:
        expect((identity, body) in found, f"no dead letter of {identity}")
        given = found[identity, body]
        expect(given and reason in given, f"{identity}: {given}, expected {reason}")


def make_stream(client):
    """As a publisher makes it, for messages that a case sends itself."""
    wanted = {"name": "REMORA", "subjects": ["REMORA.>"], "storage": "file"}
    client.request("$JS.API.STREAM.CREATE.REMORA", json.dumps(wanted).encode())


def make_consumer(client, name="load", wait_s=2):
    """With a short time until a message comes again; a loader takes a consumer as it finds it."""
    config = {"durable_name": name, "deliver_policy": "all", "ack_policy": "explicit", "max_deliver": -1,
              "ack_wait": wait_s * 1_000_000_000, "max_ack_pending": 65536}
    answer = json.loads(client.request(f"$JS.API.CONSUMER.DURABLE.CREATE.REMORA.{name}", json.dumps(
        {"stream_name": "REMORA", "config": config}).encode()))
    expect("error" not in answer, f"{answer}")


class HoldsAcknowledgements:
    """Between a loader and its server of messages: everything passes but acknowledgements, which are counted."""

    def __init__(self, port):
        self.port = port
        self.held = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"nats://127.0.0.1:{self.listener.getsockname()[1]}"
        self.sockets = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                one, _ = self.listener.accept()
                other = socket.create_connection(("127.0.0.1", self.port))
                self.sockets += [one, other]
                threading.Thread(target=self._to_client, args=(other, one), daemon=True).start()
                threading.Thread(target=self._to_server, args=(one, other), daemon=True).start()

    @staticmethod
    def _to_client(server, client):
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)

    def _to_server(self, client, server):
        with contextlib.suppress(OSError, ValueError), client.makefile("rb") as lines:
            while line := lines.readline():
                words = line.split()
                body = lines.read(int(words[-1]) + 2) if words and words[0] in (b"PUB", b"HPUB") else b""
                if body.startswith(b"+ACK") and words[1].startswith(b"$JS.ACK."):
                    self.held.set()
                else:
                    server.sendall(line + body)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
