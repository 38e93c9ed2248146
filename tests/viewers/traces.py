# SPDX-License-Identifier: MIT
"""The traces that the cases convert: a recorded one, and generated ones. The same call makes the same bytes.

control() is a run of the application `control` (support/recorded.py). The others are written here, from
docs/trace-format.md alone."""
import random
import shutil
import struct

from support.recorded import control  # noqa: F401  the cases know it by this name

KHZ = 2_400_000

# Codes of docs/trace-format.md, section 6.
TRACE_START, BLACKOUT_START, BLACKOUT_END, NUMEVENTS, CYCLES_PER_MSEC, ID = 0x20, 0x40, 0x50, 0x70, 0x10, 0x60
IPOINT, TASK_CREATE, TASK_ACTIVATE, TASK_END, TASK_BLOCK, TASK_UNBLOCK = 0x01, 0x02, 0x12, 0x42, 0xD2, 0xE2
INTERRUPT_START, INTERRUPT_END, CONTEXT_SWITCH, USER_EVENT_0 = 0x03, 0x13, 0x15, 0x09
MUTEX_LOCK, MUTEX_UNLOCK, MUTEX_ACQUIRE, MUTEX_BLOCK, TIMER_POST = 0x16, 0x36, 0x86, 0xC6, 0x0B
CHUNK_BEGIN, TASK_NAME, INTERRUPT_NAME, MUTEX_NAME, LEVEL_NAME, DECLARATION = 0x0C, 0x1C, 0x3C, 0x4C, 0x7C, 0xBC
TASK_PARAMETERS, TYPED, FORMATTED, BUILD, FORMAT_TEXT = 0x2C, 0x1E, 0x2E, 0x8C, 0xEC
JOB_RELEASE, SERVER_BUDGET, TASK_END_CYCLE, PANIC = 0x0D, 0x78, 0x62, 0x0E


def record(code, stamp, par1=0, par2=0):
    return struct.pack("<HHIII", code, par1, stamp >> 32, stamp & 0xFFFFFFFF, par2)


def machine_start(stamp):
    """What a trace begins with that lacks nothing: else no release before its first record is known."""
    return record(TRACE_START, stamp, 0, KHZ)


def long_event(code, stamp, fields):
    """A long event of as many slots as it needs; fields: its payload after the length."""
    payload = struct.pack("<H", len(fields) + 2) + fields
    payload += bytes(-len(payload) % 6)
    slots = len(payload) // 6
    flags = [0] if slots == 1 else [0x1000] + [0x2000] * (slots - 2) + [0x3000]
    pieces = [struct.unpack_from("<HI", payload, 6 * i) for i in range(slots)]
    return b"".join(record(code | flag, stamp, *piece) for flag, piece in zip(flags, pieces))


