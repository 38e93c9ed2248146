# SPDX-License-Identifier: MIT
"""What a case is: a function with the decorator @case. It gets a Context and fails by raising (Failure, or any error);
its docstring says what must hold."""
import collections
import dataclasses


class Failure(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Failure(message)


def expect_equal(found, expected, what):
    expect(found == expected, f"{what}: {found!r}, expected {expected!r}")


@dataclasses.dataclass
class Case:
    name: str
    function: object
    timeout_s: int = 60
    alone: bool = False


CASES = []


def case(function=None, *, timeout_s=120, alone=False):
    """Registers a case under its function's name; a viewer case as <file>_<function>. alone: no other case runs beside
    it, because it must keep pace with the host's clock."""
    def register(body):
        package, _, module = body.__module__.rpartition(".")
        prefix = f"{module}_" if package == "viewers" else ""
        CASES.append(Case(prefix + body.__name__, body, timeout_s, alone))
        return body
    return register(function) if function else register


def counts(events, key="event"):
    """How many events of each name."""
    return collections.Counter(event[key] for event in events)


def sample(items, number=50):
    """So many of them, evenly spread, first and last among them."""
    if len(items) <= number:
        return list(items)
    return [items[i * (len(items) - 1) // (number - 1)] for i in range(number)]
