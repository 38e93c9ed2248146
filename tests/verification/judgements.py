# SPDX-License-Identifier: MIT
"""What the campaigns under build/mutate found, counted for each area by the first suite that noticed a mutant."""
import collections
import re

from mutate import campaign, equivalents

# A column for each group of stages, in the order in which they run: no earlier one noticed the mutant.
NOTICED = {"unit": ("static_assert", "unit"), "guest": ("guest", "golden"), "oracle": ("traces",),
           "viewers": ("viewers", "integration")}
GROUP = {stage: name for name, stages in NOTICED.items() for stage in stages}
ORACLE = re.compile("random_sets_.*remora check")  # a guest case whose every decision it judges
NOT_RUN = "-"
SEED = re.compile(r"\d{1,9}")  # a sample's is a commit, and only the area's own unit programs judge it


def latest(folder, area, root):
    """The last judgement of each mutant of an area, of all seeds. Left out: mutants of lines that no longer exist."""
    found, sources = {}, {}
    paths = [path for path in folder.glob(f"{area}-*.jsonl") if SEED.fullmatch(path.stem.removeprefix(f"{area}-"))]
    for path in sorted(paths, key=lambda path: (path.stat().st_mtime, path.name)):
        found |= {result["key"]: result for result in campaign.judgements(path)}
    for name in {result["file"] for result in found.values()}:
        sources[name] = (root / name).read_text(encoding="utf-8") if (root / name).is_file() else ""
    return [result for result in found.values() if equivalents.has_line(sources[result["file"]], result["before"])]


def group(result):
    return "oracle" if ORACLE.match(result["by"]) else GROUP[result["stage"]]


class Counts:
    """Of the mutants that were judged: those that compile and end."""

    def __init__(self, results, reason=equivalents.reason):
        judged = [result for result in results if result["verdict"] in ("killed", "survived")]
        self.by = collections.Counter(group(result) for result in judged if result["verdict"] == "killed")
        self.survivors = [result for result in judged if result["verdict"] == "survived"]
        self.unexplained = [result for result in self.survivors if not reason(
            *(result[name] for name in ("file", "operator", "before", "after")))]
        self.judged = len(judged)
        # Judgements without the field are of a time when unit programs alone judged.
        met = {stage for result in judged for stage in [*result.get("stages", ["unit"]), result["stage"]] if stage}
        self.met = {GROUP[stage] for stage in met} | ({"oracle"} if "guest" in met else set())

    def cells(self):
        """judged, killed in percent, by each group, survived, of them equivalent."""
        equivalent = len(self.survivors) - len(self.unexplained)
        killed = rate(sum(self.by.values()), self.judged - equivalent)
        by = [self.by[name] if name in self.met else NOT_RUN for name in NOTICED]
        return [self.judged, killed, *by, len(self.survivors), equivalent]


def rate(part, whole, nothing="none"):
    return f"{100 * part / whole:.1f} %" if whole else nothing
