# SPDX-License-Identifier: MIT
"""A kernel image as shown by objdump: instructions by address, symbols, initialised memory. And a small interpreter of
straight code with jumps, for the entry stubs: sufficient to determine the effect of a stub on its frame."""
import bisect
import dataclasses
import re
import struct
import subprocess

WORD = (1 << 64) - 1
REGISTERS = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
             "r15")
SIZES = {"QWORD": 64, "DWORD": 32, "WORD": 16, "BYTE": 8}


def _names():
    """Every name of a general register: {name: (the 64-bit register, bits)}."""
    names = {}
    for register in REGISTERS:
        if register[1:].isdigit():
            parts = (register, register + "d", register + "w", register + "b")
        elif register[1:] in ("ax", "bx", "cx", "dx"):
            parts = (register, "e" + register[1:], register[1:], register[1] + "l")
        else:
            parts = (register, "e" + register[1:], register[1:], register[1:] + "l")
        names.update({name: (register, bits) for name, bits in zip(parts, (64, 32, 16, 8))})
    return names


REGISTER_NAMES = _names()


class Fault(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Instruction:
    address: int
    size: int
    mnemonic: str
    operands: tuple

    @property
    def next(self):
        return self.address + self.size

    def __str__(self):
        return f"{self.address:x}: {self.mnemonic} {','.join(self.operands)}".rstrip()

    @property
    def is_jump(self):
        return self.mnemonic.startswith("j")

    @property
    def target(self):
        """Of a direct jump or call; None if it is indirect."""
        return int(self.operands[0].split()[0], 16) if re.match(r"[0-9a-f]+( |$)", self.operands[0]) else None


@dataclasses.dataclass(frozen=True)
class Memory:
    """[segment:base + index * scale + displacement]; size in bits, 0 if the instruction does not state it."""
    segment: str
    base: str
    index: str
    displacement: int
    size: int


def memory_operand(text):
    """None if the operand is a register or a number."""
    match = re.match(r"(?:(\w+) PTR )?(?:(\w\w):)?(?:\[([^\]]*)\]|(0x[0-9a-f]+))$", text)
    if not match or (match.group(4) and not match.group(2)):
        return None
    size, segment, inside, absolute = match.groups()
    base = index = ""
    displacement = int(absolute, 16) if absolute else 0
    for sign, term in re.findall(r"([+-]?)([^+-]+)", inside or ""):
        if re.fullmatch(r"0x[0-9a-f]+", term):
            displacement += -int(term, 16) if sign == "-" else int(term, 16)
        elif "*" in term:
            index = term.split("*")[0]
        else:
            base = term
    return Memory(segment or "", base, index, displacement, SIZES.get(size, 0))


class Image:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self._bytes = file.read()
        self.instructions = self._disassemble()
        self.addresses = sorted(self.instructions)
        self.symbols, self._functions = self._read_symbols()

    def _disassemble(self):
        text = subprocess.run(["objdump", "-d", "-M", "intel", "-w", self.path], capture_output=True, text=True,
                              check=True).stdout
        found = {}
        for line in text.splitlines():
            match = re.match(r" +([0-9a-f]+):\t([0-9a-f ]+)\t(.*)", line)
            if not match:
                continue
            words = re.sub(r"\s+#.*|\s*<[^>]*>", "", match.group(3)).strip()
            mnemonic, _, rest = words.partition(" ")
            if mnemonic in ("rep", "repz", "repnz", "lock", "data16", "cs", "bnd", "notrack"):
                mnemonic, rest = words, ""  # a prefix changes the instruction
            address = int(match.group(1), 16)
            operands = tuple(part.strip() for part in rest.split(",")) if rest.strip() else ()
            found[address] = Instruction(address, len(match.group(2).split()), mnemonic, operands)
        return found

    def _read_symbols(self):
        text = subprocess.run(["nm", "-C", self.path], capture_output=True, text=True, check=True).stdout
        symbols = {}
        functions = []
        for line in text.splitlines():
            match = re.match(r"([0-9a-f]+) (\w) (.*)", line)
            if match:
                symbols.setdefault(match.group(3), int(match.group(1), 16))
                if match.group(2) in "tTwW":
                    functions.append((int(match.group(1), 16), match.group(3)))
        return symbols, sorted(functions)

    def symbol(self, name):
        if name not in self.symbols:
            raise Fault(f"{self.path}: no symbol {name}")
        return self.symbols[name]

    def function_at(self, address):
        at = bisect.bisect_right(self._functions, (address, "\x7f")) - 1
        return self._functions[at][1] if at >= 0 else "?"

    def between(self, begin, end):
        """The instructions in [begin, end), which must follow one another without a gap."""
        found = []
        while begin < end:
            if begin not in self.instructions:
                raise Fault(f"{begin:x}: no instruction begins here")
            found.append(self.instructions[begin])
            begin = found[-1].next
        return found

    def words(self, address, count):
        """64-bit words of initialised memory."""
        (table,) = struct.unpack_from("<Q", self._bytes, 32)
        size, number = struct.unpack_from("<HH", self._bytes, 54)
        for i in range(number):
            kind, _, offset, start, _, bytes_in_file = struct.unpack_from("<IIQQQQ", self._bytes, table + i * size)
            if kind == 1 and start <= address and address + 8 * count <= start + bytes_in_file:
                return struct.unpack_from(f"<{count}Q", self._bytes, offset + address - start)
        raise Fault(f"{address:x}: not in the file")


class Machine:
    """Registers, flags of the last comparison, and a stack of 64-bit words. An unknown instruction is a fault: if the
    stubs change, the interpreter must be extended."""
    STEPS_MAX = 200

    def __init__(self, instructions, stack_top, stack):
        self._instructions = instructions
        self.registers = {name: 0xDEAD_0000 + i for i, name in enumerate(REGISTERS)}
        self.registers["rsp"] = stack_top
        self.memory = dict(stack)
        self._compared = None

    def run_to_call(self, address):
        """Executes until a call; returns the instructions executed, the call included."""
        trail = []
        while len(trail) < self.STEPS_MAX:
            if address not in self._instructions:
                raise Fault(f"{address:x}: reaches no instruction")
            instruction = self._instructions[address]
            trail.append(instruction)
            if instruction.mnemonic == "call":
                return trail
            address = self._execute(instruction)
        raise Fault("no call within reach")

    def _execute(self, instruction):
        name = instruction.mnemonic
        operands = instruction.operands
        if instruction.is_jump:
            return instruction.target if self._taken(instruction) else instruction.next
        if name == "push":
            self.registers["rsp"] -= 8
            self.memory[self.registers["rsp"]] = self._read(operands[0])
        elif name in ("mov", "movabs"):
            self._write(instruction, operands[0], self._read(operands[1]))
        elif name == "lea":
            self._write(instruction, operands[0], self._address(instruction, memory_operand(operands[1])))
        elif name == "cmp":
            self._compared = (self._read(operands[0]), self._read(operands[1]))
        elif name.startswith("cmov"):
            if self._taken(instruction):
                self._write(instruction, operands[0], self._read(operands[1]))
        elif name in ("xor", "sub") and operands[0] == operands[1]:
            self._write(instruction, operands[0], 0)
            self._compared = None
        elif name in ("cld", "nop"):
            pass
        else:
            raise Fault(f"{instruction}: an instruction that the check does not support")
        return instruction.next

    def _taken(self, instruction):
        condition = instruction.mnemonic.removeprefix("j").removeprefix("cmov")
        if condition == "mp":
            if instruction.target is None:
                raise Fault(f"{instruction}: an indirect jump")
            return True
        if self._compared is None:
            raise Fault(f"{instruction}: depends on flags that no comparison set")
        a, b = self._compared
        outcomes = {"b": a < b, "ae": a >= b, "a": a > b, "be": a <= b, "e": a == b, "ne": a != b}
        if condition not in outcomes:
            raise Fault(f"{instruction}: not an unsigned comparison")
        return outcomes[condition]

    def _address(self, instruction, memory):
        if memory.segment or memory.index or memory.base not in REGISTERS + ("rip",):
            raise Fault(f"{instruction}: an address that the check does not support")
        base = instruction.next if memory.base == "rip" else self.registers[memory.base]
        return base + memory.displacement & WORD

    def _read(self, operand):
        memory = memory_operand(operand)
        if memory is not None:
            address = self._address(None, memory) if memory.base != "rip" else -1
            if memory.size != 64 and memory.size != 0 or address not in self.memory:
                raise Fault(f"reads {operand}: not a word of the frame")
            return self.memory[address]
        if operand in REGISTER_NAMES:
            register, bits = REGISTER_NAMES[operand]
            return self.registers[register] & ((1 << bits) - 1)
        return int(operand, 16) & WORD

    def _write(self, instruction, operand, value):
        memory = memory_operand(operand)
        if memory is not None:
            address = self._address(instruction, memory)
            if memory.size not in (0, 64) or address not in self.memory:
                raise Fault(f"{instruction}: writes something else than a word of the frame")
            self.memory[address] = value & WORD
            return
        register, bits = REGISTER_NAMES.get(operand, ("", 0))
        if bits not in (32, 64):
            raise Fault(f"{instruction}: a destination that the check does not support")
        self.registers[register] = value & ((1 << bits) - 1)
