#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A mutant that is switched on is the same program as the changed source: each mutant of tests/mutate/sample.cpp, built
in both ways, prints the same."""
import concurrent.futures
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from mutate import operators, switched  # noqa: E402

SAMPLE = "tests/mutate/sample.cpp"
HEADER = "tests/mutate/switch.hpp"
DRIVER = """
#include <cstdio>
#include <cstdlib>
unsigned mutant_chosen = std::getenv("MUTANT") ? std::atoi(std::getenv("MUTANT")) : 0;
static unsigned char s_executed[256];
unsigned char* mutants_executed = s_executed;
int main() {
    const std::uint32_t values[] = {3, 0, 7, 2000};
    for (std::uint32_t a = 0; a < 4; ++a) {
        std::printf("%u %d %d %u", mutate::distance(a, 5), mutate::is_early({a}, {2}),
                    mutate::Ticks{a} < mutate::Ticks{1}, mutate::sum_until(values + a, 4 - a, false));
        std::printf(" %u %u\\n", mutate::sum_until(values, a, true), mutate::sum_until(values, 0, a % 2 == 0));
    }
    std::fprintf(stderr, "%d", s_executed[mutant_chosen]);
}
"""
CPU_S = 1
EXCEPTIONS = 3  # two that do not compile, and the label of a case


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))


def printed(program, mutant=0):
    """What it prints, and if it executes the mutant; an end by a signal prints that."""
    done = subprocess.run([program], env={**os.environ, "MUTANT": str(mutant)}, text=True, capture_output=True,
                          preexec_fn=limited, check=False)
    return (done.stdout, done.stderr == "1") if done.returncode == 0 else (f"ends by {done.returncode}", True)


def compiled(folder, name, text):
    source = pathlib.Path(folder, f"{name}.cpp")
    source.write_bytes(text + DRIVER.encode())
    done = subprocess.run(["clang++", "-std=c++20", "-w", "-iquote", ".", "-include", HEADER, str(source),
                           "lib/assert_hosted.cpp", "-o", f"{folder}/{name}"], capture_output=True, check=False)
    return f"{folder}/{name}" if done.returncode == 0 else None


def main():
    text = pathlib.Path(SAMPLE).read_bytes()
    mutations = operators.mutations_of(SAMPLE)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        built = list(pool.map(lambda number: compiled(folder, f"m{number}", mutations[number].applied(text)),
                              range(len(mutations))))
        # What does not compile cannot be switched.
        numbered = [(number, mutations[number - 1]) for number, program in enumerate(built, 1) if program]
        switches = compiled(folder, "switched", switched.rendered(text, numbered)[0])
        clean = compiled(folder, "clean", text)
        if not switches or not clean:
            print("the sample does not compile")
            return 1
        expected = {number: printed(built[number - 1])[0] for number, _ in numbered}
        expected[0] = printed(clean)[0]
        found = {number: printed(switches, number) for number in expected}
    executed = [(number, mutation) for number, mutation in numbered if found[number][1]]
    faults = [f"{SAMPLE}:{mutation.line}: {mutation.operator} {mutation.new!r} prints {found[number][0]!r}, built "
              f"alone {expected[number]!r}" for number, mutation in executed if found[number][0] != expected[number]]
    if found[0][0] != expected[0]:
        faults.append("the program without a mutant differs from the clean one")
    if len(executed) < len(mutations) - EXCEPTIONS or len(set(expected.values())) < len(mutations) // 2:
        faults.append(f"of {len(mutations)} mutants of the sample {len(executed)} are switched, "
                      f"{len(set(expected.values()))} print something else")
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
