# SPDX-License-Identifier: MIT
"""Reads the records of a trace from the 16-byte slots of its chunk files, by docs/trace-format.md alone: none of the
project's readers is used, so that what is calculated from these records shares no mistake with them. Chunks of records
only; a compact trace is first converted (`remora convert --to dat`)."""
import dataclasses
import pathlib
import re
import struct

SLOT = struct.Struct("<HHIII")
BEGIN = struct.Struct("<HHHBBIIIIBBIQQQ")  # chunk_begin, up to `overwritten`
ENCODING = BEGIN.size + 8  # after boot_id
FIRST, LAST = 0x1000, 0x3000
CHUNK_BEGIN, TASK_NAME, TASK_PARAMETERS, LEVEL_NAME = 0x0C, 0x1C, 0x2C, 0x7C
UNLOCK, UNLOCK_AS_PRINTED = 0x36, 0x43
CLOCK_COMPENSATED = 0xBE
LOST = -1  # in place of a code: records are missing from here on


class Unsuitable(Exception):
    """A trace that is not calculated: of several processors, or with a clock that the kernel sets back."""


class Compact(Exception):
    """A trace to be converted first."""


@dataclasses.dataclass
class Parameters:
    level: int
    period_ns: int
    deadline_ns: int


@dataclasses.dataclass
class Trace:
    records: list = dataclasses.field(default_factory=list)  # (stamp, code, par1, par2), in the order of time
    levels: dict = dataclasses.field(default_factory=dict)  # number: name
    names: dict = dataclasses.field(default_factory=dict)  # context: name
    parameters: dict = dataclasses.field(default_factory=dict)  # context: Parameters
    khz: int = 0  # of the clock; 0: not known
    coarse: bool = False  # records may have equal stamps: which share they are in is not defined


def text(payload):
    return payload[1:1 + payload[0]].decode("latin-1")


def joined(slots):
    """The payload of a long event, without its length."""
    payload = b"".join(struct.pack("<HI", par1, par2) for _, par1, _, _, par2 in slots)
    return payload[2:struct.unpack_from("<H", payload)[0]]


def long_events(slots):
    """The long events among these slots: (code, payload)."""
    parts = []
    for slot in slots:
        flag = slot[0] & 0x3000
        parts = [slot] if flag in (0, FIRST) else [*parts, slot]
        if flag in (0, LAST) and parts[0][0] & 0x0F == 0x0C:
            yield parts[0][0] & 0xFF, joined(parts)


def take_names(trace, preamble):
    for code, payload in long_events(preamble):
        if code == LEVEL_NAME:
            trace.levels[struct.unpack_from("<H", payload)[0]] = text(payload[2:])
        elif code == TASK_NAME:
            trace.names[struct.unpack_from("<H", payload)[0]] = text(payload[2:])
        elif code == TASK_PARAMETERS:
            context, level, _, period, deadline = struct.unpack_from("<HHQQQ", payload)
            trace.parameters[context] = Parameters(level, period, deadline)


def take_chunk(trace, data):
    """Adds the records of the first chunk in data, those of its emergency area to be put in their places by the
    caller's sort. Returns what follows it."""
    slots = list(SLOT.iter_unpack(data[:len(data) // SLOT.size * SLOT.size]))
    code, begin = next(long_events(slots), (None, b""))
    if code != CHUNK_BEGIN:
        raise Unsuitable("a chunk without metadata")
    _, _, cpu, _, _, _, preamble, count, khz, *_, overwritten = BEGIN.unpack_from(begin)
    trace.khz = trace.khz or khz
    encoding = begin[ENCODING] if len(begin) > ENCODING else 0
    if cpu != 0 or encoding != 0:
        raise Unsuitable("more than one processor") if cpu else Compact()
    take_names(trace, slots[:preamble])
    found = [(high << 32 | low, UNLOCK if code & 0xFF == UNLOCK_AS_PRINTED else code & 0xFF, par1, par2)
             for code, par1, high, low, par2 in slots[preamble:preamble + count]
             if code != 0 and code & 0x3000 in (0, FIRST)]
    if overwritten and found:
        found.insert(0, (min(found)[0], LOST, 0, 0))
    trace.records += found
    return data[(preamble + count) * SLOT.size:]


def read(directory):
    """The trace of a directory of files Ntrace.dat."""
    trace = Trace()
    files = {int(path.name[:-len("trace.dat")]): path for path in pathlib.Path(directory).iterdir()
             if re.fullmatch(r"\d+trace\.dat", path.name)}
    for number in sorted(files):
        data = files[number].read_bytes()
        while data:
            data = take_chunk(trace, data)
    if any(record[1] == CLOCK_COMPENSATED for record in trace.records):
        raise Unsuitable("a clock that the kernel sets back")
    trace.records.sort(key=lambda record: record[0])  # stable: equal stamps remain in the order of the files
    return trace
