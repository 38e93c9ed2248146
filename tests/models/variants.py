# SPDX-License-Identifier: MIT
# The checks: variants of the model, each a set of options (README.md), and mutants, each with its error and the variant
# that must find it.

CYC, JTN, STOP = 0, 1, 2
START_RECORDING, STOP_RECORDING, FREEZE = 1, 2, 3
SINGLE, TWO, THREE, NEXT_CHUNK = 2, 4, 8, 16  # SIZES_x: which events a level may log
PLAIN, EMERGENCY, MATCH = 1, 2, 4  # KINDS_x: which kinds of single record
SELECT, LINK, DISABLE, ENABLE, NEXT, EXPORT, RELEASE, ARM, DISARM = (1 << i for i in range(9))  # OPS

WATCHED = {"KINDS_TASK": PLAIN | MATCH, "KINDS_IRQ": PLAIN | MATCH, "KINDS_NMI": PLAIN | MATCH}


def levels(task, irq, nmi, control=0, ops=0):
    return {"TASKS": task, "IRQS": irq, "NMIS": nmi, "CONTROLS": control, "OPS": ops}


def chunks(*described, armed=None):
    """(mode, slots, next) each; armed = (action, records after)."""
    options = {"SIZE0": 0, "SIZE1": 0, "SIZE2": 0}
    for number, (mode, slots, following) in enumerate(described):
        options[f"MODE{number}"] = mode
        options[f"SIZE{number}"] = slots
        if following == "free":
            options[f"FREE{number}"] = 1
        elif following is not None:
            options[f"NEXT{number}"] = following
    if armed:
        options |= {"ARMED_AT_FIRST": 1, "ACTION": armed[0], "AFTER": armed[1]} | WATCHED
    return options


LONGER = {"SIZES_TASK": SINGLE | TWO | THREE, "SIZES_IRQ": SINGLE | TWO}
TOO_LONG = {"SIZES_TASK": SINGLE | THREE, "SIZES_IRQ": SINGLE | TWO}
MIXED = {"SIZES_TASK": SINGLE | TWO, "SIZES_IRQ": SINGLE | TWO}

