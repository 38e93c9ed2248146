#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a fleet costs: recorded runs as those of 100 nodes, published to NATS, loaded into ClickHouse and into a
directory, and asked. Prints FIGURE and GOAL lines; rates are of processor time, so that other work on the machine does
not change them, but for the rate of publishing, which waits for the server. With DOCUMENT its tables are replaced.

   fleet.py REMORA FLEET_SESSIONS EVENTS [DOCUMENT]"""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from kernel_operations import replace, table  # noqa: E402  # pylint: disable=wrong-import-position
from support.clickhouse_server import Server  # noqa: E402  # pylint: disable=wrong-import-position
from support.nats_server import NatsServer  # noqa: E402  # pylint: disable=wrong-import-position

NODES = 100
SPAN_S = 86_400
RECORD_BYTES = 16
APPLICATIONS = (("control", 10_000), ("servers", 4_000), ("control", 5_000))
QUESTIONS = (("nodes",), ("misses",), ("misses", "--by", "hour"), ("worst",),
             ("compare", "node=node-001", "node=node-002"), ("losses",), ("verify",))
TARGET_NODES, TARGET_RATE = 1_000, 50_000


class Folder:
    """What the servers of the tests want to be given."""

    def __init__(self, path):
        self.dir = path


def cpu_of(command, codes=(0,)):
    """(output, processor seconds, seconds) of a process."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in codes:
        sys.exit(f"error: {' '.join(map(str, command))}: status {done.returncode}: {done.stderr[-500:]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds


def cpu_of_process(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bytes_below(folder):
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def record(folder):
    """The sessions that are repeated: real runs, of which the machine's chunks were acknowledged."""
    sessions = []
    for number, (app, duration_ms) in enumerate(APPLICATIONS):
        out = folder / f"{app}-{number}"
        subprocess.run(["make", "run", "DEPS=skip", f"APP={app}", "SINK=udp", "BOOT=pvh", "CLOCK=icount", "STREAM=ON",
                        f"DURATION_MS={duration_ms}", f"OUT={out}", "PORT=20417"], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        sessions.append(out / "udp")
    return sessions


def simulate(folder, tool, events):
    sessions = record(folder)
    mean = sum(sum(chunk["records"] for chunk in json.loads((one / "manifest.json").read_text())["chunks"])
               for one in sessions) / len(sessions)
    runs = max(1, round(events / NODES / mean))
    out = folder / "sessions"
    made, _, _ = cpu_of([tool, out, NODES, runs, SPAN_S, *sessions])
    events, chunks = map(int, made.split())
    return out, events, chunks, runs


class Figures:
    def __init__(self):
        self.stages, self.goals, self.asked = [], [], []

    def goal(self, name, value, text, wanted, met):
        print(f"GOAL {name} {text.replace(' ', '_')} {wanted.replace(' ', '_')} {'met' if met else 'missed'}")
        self.goals.append([name, text, wanted, "met" if met else "missed"])
        return value

    def stage(self, name, events, process, seconds):
        rate = events / seconds if seconds > 0 else float("inf")
        print(f"FIGURE {name} {process} {rate / 1e6:.2f} million events a second of processor time")
        self.stages.append([name, process, f"{rate / 1e6:.2f} M/s", f"{seconds:.1f} s"])
        return rate


def publish(remora, sessions, server, events, figures):
    before = cpu_of_process(server.process.pid)
    _, cpu, wall = cpu_of([remora, "publish", sessions, "--to", server.address])
    stored = cpu_of_process(server.process.pid) - before
    figures.stage("publish", events, "remora publish", cpu)
    figures.stage("publish", events, "nats-server", stored)
    rate = events / wall
    figures.goal("publish", rate, f"{rate / 1e6:.1f} M events/s", ">= 5 M events/s", rate >= 5e6)
    return {"publish": cpu / events, "nats-server, publish": stored / events}


def load(remora, source, place, made, figures, name, servers):
    events, chunks = made
    before = [cpu_of_process(server.process.pid) for server in servers]
    said, cpu, wall = cpu_of([remora, "load", "--from", source, "--to", place, "--until-empty", "--json"])
    loaded = json.loads(said)
    if loaded["chunks"] != chunks or loaded["rejected"]:
        sys.exit(f"error: {chunks} chunks were published, and this was loaded: {said}")
    rate = figures.stage(name, events, "remora load", cpu)
    costs = {"load": cpu / events}
    for server, used in zip(servers, before):
        label = "clickhouse-server" if isinstance(server, Server) else "nats-server"
        seconds = cpu_of_process(server.process.pid) - used
        figures.stage(name, events, label, seconds)
        costs[f"{label}, {name}"] = seconds / events
    print(f"FIGURE {name} wall {events / wall / 1e6:.2f} million events a second")
    return rate, costs


def ask(remora, place, figures, backend, events):
    worst = 0.0
    for question in QUESTIONS:
        taken = min(cpu_of([remora, "fleet", question[0], place, *question[1:]], codes=(0, 2, 6))[2] for _ in range(3))
        worst = max(worst, taken)
        print(f"FIGURE question.{backend} {' '.join(question)} {taken:.3f} s")
        figures.asked.append([backend, " ".join(question), f"{taken:.3f} s"])
    figures.goal(f"questions.{backend}", worst, f"{worst:.2f} s at {events:.3g} events", "< 1 s", worst < 1)


def extrapolated(costs, wire, stored):
    """Of each part, what the planned fleet takes."""
    rate = TARGET_NODES * TARGET_RATE
    rows = [[part, f"{cost * 1e9:.0f} ns", f"{rate * cost:.1f} cores"] for part, cost in costs.items()]
    rows.append(["network to the stream", f"{wire:.1f} bytes", f"{rate * wire / 1e6:.0f} MB/s"])
    rows.append(["store", f"{stored:.1f} bytes", f"{rate * stored * 86_400 / 1e12:.1f} TB a day"])
    return rows


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    remora, tool, wanted = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    folder = pathlib.Path("build/fleet-bench").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    figures = Figures()
    sessions, events, chunks, runs = simulate(folder, tool, wanted)
    print(f"FIGURE fleet {NODES} nodes, {NODES * runs} runs, {events} events in {chunks} chunks")
    nats, store = NatsServer(folder / "nats").start(), Server(Folder(folder), zstd=True).start()
    try:
        costs = publish(remora, sessions, nats, events, figures)
        wire = bytes_below(folder / "nats" / "store") / events
        print(f"FIGURE wire {wire:.2f} bytes an event in the stream")
        place = f"{store.url}/remora"
        rate, more = load(remora, nats.address, place, (events, chunks), figures, "load into ClickHouse", [nats, store])
        costs |= more
        figures.goal("load", rate, f"{rate / 1e6:.2f} M events/s a core", ">= 1 M events/s a core", rate >= 1e6)
        for name in ("events", "jobs", "intervals", "interrupts"):
            store.ask(f"OPTIMIZE TABLE remora.{name}_rows FINAL")
        tables = {name: int(size) for name, size in store.ask(
            "SELECT table, sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'remora' GROUP BY table")}
        for name, size in sorted(tables.items(), key=lambda row: -row[1]):
            print(f"FIGURE store.{name} {size / events:.3f} bytes an event")
        of_events, of_all = tables["events_rows"] / events, sum(tables.values()) / events
        figures.goal("store.events", of_events, f"{of_events:.2f} bytes an event", "<= 6", of_events <= 6)
        figures.goal("store.all", of_all, f"{of_all:.2f} bytes an event", "<= 6", of_all <= 6)
        ask(remora, place, figures, "ClickHouse", events)
        local = folder / "store"
        load(remora, sessions, local, (events, chunks), figures, "load into a directory", [])
        packed = sum(path.stat().st_size for path in local.rglob("*.rpk")) / events
        rows = bytes_below(local) / events - packed
        print(f"FIGURE directory {packed:.2f} bytes an event in packed sessions, {rows:.2f} in tables")
        ask(remora, local, figures, "directory", events)
    finally:
        nats.stop()
        store.stop()
    table_of = extrapolated(costs, wire, of_all)
    for row in table_of:
        print("FIGURE fleet of 1000: " + ", ".join(row))
    if len(sys.argv) == 5:
        document = pathlib.Path(sys.argv[4])
        replace(document, table(["stage", "process", "events a second of processor time", "processor time"],
                                figures.stages))
        replace(document, table(["goal", "figure", "wanted", "verdict"], figures.goals))
        replace(document, table(["store", "question", "time"], figures.asked))
        replace(document, table(["part", "an event", "1,000 nodes of 50,000 events/s"], table_of))


if __name__ == "__main__":
    main()
