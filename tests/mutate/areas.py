# SPDX-License-Identifier: MIT
"""The areas of a campaign: which files are changed, which unit programs are theirs, and which suites follow, in rising
order of cost."""
import dataclasses
import fnmatch
import hashlib
import subprocess

from mutate.builds import ROOT

GUEST = ("unit", "guest", "golden")
HOST = ("unit", "traces", "viewers")


@dataclasses.dataclass(frozen=True)
class Area:
    files: tuple  # shell patterns, of which * matches folders as well
    own: tuple  # patterns of unit programs; of scripts the folder of their tests
    stages: tuple
    without: tuple = ()
    viewers: tuple = ()  # patterns of viewer cases
    integration: tuple = ()  # files of tests/integration

    def sources(self):
        """Its files, in order."""
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, text=True, capture_output=True).stdout
        return [name for name in listed.splitlines() if name.endswith((".hpp", ".cpp", ".S", ".js"))
                and matches(name, self.files) and not matches(name, self.without) and (ROOT / name).is_file()]

    def sample(self, seed):
        """Some of its files, so few that all their mutants are compiled within a minute. No header: many include it."""
        names = [name for name in self.sources() if name.endswith((".cpp", ".js"))]
        return sorted(names, key=lambda name: hashlib.sha256(f"{seed}|{name}".encode()).digest())[:SAMPLE_FILES]


def matches(name, patterns):
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


SAMPLE_FILES = 3
# The areas of `sample` and `all`. Those of the tracer are not: their tests single-step the record path; nor are
# formats, whose many programs take longer than two minutes to link and run.
SAMPLED = ("sched", "sync", "task", "drivers", "schedule", "convert", "analyse", "sql", "collector", "page")
EXPORT = ("tracer/export/exporter.*", "tracer/export/sink*", "tracer/reliable/*", "tracer/written_count.hpp",
          "tracer/names/metadata*")
AREAS = {
    "tracer": Area(("tracer/*pp",), ("tracer", "tracer-*"), GUEST, EXPORT),
    "export": Area(EXPORT, ("tracer", "tracer-reliable"), (*GUEST, "integration"), integration=(
        "exports", "protocols", "bad_network")),
    "sched": Area(("kernel/sched/*pp",), ("kernel-sched*", "kernel-sync", "kernel-task"), GUEST),
    "sync": Area(("kernel/sync/*pp",), ("kernel-sync",), GUEST),
    "task": Area(("kernel/task/*pp", "kernel/time/*pp"), ("kernel-task", "kernel-time", "kernel-sched*", "kernel-sync"),
                 GUEST),
    "run": Area(("kernel/run/*pp", "kernel/panic/*pp", "kernel/section/*pp", "kernel/state/*pp", "kernel/trace/*pp"),
                ("kernel-run", "kernel-panic", "kernel-section", "kernel-state", "kernel-trace", "kernel-task",
                 "kernel-sched*"), GUEST),
    "root": Area(("kernel/root/*pp", "kernel/interrupt/*pp"), (), ("guest", "golden", "integration"), integration=(
        "boots", "exports", "faults", "protocols", "streaming", "watchdog", "survivor", "black_box")),
    "port": Area(("port/*pp",), (), ("integration",), integration=("port",)),
    "drivers": Area(("drivers/*pp",), ("drivers*",), ("unit", "guest")),
    "arch": Area(("arch/*pp",), ("arch*",), GUEST, ("arch/uefi/*",)),
    "record_path": Area(("tracer/*record_path.S",), ("tracer", "tracer-*"), GUEST),
    "formats": Area(("host/formats/*pp",), ("host-formats*",), HOST, viewers=(
        "capture_*", "dat_*", "foreign_*", "kev_*", "tlog_*", "dissector_*")),
    "schedule": Area(("host/trace/*pp", "host/schedule/*pp"), ("host-schedule", "host-trace"), HOST, viewers=(
        "csv_format_*", "ctf_*", "perfetto_*", "report_rows_*", "report_commands_*", "vcd_*")),
    "convert": Area(("convert/*pp",), ("convert*",), HOST, viewers=(
        "chrome_json_*", "clock_*", "csv_format_*", "ctf*", "dat_*", "ftrace_*", "job_traces_*", "kev_*", "lttng_*",
        "outputs_*", "perfetto_*", "speedscope_*", "sqlite_*", "tlog_*", "vcd_*")),
    "analyse": Area(("host/analyse/*pp",), ("host-analyse*",), HOST, viewers=(
        "diff_*", "junit_*", "report_commands_*")),
    "sql": Area(("host/sql/*pp",), ("host-sql",), HOST, viewers=("sqlite_*", "report_commands_*")),
    "text": Area(("host/text/*pp", "host/workers/*pp", "host/output/*pp", "host/observer/*pp", "lib/*pp"),
                 ("host-text", "host-workers", "host-observer", "host-trace", "convert", "lib"), HOST, viewers=(
                     "csv_format_*", "report_commands_*")),
    "cli": Area(("host/cli/*pp",), ("host-cli*",), HOST, viewers=("diff_*", "junit_*", "report_commands_*")),
    "report": Area(("host/report/*pp",), ("host-report*",), HOST, viewers=("report_*",)),
    "foreign": Area(("foreign/*pp",), ("foreign*", "host-formats"), HOST, ("foreign/tools/*",), viewers=(
        "foreign_*", "kev_*", "tlog_*")),
    "fleet": Area(("fleet/*pp",), ("fleet*",), ("unit",)),
    "python": Area(("python/*pp",), (), ("viewers",), viewers=("python_*",)),
    "collector": Area(("host/collector/*pp",), ("host-collector*",), ("unit", "integration"), integration=(
        "collector", "protocols", "bad_network")),
    "page": Area(("host/report/page/*.js",), ("tests/unit/host/report/page",), ("unit",)),
}
