# SPDX-License-Identifier: MIT
"""The workflow that docs/ci.md shows runs: its commands, unchanged and in their order, on this tree's build."""
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import yaml
from support.cases import case, expect, expect_equal
from support.context import BUILD, INHERITED, ROOT

DOCUMENT = ROOT / "docs/ci.md"


def workflow():
    blocks = re.findall(r"^```yaml\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.S | re.M)
    expect_equal(len(blocks), 1, "workflows in docs/ci.md")
    return yaml.safe_load(blocks[0])


def tree(ctx):
    """A checkout in which `make` builds this tree's build, and packages are there already."""
    home = ctx.dir / "checkout"
    (home / "bin").mkdir(parents=True)
    (home / "build").symlink_to(ROOT / BUILD)
    shutil.copytree(ROOT / "examples", home / "examples")
    for name, line in (("make", f'exec {shutil.which("make")} -C {ROOT} DEPS=skip OUT={home}/out PORT={ctx.port} "$@"'),
                       ("apt-get", 'echo "apt-get $*"')):
        script = home / "bin" / name
        script.write_text(f"#!/bin/sh\n{line}\n")
        script.chmod(0o755)
    return home


def run_steps(ctx, home):
    """{name: exit status} as the runner has it: after a failure only the steps run that say so."""
    statuses = {}
    job, = workflow()["jobs"].values()
    for step in job["steps"]:
        condition = step.get("if", "success()")
        expect(condition in ("success()", "success() || failure()", "always()"), f"the test knows no `if: {condition}`")
        if "uses" in step or (condition == "success()" and any(statuses.values())):
            continue
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], cwd=home, capture_output=True, text=True,
                              timeout=ctx.left_s(), stdin=subprocess.DEVNULL,
                              env={**INHERITED, "PATH": f"{home}/bin:{os.environ['PATH']}"})
        statuses[step["name"]] = done.returncode
        print(done.stdout[-2000:], done.stderr[-2000:], file=open(home / "log", "a", encoding="utf-8"))
    return statuses


def failures(file):
    suite = ElementTree.parse(file).getroot()[0]
    return [item.get("name") for item in suite.findall("testcase") if item.find("failure") is not None]


@case(timeout_s=240)
def workflow_of_the_document_runs(ctx):
    """Every step succeeds, and leaves what the last one publishes; the document shows the file of expectations."""
    home = tree(ctx)
    statuses = run_steps(ctx, home)
    expect(len(statuses) == 4 and not any(statuses.values()), f"{statuses}: {(home / 'log').read_text()}")
    expect_equal(sorted(path.name for path in home.glob("*.xml")), ["check.xml", "verify.xml"], "reports")
    expect_equal([failures(file) for file in home.glob("*.xml")], [[], []], "failures")
    shown, = re.findall(r"^```expect\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.S | re.M)
    expect_equal(shown, (ROOT / "examples/control.expect").read_text(encoding="utf-8"), "examples/control.expect")


@case(timeout_s=240)
def workflow_fails_if_an_expectation_does_not_hold(ctx):
    """The step and the report name it; the steps after it run all the same."""
    home = tree(ctx)
    file = home / "examples/control.expect"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("missed late 1 ", "missed late 0 "), encoding="utf-8")
    statuses = run_steps(ctx, home)
    expect_equal(statuses.pop("Check the schedule"), 2, "status of the check")
    expect(len(statuses) == 3 and not any(statuses.values()), f"{statuses}: {(home / 'log').read_text()}")
    expect_equal(failures(home / "check.xml"), ["missed late 0"], "failures")
