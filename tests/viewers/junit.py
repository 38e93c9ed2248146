# SPDX-License-Identifier: MIT
"""`remora check --junit` and `remora verify --junit`, read by Python's XML parser and by xmllint."""
import collections
import json
import struct
import xml.etree.ElementTree as ElementTree

from viewers import traces
from support.cases import case, expect, expect_equal

OUTCOMES = ("skipped", "failure", "error")
HOSTILE = b']]>&<a b="\'\x01\x1b[2J\xff\x7f\xc2\x85'


def judged(ctx, command, trace, *options, codes=(0,)):
    """{(class, name): (outcome, message, text)} of the report, whose totals are compared with its cases."""
    file = ctx.dir / f"{command}.xml"
    file.unlink(missing_ok=True)
    ctx.remora(command, trace, "--junit", file, *options, codes=codes)
    return cases_of(ctx, file)


def cases_of(ctx, file):
    ctx.run("xmllint", "--noout", file)
    root = ElementTree.parse(file).getroot()
    expect_equal((root.tag, [suite.tag for suite in root]), ("testsuites", ["testsuite"]), "elements")
    suite = root[0]
    found = {}
    for item in suite.findall("testcase"):
        children = [child.tag for child in item]
        expect(len(children) <= 1 and set(children) <= set(OUTCOMES), f"{children} in a case")
        key = (item.get("classname"), item.get("name"))
        expect(key not in found, f"{key} is there twice")
        found[key] = (children[0], item[0].get("message"), item[0].text or "") if children else ("passed", "", "")
    counts = collections.Counter(outcome for outcome, _, _ in found.values())
    for element, names in ((root, OUTCOMES[1:]), (suite, OUTCOMES)):
        expect_equal(element.get("tests"), str(len(found)), "tests")
        for outcome in names:
            attribute = outcome if outcome == "skipped" else f"{outcome}s"
            expect_equal(element.get(attribute), str(counts[outcome]), attribute)
    return found


def outcome_of(found, name):
    return next(value for (_, key), value in found.items() if key == name)


def spoilt(ctx):
    """The recorded run, whose chunk has no checksum, with one deadline a microsecond late."""
    image = bytearray((traces.control() / "0trace.dat").read_bytes())
    code = next(row["code"] for row in json.loads(ctx.remora("events", "--json").stdout)["events"]
                if row["name"] == "job_deadline")
    at = next(at for at in range(0, len(image), 16) if struct.unpack_from("<H", image, at)[0] == code)
    struct.pack_into("<I", image, at + 12, (struct.unpack_from("<I", image, at + 12)[0] + 1000) & 0xFFFFFFFF)
    return traces.store(ctx, "spoilt.dat", image)


@case
def rules_are_cases(ctx):
    """One for each rule of `remora check` and of `remora verify`; what nothing is known about is skipped."""
    listed = json.loads(ctx.remora("check", "--rules", "--json").stdout)["rules"]
    rules = {row["rule"]: row["subject"] for row in listed}
    found = judged(ctx, "check", traces.control())
    expect_equal(set(found), {(f"check.{subject}", rule) for rule, subject in rules.items()}
                 | {("check.trace", case) for case in ("complete", "readable", "run")}, "cases of check")
    expect_equal(found["check.dispatches", "edf-order"], ("passed", "", ""), "edf-order")
    expect_equal(found["check.inheritances", "srp-start"],
                 ("skipped", "the trace has nothing that the rule is about", ""), "srp-start")
    found = judged(ctx, "verify", traces.control(), codes=(0, 6))
    rules = json.loads(ctx.remora("verify", traces.control(), "--json", codes=(0, 6)).stdout)["rules"]
    expect_equal(set(found), {("verify.structure", rule) for rule in rules}
                 | {("verify.trace", "readable"), ("verify.trace", "run")}, "cases of verify")
    expect_equal(outcome_of(found, "lock-pairs"), ("passed", "", ""), "lock-pairs")


