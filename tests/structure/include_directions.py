#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dependencies point one way. Each folder lists the folders that it may include; everything else is an error:

    lib <- tracer <- host, port        lib <- arch <- kernel <- apps        lib <- drivers

The composition root (kernel/root/) is the only place that sees everything; other kernel code reaches the tracer through
kernel/trace/ alone. The rooms of the kernel have an order of their own (ORDERED). Own headers are included in quotes,
by their path from the root.

The code that exports the trace, down to the serial port, cannot record: it includes no header with a logging call, even
indirectly. So the export does not add records to the trace.
"""
import re
import sys

from sources import files, lines

ALLOWED = {
    "lib": {"lib"},
    "tracer": {"lib", "tracer"},
    "arch": {"lib", "arch"},
    "drivers": {"lib", "drivers"},
    "kernel": {"lib", "arch", "kernel"},
    "apps": {"lib", "kernel", "tracer", "apps"},
    "port": {"lib", "tracer", "port"},
    "host": {"lib", "tracer", "host"},
    "foreign": {"lib", "tracer", "host", "foreign", "convert"},
    "convert": {"lib", "tracer", "host", "foreign", "convert"},
    "fleet": {"lib", "tracer", "host", "convert", "fleet"},
    "python": {"lib", "tracer", "host", "python"},
}

# File (or folder, with a slash at the end) -> what it may include beyond the rule, and why.
EXCEPTIONS = {
    "kernel/root/": {"drivers", "tracer", "apps"},  # the composition root
    "kernel/trace/": {"tracer"},                    # the bridge from kernel words to events
    "host/formats/trace.cpp": {"foreign"},          # opens a file of any known format
    "host/formats/input_kind.cpp": {"foreign"},     # recognises it
    "tracer/kernel_instance.cpp": set(),            # composes the tracer's rooms
}

# Rooms from the bottom to the top: a room includes only itself and rooms that come before it in its list. A room inside
# another one (sched/levels/) has a position of its own. Names are paths; the files directly in a folder are a room.
ORDERED = (
    ("kernel", "kernel/state", "kernel/trace", "kernel/section", "kernel/panic", "kernel/time",
     "kernel/sched/admission", "kernel/sched", "kernel/sched/levels", "kernel/sync", "kernel/task", "kernel/interrupt",
     "kernel/run", "kernel/root"),
    ("tracer/record", "tracer/names", "tracer/compact", "tracer/chunk", "tracer/export", "tracer/reliable", "tracer",
     "tracer/black_box"),
    ("host/text", "host/workers", "host/trace", "host/output", "host/formats/dat", "foreign/kev", "foreign/tlog",
     "host/formats/capture", "host/formats/fat", "host/formats/packed", "host/formats/memory", "host/formats",
     "host/schedule", "host/analyse", "host/analyse/oracle", "host/analyse/why", "host/sql", "host/collector/reliable",
     "host/collector", "host/report", "host/report/live", "host/cli/terminal", "host/cli/event", "host/cli/expect",
     "host/cli/command", "host/cli/command/record", "host/cli/command/judge", "host/cli/command/summary",
     "host/cli/command/show", "host/cli/command/diff", "host/cli/command/why", "host/cli/command/report",
     "host/cli/command/sql", "host/cli", "host/program", "host/observer",
     "convert/writer", "convert", "convert/dissector", "convert/ctf", "convert/json", "convert/kev", "convert/linux",
     "convert/perfetto", "convert/records", "convert/table", "convert/vcd", "foreign/published", "foreign/tools",
     "convert/command", "convert/program", "fleet", "fleet/local", "fleet/clickhouse", "fleet/network",
     "fleet/questions", "fleet/report", "fleet/command", "fleet/program", "python"),
)

# Headers of a room whose path is published.
PUBLISHED = {"tracer/log.hpp": "tracer/record"}

# Rooms of one kind: none of them includes another one, but for what is named here. Containers yield the chunks in them.
CONTAINERS = ("host/formats/capture", "host/formats/fat", "host/formats/packed", "host/formats/memory")
APART = {
    "host/formats/": {"host/formats/dat": CONTAINERS},
    "foreign/": {"foreign/kev": ("foreign/published",), "foreign/tlog": ("foreign/published", "foreign/tools"),
                 "foreign/published": ("foreign/tools",)},
    "convert/": {"convert/writer": None, "convert/dissector": ("convert/command",),
                 "convert/command": ("convert/program",)},
    "host/analyse/": {},
}

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')

# Headers with a logging call; files in SILENT must not include them.
RECORDING = {"tracer/log.hpp", "tracer/ftrace_codes.hpp", "tracer/typed_event.hpp", "tracer/trace_printf.hpp",
             "tracer/record/record_path.hpp", "tracer/ftrace.hpp", "kernel/trace/bridge.hpp",
             "kernel/section/irq_guard.hpp"}
SILENT = ("tracer/export/exporter.", "tracer/export/sink", "tracer/reliable/", "tracer/names/metadata_writer.",
          "tracer/compact",
          "tracer/chunk/compact_chunk.", "drivers/", "kernel/panic/console.")


def allowed_for(name, folder):
    allowed = set(ALLOWED[folder])
    for place, extra in EXCEPTIONS.items():
        if name == place or (place.endswith("/") and name.startswith(place)):
            allowed |= extra
    return allowed


def faults():
    headers = set(files(".hpp", ".h"))
    parts = headers | set(files(".S"))  # assembler may be written in parts
    for name in files(".hpp", ".cpp", ".h", ".S"):
        folder = name.split("/")[0]
        if folder not in ALLOWED:
            continue
        allowed = allowed_for(name, folder)
        known = parts if name.endswith(".S") else headers
        for number, line in enumerate(lines(name), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match.group(1)
            if target not in known:
                yield f'{name}:{number}: "{target}" is not a path from the root'
            elif target.split("/")[0] not in allowed and target not in allowed:
                yield f'{name}:{number}: {folder} must not include "{target}"'


def upward():
    """Includes from a room to one that comes after it."""
    places = {room: (order, order.index(room)) for order in ORDERED for room in order}
    folders = {order[0].split("/")[0] for order in ORDERED} | {"foreign", "convert", "fleet", "python"}
    for name in files(".hpp", ".cpp"):
        room = name.rpartition("/")[0]
        if name.split("/")[0] not in folders:
            continue
        if room not in places:
            yield f"{name}: its room has no place in ORDERED"
            continue
        order, place = places[room]
        for target in included(name):
            other = PUBLISHED.get(target, target.rpartition("/")[0])
            if other == room or places.get(other, (None, 0))[0] is not order or name in EXCEPTIONS:
                continue
            if places[other][1] > place:
                yield f'{name}: {room} comes before {other}: "{target}" points up'
            for kind, exceptions in APART.items():
                allowed = exceptions.get(other, ())
                if room.startswith(kind) and other.startswith(kind) and allowed is not None and room not in allowed:
                    yield f'{name}: rooms of {kind} do not include each other: "{target}"'


def included(name):
    return [match.group(1) for match in map(INCLUDE.match, lines(name)) if match]


def way_to_recording(name, headers):
    """The includes from a file to one with a logging call; None if there is no path."""
    ways = {name: [name]}
    todo = [name]
    while todo:
        file = todo.pop()
        for target in included(file):
            if target in RECORDING:
                return ways[file] + [target]
            if target in headers and target not in ways:
                ways[target] = ways[file] + [target]
                todo.append(target)
    return None


def loud():
    headers = set(files(".hpp", ".h"))
    silent = [name for name in files(".hpp", ".cpp") if name.startswith(SILENT)]
    for part in SILENT:
        if not any(name.startswith(part) for name in silent):
            yield f"{part}* does not exist: remove it from SILENT, or correct its path"
    for name in sorted(RECORDING - headers):
        yield f"{name} does not exist: remove it from RECORDING, or correct its path"
    for name in silent:
        if way := way_to_recording(name, headers):
            yield f'{name}: exports the trace and must not be able to record: {" -> ".join(way)}'


found = [*faults(), *upward(), *loud()]
print("\n".join(found))
sys.exit(1 if found else 0)
