# SPDX-License-Identifier: MIT
"""A campaign: mutants of an area drawn by a seed, each judged, each judgement a line of a file, so that a campaign that
was stopped continues where it ended."""
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import pathlib
import pickle
import re
import threading
import time

from mutate import assembler, equivalents, operators, processes, scripts
from mutate.builds import BUILD, ROOT, Unbuilt

LINE_CHARS = 160
FINDERS = {".S": assembler, ".js": scripts}  # what finds the mutations of a file by its suffix, else operators


@dataclasses.dataclass(frozen=True)
class Site:
    """A mutation, and what identifies it however far its line moves."""
    mutation: operators.Mutation
    key: str
    before: str
    after: str


def sites_of(name):
    """Of one file, kept until it changes."""
    text = (ROOT / name).read_bytes()
    tool = b"".join(open(module.__file__, "rb").read() for module in (operators, assembler, scripts))
    kept = ROOT / BUILD / "mutate" / "sites" / hashlib.sha256(name.encode() + text + tool).hexdigest()
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    seen, sites = collections.Counter(), []
    for mutation in FINDERS.get(pathlib.Path(name).suffix, operators).mutations_of(name):
        begin = text.rfind(b"\n", 0, mutation.begin) + 1
        end = text.find(b"\n", mutation.end)
        before = shown(text[begin:end])
        after = shown(mutation.applied(text)[begin:end + len(mutation.new) - mutation.end + mutation.begin])
        words = f"{name}|{mutation.operator}|{before}|{after}"
        seen[words] += 1
        key = hashlib.sha256(f"{words}|{seen[words]}".encode()).hexdigest()[:16]
        sites.append(Site(mutation, key, before, after))
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(pickle.dumps(sites))
    return sites


def shown(text):
    line = " ".join(text.decode().split())
    return line if len(line) <= LINE_CHARS else line[:LINE_CHARS] + " ..."


def all_sites(sources):
    """Of these files, in order."""
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        return [site for found in pool.map(sites_of, sources) for site in found]


def draw(sites, number, seed, is_executed):
    """So many of the sites that some test executes. Another line, or another test, moves no other site in the order."""
    executed = [site for site in sites if is_executed(site)]
    print(f"{len(sites)} possible mutants, {len(executed)} of them executed by tests", flush=True)
    return sorted(executed, key=lambda site: hashlib.sha256(f"{seed}|{site.key}".encode()).digest())[:number]


def judgements(path):
    """The lines of a file of them, without one that was cut off with the machine."""
    found = []
    for line in filter(None, path.read_text(encoding="utf-8").splitlines()):
        try:
            found.append(json.loads(line))
        except ValueError:
            print(f"{path.name}: not a judgement: {line[:60]}", flush=True)
    return found


class Campaign:
    """stages: [(name, function(tree, site) -> what noticed the mutant, or None)]. A judgement names those that the
    mutant met: a survivor meets others later."""

    def __init__(self, area, seed, trees, stages):
        self.area, self.trees, self.stages = area, trees, stages
        self.path = ROOT / BUILD / "mutate" / f"{area}-{seed}.jsonl"
        self.results = {}
        if self.path.exists():
            self.results = {result["key"]: result for result in judgements(self.path)}
            with open(self.path, "a", encoding="utf-8") as file:
                file.write("\n")  # after a line that was cut off
        self._lock = threading.Lock()

    def judge(self, tree, site):
        tree.empty()
        begin, stage, by = time.monotonic(), "", None
        try:
            for stage, notice in self.stages:
                by = notice(tree, site)
                if by:
                    break
            verdict = "killed" if by else "survived"
        except Unbuilt as error:
            by = first_error(str(error))
            asserted = re.search(r"static_assert|static assertion", by)
            verdict, stage = ("killed", "static_assert") if asserted else ("uncompiled", stage)
        except Endless as error:
            verdict, by = "endless", str(error)
        place = site.mutation
        met = [name for name, _ in self.stages]
        met = met[:met.index(stage) + 1] if by and stage in met else met
        return {"key": site.key, "verdict": verdict, "stages": met, "file": place.file, "line": place.line,
                "operator": place.operator, "before": site.before, "after": site.after, "stage": stage if by else "",
                "by": by or "", "seconds": round(time.monotonic() - begin, 1)}

    def run(self, sites, again=False):
        """again: those that no test has killed are judged again; without it the survivors that a stage has not seen."""
        names = {name for name, _ in self.stages}
        waiting = []
        for site in sites:
            before = self.results.get(site.key, {"verdict": "new"})
            unseen = before["verdict"] == "survived" and names - set(before.get("stages", ()))
            if before["verdict"] == "new" or unseen or again and before["verdict"] != "killed":
                waiting.append(site)
        if len(waiting) < len(sites):
            print(f"{len(sites) - len(waiting)} of them are judged already: {self.path.relative_to(ROOT)}", flush=True)
        queue = collections.deque(waiting)
        processes.parallel(len(self.trees), lambda tree: self.work(tree, queue), self.trees)
        return [self.results[site.key] for site in sites if site.key in self.results]

    def work(self, tree, queue):
        while True:
            try:
                site = queue.popleft()
                result = self.judge(tree, site)
            except (IndexError, processes.Stopped):
                return
            except BaseException:
                queue.clear()  # the others end as well
                raise
            with self._lock:
                self.results[site.key] = result
                with open(self.path, "a", encoding="utf-8") as file:
                    file.write(json.dumps(result) + "\n")
                print("{verdict:10} {file}:{line} {operator} ({stage} {by}, {seconds} s)".format(**result), flush=True)


class Endless(Exception):
    """The mutant does not end within the limit of a step."""


def first_error(text):
    return next((line for line in text.splitlines() if "error" in line), text[-200:]).strip()


def summary(name, results):
    """The last lines of a campaign: the survivors that no reason explains, and the counts. The rate is without those
    that one does."""
    counts = collections.Counter(result["verdict"] for result in results)
    survived = [result for result in results if result["verdict"] == "survived"]
    survivors = sorted((result for result in survived if not equivalents.reason(
        *(result[name] for name in ("file", "operator", "before", "after")))),
                       key=lambda result: (result["file"], result["line"]))
    lines = [f"{result['file']}:{result['line']}: {result['operator']}\n  - {result['before']}\n  + {result['after']}"
             for result in survivors]
    judged = counts["killed"] + len(survivors)
    stages = collections.Counter(result["stage"] for result in results if result["verdict"] == "killed")
    rate = f"{100 * counts['killed'] / judged:.1f} % killed" if judged else "none judged"
    return "\n".join([*lines, f"{name}: {len(results)} mutants: {counts['killed']} killed ("
                      f"{', '.join(f'{stage} {number}' for stage, number in stages.items())}), {len(survivors)} "
                      f"survived, {len(survived) - len(survivors)} are equivalent, {counts['uncompiled']} do not "
                      f"compile, {counts['endless']} do not end: {rate}, "
                      f"{sum(result['seconds'] for result in results):.0f} s of work"])


def failed_test(output):
    """The name of the test in the output of a GoogleTest program: the one that failed, or else that was running."""
    failed = re.findall(r"^\[  FAILED  \] (\w\S*\.[^\s,]+)", output, re.M)
    begun = re.findall(r"^\[ RUN      \] (\S+)", output, re.M)
    return failed[0] if failed else begun[-1] if begun else "no test"