@case
def violation_fails_its_rule(ctx):
    """Exit status 2, and the case of the rule says where."""
    found = judged(ctx, "check", spoilt(ctx), codes=(2,))
    outcome, message, text = outcome_of(found, "edf-deadline")
    expect_equal((outcome, message), ("failure", "1 violation"), "edf-deadline")
    expect("spoilt.dat record" in text and "job_deadline" in text, text)
    expect_equal([name for (_, name), value in found.items() if value[0] in ("failure", "error")], ["edf-deadline"],
                 "faults")
    shown = ctx.remora("check", ctx.dir / "spoilt.dat", "--junit", "-", codes=(2,)).stdout
    expect_equal(shown, (ctx.dir / "check.xml").read_text(), "standard output")


@case
def hostile_names_stay_text(ctx):
    """Names of tasks, files and expectations: markup is text, and what XML forbids is written in hexadecimal."""
    stamps = iter(range(1000, 2000))
    records = traces.record(traces.TRACE_START, next(stamps))
    for _ in range(12):
        for code, context in ((traces.MUTEX_LOCK, 2), (traces.MUTEX_ACQUIRE, 2), (traces.MUTEX_UNLOCK, 3),
                              (traces.MUTEX_UNLOCK, 2)):
            records += traces.record(code, next(stamps), context, 5)
    trace = traces.store(ctx, "a]]>&\"\x01.dat", traces.chunk(records, tasks={2: "owner", 3: HOSTILE}))
    found = judged(ctx, "verify", trace, codes=(2,))
    outcome, message, text = outcome_of(found, "lock-pairs")
    expect_equal((outcome, message), ("failure", "12 violations"), "lock-pairs")
    lines = text.splitlines()
    expect_equal((len(lines), lines[-1]), (11, "and 2 more"), "lines")
    expect(']]>&<a b="\'\\x01\\x1b[2J\\xff\\x7f\\xc2\\x85' in lines[0], lines[0])
    expect('a]]>&"\\x01.dat' in lines[0], lines[0])
    suite = ElementTree.parse(ctx.dir / "verify.xml").getroot()[0]
    expect(suite.find("properties/property[@name='trace']").get("value").endswith('a]]>&"\\x01.dat'), "trace")
    expected = ctx.dir / "hostile.expect"
    expected.write_bytes(b'missed "' + HOSTILE.replace(b'"', b"") + b'" 0\n')
    found = judged(ctx, "check", trace, "--expect", expected, codes=(2,))
    (name, value), = [(name, value) for (group, name), value in found.items() if group == "check.expectations"]
    expect(name.startswith('missed "]]>&<a b=\'\\x01') and value[0] == "failure", f"{name}: {value}")


@case
def expectations_are_cases(ctx):
    """What holds passes; what does not fails with what was found; a statement that SQLite refuses is an error."""
    file = ctx.dir / "course.expect"
    file.write_text("missed control 0\nworst sensor response <= 2.4ms\njobs senor 61\nno loss\nno violation\n"
                    "decided dispatches >= 1000\nsql \"select oops\" = 1\nsql \"select 1 where 0\" = 1\n"
                    "sql \"select 1, 2\" = 1\nmean sensor response < 1ms\nshare idle > 33%\nran idle 100784204\n"
                    "holds state telemetry 6\nwaits state control 6\nworst state hold <= 5ms\nworst late blocking 0\n"
                    "best sensor response = 243473\npreempted telemetry >= 1\naborted late 0\nevents panic = 0\n"
                    "no violation of edf-order\nno violation of srp-start\n")
    found = {name: value for (group, name), value in
             judged(ctx, "check", traces.control(), "--expect", file, codes=(2,)).items()
             if group == "check.expectations"}
    wrong = {name: value[:2] for name, value in found.items() if value[0] != "passed"}
    expect_equal(wrong, {
        "worst sensor response <= 2.4ms": ("failure", "found 2.410458ms"),
        "jobs senor 61": ("failure", "found the trace has no task senor; did you mean sensor?"),
        'sql "select oops" = 1': ("error", "found no such column: oops"),
        'sql "select 1 where 0" = 1': ("failure", "found nothing"),
        'sql "select 1, 2" = 1': ("error", "found 2 values, not one"),
        "no violation of srp-start": ("failure", "found nothing was decided, 0 undecided")}, "what does not hold")
    expect_equal(len(found), 22, "expectations")


