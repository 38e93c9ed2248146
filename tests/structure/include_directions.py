#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dependencies point one way. Each folder lists the folders that it may include; everything else is an error:

    lib <- tracer <- host        lib <- arch <- kernel <- apps        lib <- drivers

The composition root (kernel/root/) is the only place that sees everything, and kernel code reaches
the tracer through kernel/trace_points.hpp alone. Own headers are included in quotes, by their path from the root.

Whoever carries the trace away, down to the serial port, cannot record: it sees no header that offers to, however far
its includes reach. So the trace never grows by being sent.
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
    "kernel/root/": {"drivers", "tracer", "apps"},           # the composition root
    "kernel/trace_points.hpp": {"tracer"},                   # the bridge from kernel words to events
    "kernel/trace_steps.hpp": {"tracer"},                    # ... its part for tasks in single steps
    "kernel/trace_servers.hpp": {"tracer"},                  # ... its part for servers
    "kernel/trace_sync.hpp": {"tracer"},                     # ... its part for mutexes, semaphores, conditions, ports
    "tracer/kernel_instance.cpp": {"arch", "kernel"},        # the tracer as it stands in the kernel
    "arch/x86_64/entry.S": {"tracer/record_path_layout.h"},  # the stubs rewind an interrupted record path
}

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')

# Offer to record an event; whatever lies below SILENT must not reach them.
RECORDING = {"tracer/log.hpp", "tracer/log_published.hpp", "tracer/typed_event.hpp", "tracer/trace_printf.hpp",
             "tracer/record_path.hpp", "tracer/ftrace.hpp", "kernel/trace_points.hpp", "kernel/trace_servers.hpp",
             "kernel/trace_sync.hpp", "kernel/irq_guard.hpp"}
SILENT = ("tracer/exporter.", "tracer/sink", "tracer/metadata_writer.", "tracer/compact", "tracer/chunk_compress.",
          "drivers/", "kernel/console.")


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


def included(name):
    return [match.group(1) for match in map(INCLUDE.match, lines(name)) if match]


def way_to_recording(name, headers):
    """The includes from a file to one that offers to record; None if there is no way."""
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
            yield f"{part}* does not exist: take it out of SILENT, or say where it has gone"
    for name in sorted(RECORDING - headers):
        yield f"{name} does not exist: take it out of RECORDING, or say where it has gone"
    for name in silent:
        if way := way_to_recording(name, headers):
            yield f'{name}: carries the trace away and must not be able to record: {" -> ".join(way)}'


found = [*faults(), *loud()]
print("\n".join(found))
sys.exit(1 if found else 0)
