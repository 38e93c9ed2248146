# SPDX-License-Identifier: MIT
"""Which phases to try next. For each task in turn: first the phases at which the theory expects the worst, then a
coarse grid over the periods, one dimension after the other, then ever finer steps about the worst found so far, and at
last instruction by instruction. The order depends on results and seed alone, never on time: a search can be repeated.
"""
import dataclasses
import random

from sweep.runs import Shifts

GRID = 12         # points over a period, in each dimension
WINDOW = 8        # instructions on both sides of the worst, in each dimension


@dataclasses.dataclass(frozen=True)
class Dimension:
    name: str | None  # of a task; None: periodic timer events
    span: int         # shifts from 0 to here are tried
    first: int        # the first release without shift


def moved(shifts, dimension, ticks):
    """The same shifts but for one dimension."""
    ticks = max(0, ticks)
    if dimension.name is None:
        return Shifts(shifts.tasks, ticks)
    return Shifts.of({**dict(shifts.tasks), dimension.name: ticks}, shifts.events)


def position(shifts, dimension):
    return shifts.events if dimension.name is None else dict(shifts.tasks).get(dimension.name, 0)


class Search:
    """The search for one task. propose() is a generator of lists of shifts; after each list, `best` has the shifts of
    the longest response so far."""

    def __init__(self, dimensions, starts, seed):
        self.dimensions = dimensions
        self.starts = starts
        self.best = starts[0]
        self.exhausted = not dimensions  # a whole round has found nothing worse
        self._random = random.Random(seed)

    def propose(self):
        yield self.starts
        while True:
            before = self.best
            yield from self._coarse()
            yield from self._refine()
            yield from self._instructions()
            self.exhausted = self.best == before
            yield [self._anywhere() for _ in range(GRID)]

    def _anywhere(self):
        shifts = Shifts()
        for dimension in self.dimensions:
            shifts = moved(shifts, dimension, self._random.randrange(dimension.span + 1))
        return shifts

    def _coarse(self):
        for dimension in self.dimensions:
            step = max(1, dimension.span // GRID)
            begin = self._random.randrange(step)
            yield [moved(self.best, dimension, begin + i * step) for i in range(GRID)]

    def _refine(self):
        """Steps halved from that of the grid to one instruction, in each dimension."""
        steps = {dimension: max(1, dimension.span // GRID) // 2 for dimension in self.dimensions}
        while any(steps.values()):
            for dimension, step in steps.items():
                if step:
                    here = position(self.best, dimension)
                    yield [moved(self.best, dimension, here + step), moved(self.best, dimension, here - step)]
            steps = {dimension: step // 4 for dimension, step in steps.items()}

    def _instructions(self):
        for dimension in self.dimensions:
            here = position(self.best, dimension)
            yield [moved(self.best, dimension, here + i) for i in range(-WINDOW, WINDOW + 1) if i]
