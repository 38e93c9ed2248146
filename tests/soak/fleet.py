#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Campaigns against the path of a fleet: sessions are published, and loaded into a directory and into ClickHouse, while
both servers, the publisher and the loaders are killed at random and started again, and messages are injected twice,
in another order, damaged and forged. At the end each table has the rows of an undisturbed load, every bad message is a
dead letter, and verify names the one chunk that was withheld.

   fleet.py [ROUNDS [SEED]]     rounds of SEED, SEED + 1, ...; the first that fails ends it"""
import contextlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

# pylint: disable=wrong-import-position
from support import clickhouse_server, context
from support.cases import Failure, expect, expect_equal
from support.fleet_faults import (REMORA_FLEET, bad_messages, command_of, counted_session, expect_dead_letters,
                                  expect_same, load_all, make_consumer, make_stream, rows_of_clickhouse,
                                  rows_of_directory, send, undisturbed, verify)
from support.fleet_sessions import published
from support.nats_server import NatsServer

ROUND_S = 300


class Campaign:
    """One round: servers, programs, and what was injected."""

    def __init__(self, ctx, seed, sessions):
        self.ctx, self.random = ctx, random.Random(seed)
        self.counts = {"killed": {}, "again": 0, "bad": 0, "messages": 0}
        tree = ctx.dir / "sessions/lab"
        self.sessions = {f"n{i}": counted_session(tree / f"n{i}/run", 0x1000 * seed + i + 1, self.random.randint(2, 12))
                         for i in range(sessions)}
        self.shuffled = counted_session(tree / "shuffled/run", 0x1000 * seed + 0x100, 6)
        self.withheld = counted_session(tree / "withheld/run", 0x1000 * seed + 0x101, 6)
        self.gap = self.random.randrange(6)
        self.published = ctx.dir / "published/lab"  # what the publisher sends; it notes its progress there
        for node, session in self.sessions.items():
            shutil.copytree(session, self.published / node / "run")
        self.bad = bad_messages(self.shuffled)
        self.nats = NatsServer(ctx.dir / "nats")
        self.clickhouse = clickhouse_server.Server(ctx)
        self.processes = {}

    def commands(self):
        place = {"directory": self.ctx.dir / "store", "clickhouse": f"{self.clickhouse.url}/fleet"}
        loaders = {f"loader {store} {number}": command_of(self.nats.address, place[store], "--consumer", store,
                                                          "--batch", str(self.random.choice((1, 3, 256))))
                   for store in place for number in (1, 2)}
        return loaders | {"publisher": [str(REMORA_FLEET), "publish", str(self.ctx.dir / "published"), "--to",
                                        self.nats.address, "--wait", "60"]}

    def start(self, name):
        with open(self.ctx.dir / f"{name}.log", "a", encoding="utf-8") as log:
            self.processes[name] = subprocess.Popen(self.commands()[name], stdout=log, stderr=log,
                                                    stdin=subprocess.DEVNULL, cwd=context.ROOT)

    def end_processes(self):
        for process in self.processes.values():
            process.kill()
            process.wait()
        self.processes.clear()

    def kill_something(self):
        victim = self.random.choice(("nats", "nats", "clickhouse", "publisher", *self.commands()))
        name = victim.split()[0]
        self.counts["killed"][name] = self.counts["killed"].get(name, 0) + 1
        if victim == "nats":
            self.nats.kill()
            time.sleep(self.random.choice((0, 0.2)))
            self.nats.start()
        elif victim == "clickhouse":
            self.clickhouse.kill()
            self.clickhouse.start()
        else:
            self.processes[victim].kill()
            self.processes[victim].wait()
            self.start(victim)

    def inject(self, bad):
        """Messages that the stream has, again, and some that nothing may store."""
        with self.nats.client() as client:
            if not wait_for_stream(client):
                return bad
            kinds = ("chunk", "formats", "session")
            stored = [entry for entry in client.messages() if entry[2].get("Remora-Kind") in kinds
                      and not entry[2]["Nats-Msg-Id"].endswith(" ")]
            for _, subject, headers, body in self.random.sample(stored, min(len(stored), 6)):
                send(client, subject.split(".")[2], (headers["Nats-Msg-Id"], headers["Remora-Kind"], body),
                     started=headers["Remora-Started"], unique=self.random.random() < 0.5)
                self.counts["again"] += 1
            for identity, kind, body, started, _ in bad[:3]:
                send(client, "shuffled", (identity, kind, body), started=started, unique=False)
                self.counts["bad"] += 1
        return bad[3:]

    def send_shuffled(self):
        """A run in any order, and one of which a chunk is withheld."""
        messages = [("shuffled", message) for message in published(self.shuffled)]
        withheld = published(self.withheld)
        messages += [("withheld", message) for message in withheld[:self.gap] + withheld[self.gap + 1:]]
        self.random.shuffle(messages)
        with self.nats.client() as client:
            expect(wait_for_stream(client), "no stream")
            for node, message in messages:
                send(client, node, message)

    def run(self, kills):
        self.nats.start()
        self.clickhouse.start()
        with self.nats.client() as client:
            make_stream(client)
            for name in ("directory", "clickhouse"):
                make_consumer(client, name)
        for name in self.commands():
            self.start(name)
        bad = self.bad
        for number in range(kills):
            if number == kills // 2:
                self.send_shuffled()
            time.sleep(self.random.random() * 0.5)
            self.kill_something()
            bad = self.inject(bad)
        while bad:
            bad = self.inject(bad)
        self.finish()

    def finish(self):
        while self.processes["publisher"].poll() != 0:
            expect(self.ctx.left_s() > 1, "the publisher does not end")
            if self.processes["publisher"].poll() is not None:
                self.start("publisher")
            time.sleep(0.05)
        time.sleep(1)
        self.end_processes()
        (self.ctx.dir / "sessions/lab/withheld/run" / f"{self.gap}trace.dat").unlink()
        stores = {"directory": self.ctx.dir / "store", "clickhouse": f"{self.clickhouse.url}/fleet"}
        undisturbed(self.ctx, self.ctx.dir / "sessions", self.ctx.dir / "undisturbed")
        undisturbed(self.ctx, self.ctx.dir / "sessions", f"{self.clickhouse.url}/undisturbed")
        for name, store in stores.items():
            load_all(self.ctx, self.nats.address, store, "--consumer", name, codes=(0, 2))
            found = verify(self.ctx, store, *(["--events"] if name == "clickhouse" else []), codes=(2,))
            states = {run["node"]: run["state"] for run in found["runs"]}
            expect_equal(states, {node: "closed" for node in (*self.sessions, "shuffled")} | {"withheld": "missing"},
                         f"{name}: {found['lines']}")
            expect_equal((found["runs"][0]["first_missing_file"], found["runs"][0]["missing_chunks"]),
                         (f"{self.gap}trace.dat", 1), f"{name}: what was withheld")
        expect_same(rows_of_directory(stores["directory"]), rows_of_directory(self.ctx.dir / "undisturbed"),
                    "directory")
        expect_same(rows_of_clickhouse(self.clickhouse, "fleet"), rows_of_clickhouse(self.clickhouse, "undisturbed"),
                    "clickhouse")
        expect_dead_letters(self.nats, self.bad)
        with self.nats.client() as client:
            self.counts["messages"] = client.api("STREAM.INFO.REMORA")["state"]["messages"]


def wait_for_stream(client, limit_s=10):
    """A server that was just started answers before its streams are there."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        with contextlib.suppress(ValueError):
            if "error" not in client.api("STREAM.INFO.REMORA"):
                return True
        time.sleep(0.05)
    return False


def round_of(ctx, seed, sessions, kills):
    campaign = Campaign(ctx, seed, sessions)
    try:
        campaign.run(kills)
    finally:
        campaign.end_processes()
        campaign.nats.kill()
        campaign.clickhouse.kill()
    return campaign.counts


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    os.chdir(context.ROOT)
    for seed in range(first, first + rounds):
        began = time.monotonic()
        try:
            counts = round_of(context.Context("soak", f"fleet-{seed}", ROUND_S), seed, sessions=8, kills=12)
        except Failure as failure:
            print(f"FAIL seed {seed}: {failure}")
            return 1
        killed = ", ".join(f"{name} {number}" for name, number in sorted(counts["killed"].items()))
        print(f"PASS seed {seed} ({time.monotonic() - began:.1f} s): killed {killed}; {counts['messages']} messages, "
              f"{counts['again']} of them injected again, {counts['bad']} bad", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
