#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dependencies point one way. Each folder lists the folders that it may include; everything else is an error:

    lib <- tracer <- host        lib <- arch <- kernel <- apps        lib <- drivers

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
    "host": {"lib", "tracer", "host"},
}

# File (or folder, with a slash at the end) -> what it may include beyond the rule, and why.
EXCEPTIONS = {
    "kernel/root/": {"drivers", "tracer", "apps"},  # the composition root
    "kernel/trace/": {"tracer"},                    # the bridge from kernel words to events
}

# Rooms from the bottom to the top: a room includes only itself and rooms that come before it in its list. A room inside
# another one (sched/levels/) has a position of its own. "" means the files directly in the folder.
ORDERED = {
    "kernel": ("", "state", "trace", "section", "panic", "time", "sched/admission", "sched", "sched/levels", "sync",
               "task", "interrupt", "run", "root"),
    "host": ("text", "workers", "trace", "formats/dat", "formats/kev", "formats/tlog", "formats/capture", "formats/fat",
             "formats/packed", "formats/memory", "formats", "schedule", "analyse", "analyse/oracle", "analyse/why",
             "sql", "dissector", "collector/reliable", "collector", "convert", "convert/ctf", "convert/json",
             "convert/linux", "convert/perfetto", "convert/records", "convert/table", "convert/vcd", "report",
             "report/live", "fleet", "fleet/local", "fleet/clickhouse", "fleet/network", "fleet/questions",
             "fleet/report", "cli/terminal", "cli/event", "cli/expect", "cli/command", "cli", "compat", "observer",
             "tools", ""),
}

# Rooms of one kind: none of them includes another one, but for what is named here. Containers yield the chunks in them.
APART = {
    "host/formats/": {"formats/dat": ("formats/capture", "formats/fat", "formats/packed", "formats/memory")},
    "host/convert/": {},
    "host/analyse/": {},
}

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')

# Headers with a logging call; files in SILENT must not include them.
RECORDING = {"tracer/log.hpp", "tracer/log_published.hpp", "tracer/typed_event.hpp", "tracer/trace_printf.hpp",
             "tracer/record_path.hpp", "tracer/ftrace.hpp", "kernel/trace/bridge.hpp", "kernel/section/irq_guard.hpp"}
SILENT = ("tracer/exporter.", "tracer/sink", "tracer/reliable/", "tracer/metadata_writer.", "tracer/compact",
          "tracer/chunk_compress.", "drivers/", "kernel/panic/console.")


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


def room_of(name):
    """(folder, room) of a file; the room is None if the folder has no order, or its order does not know it."""
    folder, _, rest = name.partition("/")
    room = rest.rpartition("/")[0]
    return folder, room if room in ORDERED.get(folder, ()) else None


def upward():
    """Includes from a room to one that comes after it."""
    for name in files(".hpp", ".cpp"):
        folder, room = room_of(name)
        if folder not in ORDERED:
            continue
        if room is None:
            yield f"{name}: its room has no place in ORDERED"
            continue
        order = ORDERED[folder]
        for target in included(name):
            other_folder, other = room_of(target)
            if other_folder != folder or other is None or other == room:
                continue
            if order.index(other) > order.index(room):
                yield f'{name}: {folder}/{room or "*"} comes before {folder}/{other}: "{target}" points up'
            for kind, exceptions in APART.items():
                apart = f"{folder}/{room}".startswith(kind) and f"{folder}/{other}".startswith(kind)
                if apart and room not in exceptions.get(other, ()):
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