@case
def expectations_are_named(ctx):
    """On standard output and as JSON; errors of the file with their place, and nothing is checked."""
    file = ctx.dir / "one.expect"
    file.write_text("jobs sensor 61\n\nmissed late = 0\n")
    done = ctx.remora("check", traces.control(), "--expect", file, codes=(2,))
    expect(f"{file}:3: expected missed late = 0; found 1\n1 of 2 expectations hold\n" in done.stdout, done.stdout)
    json_of = json.loads(ctx.remora("check", traces.control(), "--expect", file, "--json", codes=(2,)).stdout)
    expect_equal(json_of["expectations"][1], {"line": 3, "expected": "missed late = 0", "holds": False, "found": "1"},
                 "JSON")
    file.write_text("jobs sensor 61\n")
    expect("1 of 1 expectations hold" in ctx.remora("check", traces.control(), "--expect", file).stdout, "one")
    file.write_text("jobs sensor 61\nmised late 0\n")
    done = ctx.remora("check", traces.control(), "--expect", file, codes=(1,))
    expect(f"{file}:2:1: mised is none of" in done.stderr and "did you mean missed?" in done.stderr, done.stderr)
    expect_equal(done.stdout, "", "nothing is checked")
    for name in ("absent.expect", "."):
        done = ctx.remora("check", traces.control(), "--expect", ctx.dir / name, codes=(1,))
        expect("is empty or cannot be read" in done.stderr, done.stderr)
    done = ctx.remora("check", "-", "--expect", file, codes=(1,))
    expect("reads TRACE twice" in done.stderr, done.stderr)
    done = ctx.remora("check", traces.control(), "--json", "--junit", "-", codes=(1,))
    expect("name a file" in done.stderr, done.stderr)


@case
def invalid_expectations_are_errors(ctx):
    """An SQL statement that is none: status 1, with its line. One without an end: status 5. A file that cannot be used
    replaces the report of the run before."""
    file = ctx.dir / "invalid.expect"
    file.write_text("# first\njobs sensor 61\nsql \"selec 1\" = 1\n")
    found = judged(ctx, "check", traces.control(), "--expect", file, codes=(1,))
    expect_equal(outcome_of(found, 'sql "selec 1" = 1')[0], "error", "no SQL")
    shown = ctx.remora("check", traces.control(), "--expect", file, codes=(1,)).stdout
    expect(f"{file}:3: expected sql \"selec 1\" = 1; found near \"selec\": syntax error\n" in shown, shown)
    file.write_text("sql \"with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n\" = 1\n"
                    "jobs sensor 61\njobs sensor 61\n")
    found = judged(ctx, "check", traces.control(), "--expect", file, "--timeout", "0.2", codes=(5,))
    expect_equal(sorted(value[:2] for (group, _), value in found.items() if group == "check.expectations"),
                 [("error", "found no answer within 0.2 s (--timeout)"), ("passed", ""), ("passed", "")], "no end")
    for text in ("jobs sensor 6 1\n", "", "mised late 0\n"):
        file.write_text(text)
        ctx.remora("check", traces.control(), "--expect", file, "--junit", ctx.dir / "check.xml", codes=(1,))
        found = cases_of(ctx, ctx.dir / "check.xml")
        expect_equal({key: value[0] for key, value in found.items()}, {("check.expectations", "valid"): "error"},
                     "cases of a file that cannot be used")
        expect(f"{file}" in outcome_of(found, "valid")[2], f"{found}")


@case
def damage_is_an_error(ctx):
    """Of the case `readable`, with the diagnostics; also if the trace cannot be opened."""
    data = (traces.control() / "0trace.dat").read_bytes()
    cut = traces.store(ctx, "cut.dat", data[:len(data) // 2])
    for command in ("check", "verify"):
        found = judged(ctx, command, cut, codes=(2,))
        outcome, message, text = outcome_of(found, "readable")
        expect(outcome == "error" and message.startswith("damage or loss") and "cut.dat:0x" in text, f"{found}")
        found = judged(ctx, command, ctx.dir / "absent.dat", codes=(1,))
        expect_equal(set(found), {(f"{command}.trace", "readable")}, "cases without a trace")
        expect(outcome_of(found, "readable")[0] == "error", f"{found}")
    done = ctx.remora("check", traces.control(), "--junit", ctx.dir / "no/such/folder.xml", codes=(1,))
    expect("remora check: --junit" in done.stderr, done.stderr)
