#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The restart rule, checked on the disassembly of the kernel image: every one of the 256 interrupt gates rewinds an
interrupted record before it calls anything, and the record path can be rewound: it calls nothing, does not jump
elsewhere, cannot fault, and ends with the one store that counts, at each of its two exits.

    tests/structure/entry_check.py [--table]      KERNEL=file; prints nothing on success, --table prints the details

Each gate is executed by an interpreter (machine_code.py) for the relevant saved RIPs. At the end the check tests
itself: it must reject each of a number of damaged images."""
import os
import re
import sys

from machine_code import Fault, Image, Instruction, Machine, REGISTER_NAMES, memory_operand

GATES = 256
PUSHES_ERROR_CODE = {8, 10, 11, 12, 13, 14, 17, 21}  # SDM volume 3 table 6-1
DETAILED_GATES = {1, 2, 14, 32}                      # tested with every address of the record path
STACK_TOP = 0x7FF000                                 # 16-byte aligned, as the processor aligns it
FRAME_BYTES_AT_CALL = 176                            # 15 registers, vector, error code, five words of the processor

# --- allowed contents of the record path -----------------------------------------------------------------------------
ARITHMETIC = {"mov", "movabs", "movzx", "add", "sub", "inc", "dec", "and", "or", "xor", "not", "neg", "shl", "shr",
              "sar", "cmp", "test", "bt", "bts", "btr", "lea"}
# Registers that the call may destroy: the clobbers in log.hpp.
CLOBBERED = {"rax", "rcx", "rdx", "r8", "r9", "r10", "r11"}
# Bases of memory operands: chunks, areas and tables of the tracer, slots of a long event. Never the stack.
BASES = {"rax", "rdx", "r8", "r9", "r10", "r11"}
BASES_READ_ONLY = {"rip", "rsi"}
COMPARISONS = {"cmp", "test", "bt"}  # read their first operand
REAL_MODE = "arch_real_mode_switch"
ALLOWS_NMI = "arch::x86_64::allow_nmi()"  # returns to itself
# The test kernel plays an interrupt or an interrupted task in these functions.
OF_THE_TESTS = {"soak_records", "guest::record_in_steps", "guest_step_stub"}
CHECKED_FUNCTION = "arch::x86_64::load_interrupt_table()"


class Region:
    """The record path: one restartable region with two entries, two exits, and one restart address."""

    def __init__(self, image):
        self.image = image
        self.begin, self.restart, self.exit, self.end, self.simple, self.long = (
            image.symbol(name) for name in ("tracer_region_begin", "tracer_region_restart", "tracer_region_exit",
                                            "tracer_region_end", "tracer_record", "tracer_record_long"))
        for start in (self.restart, self.simple, self.long):
            if not self.begin <= start < self.end:
                raise Fault(f"{start:x}: an entry of the record path is outside its region")
        self.instructions = image.between(self.begin, self.end)
        self.reached = self._reachable()

    def _reachable(self):
        """The instructions reachable from the entries: the rest is padding."""
        known = {instruction.address: instruction for instruction in self.instructions}
        found = {}
        todo = [self.restart, self.simple, self.long]
        while todo:
            address = todo.pop()
            if address in found or address not in known:
                continue
            instruction = known[address]
            found[address] = instruction
            if instruction.mnemonic not in ("ret", "jmp") and instruction.next != self.exit:
                todo.append(instruction.next)
            if instruction.is_jump and instruction.target is not None:
                todo.append(instruction.target)
        return [found[address] for address in sorted(found)]

    def rewound(self, address):
        """The result of the rule for an interrupted RIP."""
        return self.restart if self.begin <= address < self.end and address != self.exit else address

    def may_destroy(self, instruction):
        """Slots are copied with one more register, only for long events."""
        low, high = sorted((self.simple, self.long))
        among_long = low <= instruction.address < high if self.long < self.simple else instruction.address >= high
        return CLOBBERED | {"r12"} if among_long else CLOBBERED


def region_faults(region):
    if not any(instruction.mnemonic == "rdtsc" for instruction in region.reached):
        yield "no stamp is taken inside the record path"
    for start in (region.simple, region.long):
        first = region.image.instructions[start]
        if "gs:" not in str(first):
            yield f"{first}: the first instruction must determine the processor"
    before = None
    for instruction in region.reached:
        previous = before if before is not None and before.next == instruction.address else None
        for fault in instruction_faults(region, instruction, previous):
            yield f"{instruction}: {fault}"
        before = instruction
    for leave in (region.exit, region.end):
        last = next((i for i in region.reached if i.next == leave), None)
        after = region.image.instructions.get(leave)
        if last is None or not writes_memory(last) or last.mnemonic != "add":
            yield f"{leave:x}: the last instruction before an exit of the region is not a commit"
        if after is None or after.mnemonic != "ret":
            yield f"{leave:x}: the commit is not followed by the return"


def writes_memory(instruction):
    return bool(instruction.operands) and memory_operand(instruction.operands[0]) is not None and \
        instruction.mnemonic not in COMPARISONS


def instruction_faults(region, instruction, previous):
    name = instruction.mnemonic
    operands = instruction.operands
    if name == "ret":
        yield "a return inside the region: a committed record would be logged again"
        return
    if instruction.is_jump:
        yield from jump_faults(region, instruction, previous)
        return
    if name == "rdtsc":
        return
    if name not in ARITHMETIC and not name.startswith("cmov"):
        yield "not an instruction that the record path may use"
        return
    clobbered = region.may_destroy(instruction)
    writes = name not in COMPARISONS
    for place, operand in enumerate(operands):
        memory = memory_operand(operand)
        if memory is not None:
            if name != "lea":
                yield from memory_faults(memory, place == 0 and writes, clobbered)
        elif operand in REGISTER_NAMES:
            register = REGISTER_NAMES[operand][0]
            if place == 0 and writes and register not in clobbered:
                yield f"destroys {register}, which the caller or a restart needs"
            if register in ("rsp", "rbp"):
                yield "accesses the stack"
        elif not re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", operand):
            yield f"operand {operand} is not a general register"


def memory_faults(memory, written, clobbered):
    if memory.segment == "gs":
        if memory.base or memory.index:
            yield "GS with a register: only fields of CpuTrace are allowed"
    elif memory.segment:
        yield f"segment {memory.segment}"
    elif memory.base in BASES_READ_ONLY:
        if written:
            yield f"writes through {memory.base}"
    elif memory.base not in BASES:
        yield f"memory by {memory.base or 'an absolute address'}: not known to be mapped"
    if memory.index and memory.index not in clobbered:
        yield f"index {memory.index}"


def jump_faults(region, instruction, previous):
    target = instruction.target
    if target is None:
        yield "an indirect jump"
        return
    if not any(reached.address == target for reached in region.reached):
        yield "jumps out of the region"
    elif target == region.restart and (instruction.mnemonic != "jmp" or previous is None or
                                       not writes_memory(previous)):
        yield "starts over without a commit just before"


def loops(region):
    """Backward jumps except restarts. The slow path is first in memory: a jump into it from later code is no loop."""
    slow_end = min(region.restart, region.simple, region.long)
    return [i for i in region.reached if i.is_jump and i.target is not None and i.target <= i.address and
            (i.address < slow_end or i.target >= slow_end) and i.target != region.restart and
            not any(j.mnemonic == "jmp" and i.target <= j.address < i.address for j in region.reached)]


# --- the gates --------------------------------------------------------------------------------------------------------


def frame(vector, rip):
    """Stack when the gate is entered: the words pushed by the processor, including an error code if there is one."""
    words = [0x10, 0x123000, 0x202, 0x08, rip] + ([0xE0] if vector in PUSHES_ERROR_CODE else [])
    return STACK_TOP - 8 * len(words), {STACK_TOP - 8 * (i + 1): word for i, word in enumerate(words)}


def gate_fault(instructions, region, vector, target, rip):
    """Empty if the gate treats this frame correctly before it calls anything; the trail lists the instructions."""
    stack_top, stack = frame(vector, rip)
    machine = Machine(instructions, stack_top, stack)
    trail = machine.run_to_call(target)
    wanted = dict(stack)
    wanted[STACK_TOP - 40] = region.rewound(rip)
    for address, word in wanted.items():
        if machine.memory[address] != word:
            return trail, f"RIP {rip:x}: the frame's word at {address - STACK_TOP:+d} becomes " \
                f"{machine.memory[address]:x}, not {word:x}"
    base = machine.registers["rsp"]
    if base != STACK_TOP - FRAME_BYTES_AT_CALL or machine.registers["rdi"] != base:
        return trail, "the frame that is passed on has another size"
    if machine.memory[base + 120] != vector:
        return trail, f"the frame names vector {machine.memory[base + 120]}"
    return trail, ""


def rips_to_try(region):
    """The bounds of the rule, and the addresses of the entries and of the last instruction."""
    edges = {region.begin, region.restart, region.simple, region.long, region.exit, region.end}
    near = {edge + step for edge in edges for step in (-1, 0, 1)} | {region.instructions[-1].address}
    return sorted(near | {0, (1 << 64) - 1})


def gate_faults(image, region, instructions, table):
    edges = rips_to_try(region)
    everywhere = sorted(set(edges) | {instruction.address for instruction in region.reached})
    for vector, target in enumerate(table):
        for rip in everywhere if vector in DETAILED_GATES else edges:
            try:
                _, fault = gate_fault(instructions, region, vector, target, rip)
            except Fault as error:
                fault = str(error)
            if fault:
                yield f"gate {vector} at {target:x}: {fault}"
                break


def table_faults(image, of_the_tests=frozenset()):
    """The gates come from arch_stub_table, and no other function has a table or another entry, except the switch to
    real mode, which loads a table while ours does not fit, and restores ours. The linker omits it if it is not used."""
    allowed = {"lidt": {CHECKED_FUNCTION, REAL_MODE}, "iretq": {"interrupt_common", ALLOWS_NMI},
               "retfq": {"arch_reload_segments", REAL_MODE}}
    forbidden = {"sysret", "sysretq", "sysretl", "sysexit", "sysexitq", "swapgs", "iret", "iretd", "lret", "retf"}
    gates = image.symbol("arch::x86_64::(anonymous namespace)::g_table")
    stubs = image.symbol("arch_stub_table")
    seen = set()
    for instruction in image.instructions.values():
        function = image.function_at(instruction.address)
        if any(name in function for name in of_the_tests):
            continue
        mnemonic = instruction.mnemonic
        if mnemonic in forbidden:
            yield f"{instruction} in {function}: returns from an interrupt outside the common stub"
        if mnemonic in allowed:
            seen.add((mnemonic, function))
            if function not in allowed[mnemonic]:
                yield f"{instruction} in {function}: only {' and '.join(sorted(allowed[mnemonic]))} may do this"
        for number in re.findall(r"0x[0-9a-f]+", " ".join(instruction.operands)):
            value = int(number, 16)
            if gates <= value < gates + 16 * GATES and function != CHECKED_FUNCTION:
                yield f"{instruction} in {function}: accesses the interrupt table"
            if stubs <= value < stubs + 8 * GATES and function == CHECKED_FUNCTION:
                seen.add(("the stubs", function))
    expected = {(mnemonic, function) for mnemonic in allowed for function in allowed[mnemonic]
                if function in image.symbols}
    for what, function in (expected | {("the stubs", CHECKED_FUNCTION)}) - seen:
        yield f"{function} has no {what}: the check examines the wrong function"


# --- the check, checked -----------------------------------------------------------------------------------------------


def damaged(image, region, table):
    """Images that must be rejected: {damage: (instructions, table)}."""
    instructions = image.instructions
    trail, _ = gate_fault(instructions, region, 32, table[32], region.restart)
    comparisons = [i for i in trail if i.mnemonic == "cmp"]
    stores = [i for i in trail if i.mnemonic.startswith("mov") and memory_operand(i.operands[0]) is not None]
    call = trail[-1]

    def with_(*changed):
        return {**instructions, **{i.address: i for i in changed}}, table

    def renamed(instruction, mnemonic, *operands):
        return Instruction(instruction.address, instruction.size, mnemonic, operands)

    yield "the rewind is gone", with_(*(renamed(store, "nop") for store in stores))
    yield "the check is jumped over", with_(renamed(trail[2], "jmp", f"{call.address - 5:x}"))
    for comparison in comparisons:
        bound = int(comparison.operands[1], 16) if comparison.operands[1].startswith("0x") else None
        if bound is None:
            continue
        for shift in (-4, 4):
            yield f"a bound is moved by {shift}", with_(renamed(comparison, "cmp", comparison.operands[0],
                                                                f"{bound + shift:#x}"))
    for store in stores:
        yield "another word is rewound", with_(renamed(store, "mov", store.operands[0].replace("[rsp+0x88]",
                                                                                           "[rsp+0x90]"),
                                                       store.operands[1]))
    first = instructions[table[77]]
    yield "one stub calls something first", with_(renamed(first, "call", "100000"))
    yield "one stub enters after the check", with_(renamed(first, "jmp", f"{call.address - 5:x}"))
    swapped = list(table)
    swapped[200] = table[201]
    yield "a gate has another gate's stub", (instructions, swapped)


def self_faults(image, region, table):
    count = 0
    for what, (instructions, gates) in damaged(image, region, table):
        count += 1
        if not any(True for _ in gate_faults(image, region, instructions, gates)):
            yield f"the check does not detect: {what}"
    for mnemonic, operands in (("call", ("100000",)), ("jmp", ("100000",)), ("jmp", ("rax",)), ("push", ("rax",)),
                               ("pop", ("rcx",)), ("int3", ()), ("div", ("rcx",)),
                               ("lock add", ("QWORD PTR [r8]", "0x10")),
                               ("movq", ("xmm0", "rax")), ("mov", ("rdi", "rax")), ("mov", ("rbx", "rax")),
                               ("mov", ("rax", "QWORD PTR [rbp+0x8]")), ("mov", ("rax", "QWORD PTR ds:0x1000")),
                               ("mov", ("QWORD PTR [rsi]", "rax")), ("ret", ()), ("cli", ())):
        count += 1
        victim = region.image.instructions[region.restart]
        replaced = Instruction(victim.address, victim.size, mnemonic, operands)
        if not any(True for _ in instruction_faults(region, replaced, None)):
            yield f"the check does not detect `{mnemonic} {','.join(operands)}` in the record path"
    if count < 20:
        yield "the check tested itself with too few damaged images"


def print_table(image, region, table):
    print(f"image {image.path}")
    print(f"record path [{region.begin:x}, {region.end:x}): {len(region.reached)} instructions, "
          f"{len(loops(region))} loops, "
          f"{sum(1 for i in region.reached if i.mnemonic == 'rdtsc')} stamps")
    forms = {}
    for instruction in region.reached:
        for operand in instruction.operands:
            memory = memory_operand(operand)
            if memory is not None and instruction.mnemonic != "lea":
                key = f"gs:[{memory.displacement:#x}]" if memory.segment else \
                    f"[{memory.base}{' + ' + memory.index if memory.index else ''} + n]"
                forms[key] = forms.get(key, 0) + 1
    print("memory operands: " + ", ".join(f"{form} x{count}" for form, count in sorted(forms.items())))
    mnemonics = {instruction.mnemonic for instruction in region.reached}
    print("instructions: " + " ".join(sorted(mnemonics)))
    print(f"saved RIPs tried: {len(rips_to_try(region))} at each gate, each instruction at gates "
          f"{', '.join(map(str, sorted(DETAILED_GATES)))}")
    print("gate  stub    instructions to the first call  check at   rewinds  first call")
    for vector, target in enumerate(table):
        trail, fault = gate_fault(image.instructions, region, vector, target, region.begin)
        check = next((i.address for i in trail if i.mnemonic == "cmp"), 0)
        print(f"{vector:4}  {target:6x}  {len(trail):30}  {check:8x}   {'no: ' + fault if fault else 'yes'}      "
              f"{image.function_at(trail[-1].target)}")


def main():
    image = Image(os.environ.get("KERNEL", f"{os.environ.get('BUILD', 'build')}/kernel/kernel.elf"))
    try:
        region = Region(image)
        table = list(image.words(image.symbol("arch_stub_table"), GATES))
        found = list(region_faults(region)) + list(gate_faults(image, region, image.instructions, table))
        found += list(table_faults(image))
        found += list(self_faults(image, region, table)) if not found else []
        tests = Image(os.environ.get("TEST_KERNEL", f"{os.environ.get('BUILD', 'build')}/kernel/kernel-test.elf"))
        tests.symbol(REAL_MODE)
        found += [f"{tests.path}: {fault}" for fault in table_faults(tests, OF_THE_TESTS)]
        if "--table" in sys.argv[1:]:
            print_table(image, region, table)
    except Fault as fault:
        found = [str(fault)]
    print("\n".join(found[:20]) if found else "", end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