# Exhaustive in seconds; `make test`.
CI = {
    # the record path alone, by mode
    "jtn": chunks((JTN, 3, 1), (JTN, 2, None)) | levels(2, 2, 1) | MIXED,
    "cyc": chunks((CYC, 3, None)) | levels(3, 2, 1) | MIXED,
    "cyc_long": chunks((CYC, 4, None)) | levels(3, 1, 1) | LONGER,
    "cyc_too_long": chunks((CYC, 2, None)) | levels(3, 1, 1) | TOO_LONG,
    "stop": chunks((STOP, 3, 1), (STOP, 2, None)) | levels(3, 2, 1) | MIXED,
    "emergency": chunks((JTN, 1, 1), (JTN, 1, None)) | levels(2, 2, 1)
    | {"EMERGENCY0": 2, "EMERGENCY1": 2, "KINDS_TASK": 3, "KINDS_IRQ": 3, "KINDS_NMI": 3},
    # control operations from a context that interrupts, and is interrupted
    "disable": chunks((JTN, 2, 1), (JTN, 2, None)) | levels(2, 1, 1, 2, DISABLE | ENABLE),
    "disable_cyc": chunks((CYC, 2, None)) | levels(2, 1, 1, 2, DISABLE | ENABLE) | {"SIZES_TASK": SINGLE | THREE},
    "select": chunks((JTN, 2, None), (JTN, 2, "free")) | levels(2, 1, 1, 1, SELECT),
    "select_off": chunks((JTN, 1, None), (JTN, 2, "free")) | levels(2, 1, 1, 3, SELECT | DISABLE | ENABLE),
    "select_off_cyc": chunks((CYC, 2, None), (JTN, 2, "free")) | levels(2, 1, 1, 3, SELECT | DISABLE | ENABLE)
    | {"SIZES_TASK": SINGLE | THREE},
    "select_small": chunks((CYC, 2, None), (JTN, 1, "free"), (JTN, 2, None)) | levels(2, 1, 1, 1, SELECT)
    | {"NEXT1": 2, "SIZES_TASK": SINGLE | THREE},
    "next_chunk": chunks((CYC, 2, 1), (JTN, 2, None)) | levels(2, 1, 1, 1, NEXT)
    | {"SIZES_TASK": SINGLE | TWO | NEXT_CHUNK, "SIZES_IRQ": SINGLE | NEXT_CHUNK},
    "export": chunks((JTN, 1, 1), (JTN, 2, None)) | levels(2, 1, 1, 2, EXPORT | RELEASE),
    "export_cyc": chunks((CYC, 2, 1), (CYC, 2, None)) | levels(2, 1, 1, 2, NEXT | EXPORT) | {"SIZES_TASK": SINGLE},
    "reuse": chunks((JTN, 1, 1), (JTN, 1, None)) | levels(2, 1, 1, 2, RELEASE | LINK),
    # triggers
    "window_stop": chunks((JTN, 2, 1), (JTN, 2, None), armed=(STOP_RECORDING, 1)) | levels(2, 2, 1),
    "window_freeze": chunks((JTN, 3, 1), (JTN, 2, None), armed=(FREEZE, 1)) | levels(2, 2, 1),
    "window_start": chunks((JTN, 3, 1), (JTN, 2, None), armed=(START_RECORDING, 0)) | levels(2, 2, 1),
    "window_cyc": chunks((CYC, 2, None), armed=(STOP_RECORDING, 2)) | levels(2, 2, 1),
    "window_select": chunks((JTN, 2, None), (JTN, 2, "free"), armed=(STOP_RECORDING, 1)) | levels(2, 1, 1, 1, SELECT),
    "window_stale": chunks((JTN, 3, None), (JTN, 1, "free"), armed=(STOP_RECORDING, 2))
    | levels(2, 1, 1, 1, SELECT) | {"NEXT1": 0},
    "arm": chunks((JTN, 1, 1), (JTN, 2, None)) | levels(2, 1, 1, 1, ARM) | WATCHED,
    "disarm": chunks((JTN, 1, 2), (JTN, 2, None), (JTN, 1, 1), armed=(STOP_RECORDING, 1)) | levels(2, 1, 1, 1, DISARM),
    # two processors, two tasks that migrate, an interrupt on each
    "migration": {"MODEL": "migration", "TASKS": 2, "IRQS": 1, "MOVES": 2},
}

# More of everything; `make verify`.
LARGE = {
    "jtn_large": chunks((JTN, 3, 1), (JTN, 2, 2), (JTN, 1, None)) | levels(4, 3, 1)
    | LONGER,
    "cyc_large": chunks((CYC, 4, None)) | levels(4, 3, 1)
    | LONGER,
    "stop_large": chunks((STOP, 4, None)) | levels(4, 3, 2) | MIXED | {"SIZES_NMI": SINGLE | TWO},
    "control_all": chunks((JTN, 2, 1), (JTN, 1, None), (CYC, 2, "free"))
    | levels(2, 1, 1, 2, SELECT | LINK | DISABLE | ENABLE | NEXT | EXPORT | RELEASE),
    "reuse_large": chunks((JTN, 1, 1), (JTN, 1, None)) | levels(3, 1, 1, 4, EXPORT | RELEASE | LINK)
    | {"SIZES_TASK": SINGLE},
    "migration_large": {"MODEL": "migration", "TASKS": 2, "IRQS": 1, "MOVES": 4},
    "trigger_all": chunks((JTN, 2, 1), (JTN, 1, None), (JTN, 2, "free"), armed=(FREEZE, 1))
    | levels(2, 1, 1, 2, SELECT | DISABLE | ENABLE | ARM | DISARM) | {"ARM_ACTION": STOP_RECORDING},
}