def name(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<B", len(data)) + data


def typed(stamp, number, fields):
    return long_event(TYPED, stamp, struct.pack("<H", number) + fields)


def chunk(records, *, cpu=0, number=0, tasks=None, vectors=None, mutexes=None, levels=None, declarations=(), dropped=0,
          overwritten=0, khz=KHZ, boot_id=0x5EED, begin=None, announced=None, formats=None, image=0):
    """A described chunk: preamble and records (bytes, whole slots). tasks and the like: {number: name}.
    declarations: (id, name, [(type, detail, field name, unit)]). formats: {number: text}; image: build id, if not 0."""
    stamp = begin if begin is not None else first_stamp(records)
    named = []
    for context, text in (tasks or {}).items():
        named += [(ID, context), (TASK_NAME, struct.pack("<H", context) + name(text)),
                  (TASK_PARAMETERS, struct.pack("<HHQQQQQ", context, 0, 0, 0, 0, 0, 0))]
    for code, table in ((INTERRUPT_NAME, vectors), (MUTEX_NAME, mutexes), (LEVEL_NAME, levels)):
        named += [(code, struct.pack("<H", key) + name(text)) for key, text in (table or {}).items()]
    for number_, text, fields in declarations:
        body = struct.pack("<H", number_) + name(text) + struct.pack("<B", len(fields))
        body += b"".join(struct.pack("<BB", kind, detail) + name(field) + name(unit)
                         for kind, detail, field, unit in fields)
        named.append((DECLARATION, body))
    named += [(FORMAT_TEXT, struct.pack("<I", key) + text.encode()) for key, text in (formats or {}).items()]
    if image:
        named.append((BUILD, name("kernel") + name("g++") + name("app") + struct.pack("<QQ", 1, image)))

    count = len(records) // 16 if announced is None else announced
    middle, longs = [record(CYCLES_PER_MSEC, stamp, 0, khz)], 1
    for code, payload in named:
        if code == ID:
            middle.append(record(ID, stamp, payload, payload + 100))
        else:
            middle.append(long_event(code, stamp + longs, payload))
            longs += 1
    middle.append(record(NUMEVENTS, stamp, 0, count))

    def described(slots):
        fields = struct.pack("<HHHBBIIIIBBIQQQQ", 1, number, cpu, 0x04, 2, 0, slots, count, khz, 3, 0, 40, dropped, 0,
                             overwritten, boot_id)
        return long_event(CHUNK_BEGIN, stamp, fields)
    slots = (len(described(0)) + sum(map(len, middle))) // 16
    return described(slots) + b"".join(middle) + records


def first_stamp(records):
    if len(records) < 16:
        return 1_000_000
    high, low = struct.unpack_from("<II", records, 4)
    return high << 32 | low


def store(ctx, file, data):
    path = ctx.dir / file
    path.write_bytes(data)
    return path


def session(ctx, *chunks, directory="session"):
    """A session directory of these chunks, which may be of several processors."""
    path = ctx.dir / directory
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for number, data in enumerate(chunks):
        (path / f"{number}trace.dat").write_bytes(data)
    ctx.remora("adopt", path)
    return path


TASKS = {0: "main", 1: "idle", 2: "fast", 3: "slow", 4: "load"}
VECTORS = {240: "timer", 33: "keyboard"}


def synthetic(ctx, number, *, described=True, cpu=0, seed=1):
    """About `number` records of one processor, scheduling like a small system: interrupts that release tasks, switches
    between five tasks, blocking, mutexes, user events."""
    chance = random.Random(seed)
    out = bytearray()
    stamp, running, blocked = 10_000_000_000, 1, set()
    count = 0

    def put(code, par1=0, par2=0):
        nonlocal stamp, count
        stamp += chance.randrange(40, 4000)
        count += 1
        out.extend(record(code, stamp, par1, par2))

    while count < number:
        kind = chance.randrange(10)
        if kind < 4:
            vector = 240 if kind < 3 else 33
            put(INTERRUPT_START, vector)
            if blocked:
                woken = chance.choice(sorted(blocked))
                blocked.discard(woken)
                put(TASK_UNBLOCK, woken, 1 << 16 | 7)
            put(INTERRUPT_END, vector)
        elif kind < 8:
            ready = [task for task in TASKS if task not in blocked and task != running]
            if running != 1 and chance.randrange(2) and len(blocked) < 3:
                put(TASK_BLOCK, running, 1 << 16 | 7)
                blocked.add(running)
            running = chance.choice(ready)
            put(CONTEXT_SWITCH, running)
        elif kind == 8:
            put(MUTEX_LOCK, running, 5)
            put(MUTEX_ACQUIRE, running, 5)
            put(MUTEX_UNLOCK, running, 5)
        else:
            put(USER_EVENT_0 | chance.randrange(15) << 4, chance.randrange(1 << 16), chance.randrange(1 << 32))
    data = bytes(out)
    if described:
        data = chunk(data, cpu=cpu, tasks=TASKS, vectors=VECTORS, mutexes={5: "bus"}, levels={0: "EDF"})
    return store(ctx, f"synthetic{number}_{cpu}_{seed}.dat", data)


LOST = (7, 3)  # in the two gaps of lossy()


def lossy(ctx):
    """Two gaps in an otherwise quiet trace: 7 records lost after the tenth, 3 after the thirtieth."""
    gaps = {10: LOST[0], 30: LOST[1]}
    out, stamp, total = b"", 5_000_000_000, 0
    for i in range(50):
        stamp += 2400
        out += record(USER_EVENT_0, stamp, i, i)
        if i in gaps:
            total += gaps[i]
            out += record(BLACKOUT_START, stamp + 100)
            out += record(BLACKOUT_END, stamp + 2000, 0, gaps[i])
            stamp += 2000
    return store(ctx, "lossy.dat", chunk(out, tasks=TASKS, dropped=total))


def two_processors(ctx, number, seed=0):
    """A session of two processors with about `number` records each."""
    return session(ctx, *(synthetic(ctx, number, cpu=cpu, seed=cpu + seed).read_bytes() for cpu in (0, 1)))


def migrating(ctx):
    """Two processors for 40 periods of 100 us. Of each period `nomad` runs 20 us on 0, then 30 us on 1, `settled` runs
    40 us on 0, idle has the rest. Processor 1 loses 9 records."""
    us = KHZ // 1000
    records = {0: b"", 1: b""}

    def put(cpu, at, code, par1=0, par2=0):
        records[cpu] += record(code, 1_000_000 + at * us, par1, par2)

    for period in range(40):
        at = 100 * period
        put(0, at, JOB_RELEASE, 2, 1_000_000 + at * us)
        put(0, at + 1, CONTEXT_SWITCH, 2)
        put(0, at + 21, CONTEXT_SWITCH, 3)
        put(1, at + 21, CONTEXT_SWITCH, 2)
        put(1, at + 51, TASK_END_CYCLE, 2)
        put(1, at + 51, CONTEXT_SWITCH, 11)
        put(0, at + 61, CONTEXT_SWITCH, 10)
        if period == 20:
            put(1, at + 60, BLACKOUT_START)
            put(1, at + 90, BLACKOUT_END, 0, 9)
    names = {2: "nomad", 3: "settled", 10: "idle", 11: "idle"}
    return session(ctx, *(chunk(data, cpu=cpu, tasks=names, dropped=9 * cpu) for cpu, data in records.items()),
                   directory="migrating")


def far(ctx):
    """48 hours between two events."""
    day = 86_400 * KHZ * 1000
    records = b"".join(record(USER_EVENT_0, stamp, 1, 2) for stamp in (1000, 2 * day, 2 * day + 1))
    return store(ctx, "far.dat", chunk(records))
