#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes production code in one place at a time and reports what no test notices (docs/verification.md):

    tests/mutate/run.py AREA [--count N] [--seed S] [--stages unit,...] [--jobs 2] [--sanitized] [--again]
    tests/mutate/run.py sample ...          three files of an area that the commit picks
    tests/mutate/run.py all ...             all areas of SAMPLED, which share N

The judgements are in build/mutate/AREA-SEED.jsonl; those found there are not repeated, but for the survivors with
--again. The project's sources are not touched: each worker has a copy, build/mutate/tree*."""
import argparse
import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from mutate import builds, campaign, guest, host, processes, units  # noqa: E402
from mutate.areas import AREAS, SAMPLED  # noqa: E402


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("area", choices=(*AREAS, "sample", "all"))
    parser.add_argument("--count", type=int, default=300, metavar="N")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--stages", default="", help="only these: unit,...")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sanitized", action="store_true", help="unit programs with sanitizers, as in CI")
    parser.add_argument("--again", action="store_true", help="judge the survivors again")
    return parser.parse_args()


def built(notice):
    """A stage for which the mutant is built."""
    def judged(tree, site):
        with tree.mutant(site.mutation):
            return notice(tree, site.mutation)
    return judged


def stages_of(name, area, sites, tests, chosen, trees):
    """[(name, what notices a mutant)] in rising order of cost, and what says whether a stage executes a site."""
    stages, executing = {"unit": tests.notice}, [tests.executes]
    if set(chosen) - {"unit"}:
        builds.make(f"-j{os.cpu_count()}", "all", guest.ACCOUNTS, guest.TEST_KERNEL)
        for tree in trees:
            tree.link()
    if set(area.stages) & {"guest"} and set(chosen) - {"unit"}:
        plan = builds.Plan(guest.PROGRAMS)
        guests = guest.Guest(plan, area.sources())
        guests.check_clean(trees[0])
        stages |= {"guest": built(guests.notice), "golden": built(guests.notice_golden)}
        executing.append(guests.executes)
        if "integration" in chosen:
            stages["integration"] = built(guest.Integration(plan, area, trees).notice)
    elif set(chosen) - {"unit"}:
        hosts = host.Host(name, area, sites, trees, [stage for stage in chosen if stage != "unit"])
        stages |= {stage: hosts.stage(stage) for stage in hosts.steps}
        executing.append(hosts.executes)
    return [(stage, stages[stage]) for stage in chosen if stage in stages], executing


def campaign_of(name, options, trees):
    area = AREAS[name]
    chosen = [stage for stage in area.stages if not options.stages or stage in options.stages.split(",")]
    other = set(filter(None, options.stages.split(","))) - set(area.stages)
    if other:
        raise SystemExit(f"error: {name} has no stage {', '.join(sorted(other))}; its stages: {', '.join(area.stages)}")
    sites = campaign.all_sites(area.sample(options.seed) if options.area == "sample" else area.sources())
    if not sites:
        raise SystemExit(f"error: {name} has no place for a mutant: tests/mutate/areas.py names its files")
    if any(site.mutation.switch for site in sites):
        tests = units.SwitchedUnits(name, area, sites, options.jobs, options.sanitized)
        print(f"{len(tests.switched.left_out)} of {len(sites)} do not compile", flush=True)
    elif sites[0].mutation.file.endswith(".js"):
        tests = units.ScriptUnits(area, trees)
    else:
        tests = units.BuiltUnits(area, trees)
    stages, executing = stages_of(name, area, sites, tests, chosen, trees)
    drawn = campaign.draw(sites, options.count, options.seed,
                          lambda site: any(executes(site) for executes in executing))
    if len(drawn) < options.count:
        print(f"fewer than {options.count}: {len(drawn)}", flush=True)
    results = campaign.Campaign(name, options.seed, trees, stages).run(drawn, options.again)
    print(campaign.summary(name, results), flush=True)


def main():
    options = parsed()
    names = [options.area]
    if options.area == "sample":
        options.seed = builds.head_commit()
        names = [SAMPLED[int(options.seed, 16) % len(SAMPLED)]]
    elif options.area == "all":
        names = list(SAMPLED)
        options.count = -(-options.count // len(names))
    lock = builds.locked()  # noqa: F841  held until the end
    trees = [builds.Tree(number) for number in range(options.jobs)]
    for name in names:
        campaign_of(name, options, trees)
    return 0


def stop(*_):
    processes.stop()
    raise KeyboardInterrupt


for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, stop)
try:
    os.chdir(builds.ROOT)
    sys.exit(main())
except (KeyboardInterrupt, processes.Stopped):
    sys.exit("stopped; the same command continues")