# name: (what is broken, variant that finds it). The numbers in mutants.pml follow the order here.
MUTANTS = {
    "NOFIX": ("no entry stub rewinds", "stop"),
    "NMI_NOFIX": ("the NMI's stub does not rewind", "stop"),
    "TS_OUTSIDE": ("rdtsc before the region", "stop"),
    "ACTIVE_OUTSIDE": ("the active chunk is read before the region, and kept", "disable"),
    "EARLY_COMMIT": ("the commit precedes the last store", "stop"),
    "RANGE_SHORT": ("the region ends before the commit", "stop"),
    "RANGE_LATE": ("the region begins after the loads", "disable"),
    "RANGE_LONG": ("the region ends after the commit: an event is recorded or dropped twice", "stop"),
    "NO_LATCH": ("a long event that does not fit leaves the limit as it is", "stop"),
    "OLDEST_VALID": ("the reader shows the scratch slot", "cyc"),
    "NO_SCRIBBLED": ("a long event does not store which older slots it may overwrite", "cyc"),
    "SCRIBBLED_LATE": ("a long event stores that after its stores", "cyc"),
    "HALF_EVENT": ("the reader begins in the middle of an event", "cyc_long"),
    "SLOTS_ALONE": ("each slot of a long event has its own commit", "stop"),
    "LAP_PARITY": ("the bytes written are stored in the figures of the present lap", "cyc"),
    "LAP_END_PARITY": ("the end of the lap is stored in the figures of the present lap", "cyc"),
    "LAP_APART": ("position and lap change by two stores", "cyc"),
    "LAP_DROPS_FLAGS": ("a new lap clears the flags", "window_cyc"),
    "NO_OPEN": ("a loss is counted without opening the blackout", "stop"),
    "OPEN_STAYS": ("the open bit remains after the blackout has ended", "cyc_too_long"),
    "NO_CYCLIC_RESUME": ("a cyclic chunk continues after a loss without blackout_end", "cyc_too_long"),
    "REPORT_EARLY": ("losses count as reported before blackout_end commits", "reuse"),
    "REPORTED_FIRST": ("the reported flag is cleared before its figures are stored", "cyc_too_long"),
    "ENDS_TWICE": ("the number of blackout_end records is increased, not set", "cyc_too_long"),
    "RESUME_APART": ("blackout_end: flags and position by two stores", "cyc_too_long"),
    "NO_MARK": ("a jump after losses does not request blackout_end", "reuse"),
    "MARK_LATE": ("a jump requests blackout_end after the switch", "reuse"),
    "CLOSED_UNSEEN": ("records enter a closed chunk that has space", "next_chunk"),
    "ENTER_CLOSED": ("a jump leads into a closed chunk", "export"),
    "FIRE_APART": ("the trigger's record and armed -> fired by two commits", "window_stop"),
    "STOP_AT_SKIPPED": ("fired without the end of the window", "window_stop"),
    "FREEZE_OPEN": ("a freeze at the end of the window without the closed bit", "window_freeze"),
    "WINDOW_PLUS_ONE": ("the window is one record too long", "window_stop"),
    "TRIGGER_STAYS": ("a jump does not take the trigger along", "window_stop"),
    "START_OPEN": ("start() empties a chunk without closing it first", "reuse"),
    "FREEZE_UNCLOSED": ("freeze() without the closed bit", "export"),
    "NO_SETTLE": ("disable() leaves a reported flag unserved", "select_off_cyc"),
    "SELECT_NO_MARK": ("select() after losses does not request blackout_end", "select_off"),
    "MASK_ONLY": ("disable() clears the mask, but leaves the chunk active", "disable"),
    "STALE_TRIGGER": ("a jump into a chunk keeps the flags of an earlier trigger", "window_stale"),
    "SELECT_APART": ("select() hands over around an exchange, not in one restartable sequence", "select"),
    "UNDO_SILENT": ("a closed bit is cleared again without blackout_end", "export"),
    "DISARM_ONCE": ("disarm() clears chunk by chunk while the trigger is handed on", "disarm"),
    "ARM_ALIVE": ("arm() sets the flag while the trigger can already match", "arm"),
    "GS_OUTSIDE": ("the processor's base is read before the region, and kept", "migration"),
    "MIGRATION_NOFIX": ("a task that is suspended in the region is not rewound", "migration"),
}
