#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each source of the host tools includes what it uses, itself or through its own project's headers: also what
host/precompiled.hpp names, which the compiler sees in every source unless ccache is used. So both builds compile."""
import re
import sys

from sources import files, lines

PRECOMPILED = "host/precompiled.hpp"
# Header -> what it is there for.
USES = {
    "algorithm": r"std::(ranges::)?(sort|stable_sort|find_if|find|any_of|all_of|none_of|min_element|max_element|copy"
                 r"|lower_bound|upper_bound|equal_range|min|max|clamp|count_if|reverse|remove_if|replace|fill_n)\b",
    "array": r"std::array<", "charconv": r"std::(from|to)_chars\b", "functional": r"std::(function|hash|invoke|ref)\b",
    "map": r"std::(multi)?map<", "memory": r"std::(unique_ptr|make_unique|shared_ptr|make_shared|weak_ptr)\b",
    "optional": r"std::(optional|nullopt)\b", "span": r"std::(span|as_bytes|as_writable_bytes)\b",
    "string": r"std::(string|to_string|getline)\b", "string_view": r"std::string_view\b",
    "unordered_map": r"std::unordered_map<", "vector": r"std::vector<", "host/text/format.hpp": r"\bfmt::",
}
# These declare it as well.
ALSO = {"string_view": {"string"}, "string": {"sstream", "filesystem"}, "functional": {"string_view", "string"},
        "span": {"ranges"}, "optional": {"ranges", "map", "unordered_map"}}
INCLUDE = re.compile(r'\s*#\s*include\s+["<]([^">]+)[">]')


def included(source, known):
    """All headers that the source sees without the precompiled one."""
    if source not in known:
        known[source] = set()
        try:
            direct = {match[1] for match in map(INCLUDE.match, lines(source)) if match}
        except FileNotFoundError:  # not of this project
            direct = set()
        known[source] = direct.union(*(included(header, known) for header in direct))
    return known[source]


def main():
    known, status = {}, 0
    named = {match[1] for match in map(INCLUDE.match, lines(PRECOMPILED)) if match}
    for header in sorted(named ^ USES.keys()):
        print(f"{PRECOMPILED}: {header} is only in one of it and the table of this test")
        status = 1
    for source in files(".cpp"):
        if not source.startswith("host/"):
            continue
        seen = included(source, known)
        for header, use in USES.items():
            if header in seen or seen & ALSO.get(header, set()):
                continue
            for number, line in enumerate(lines(source), 1):
                if re.search(use, line.split("//")[0]):
                    print(f"{source}:{number}: uses what <{header}> declares and does not include it")
                    status = 1
                    break
    return status


sys.exit(main())
