#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each file of the host tools includes what it uses, itself or through its own project's headers: the compiler sees
the sources of a folder together, so it would not notice. So each also compiles by itself. And each header of the
project includes, or declares, every type of the project that it names: that it compiles alone is tried by
`make check-headers`, which takes minutes."""
import re
import sys

from sources import files, lines

ROOMS = ("host/", "convert/", "foreign/", "fleet/", "python/")
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
    """All headers that the source sees ."""
    if source not in known:
        known[source] = set()
        try:
            direct = {match[1] for match in map(INCLUDE.match, lines(source)) if match}
        except FileNotFoundError:  # not of this project
            direct = set()
        known[source] = direct.union(*(included(header, known) for header in direct))
    return known[source]


WORDS_OF_TYPES = r"\b(?:class|struct|enum class|union|concept|typename|using)\s+(?:\[\[\w+\]\]\s+)?(?:\w+::)*([A-Z]\w+)"
DECLARED = re.compile(r"^(?:template <[^;{]*>\s*)?" + WORDS_OF_TYPES + r"(?=[^;()]*[{=])", re.M)
KNOWN = re.compile(WORDS_OF_TYPES + r"|\b(?!const )\w+ ([A-Z]\w+)[,>]")  # the last: a parameter of a template
TEXT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\\\.|[^\"\\\\\n])*\"", re.S)


def code_of(name):
    return TEXT.sub("", "\n".join(lines(name)))


def undeclared(known):
    """Types that a header names and that only headers declare which it does not include."""
    headers = files(".hpp", ".h")
    codes = {header: code_of(header) for header in headers}
    names = {header: {word for pair in KNOWN.findall(code) for word in pair} for header, code in codes.items()}
    declared = {}
    for header, code in codes.items():
        for word in DECLARED.findall(code):
            declared.setdefault(word, set()).add(header)
    for header, code in codes.items():
        seen = names[header].union(*(names.get(other, set()) for other in included(header, known)))
        for word in sorted(set(re.findall(r"(?<![\w.>])[A-Z][a-z]\w+", code)) - seen):
            # A name of a folder that this one never includes is another thing.
            near = [other for other in declared.get(word, ()) if other.split("/")[0] in (header.split("/")[0], "lib")]
            if near:
                yield f"{header}: names {word}, which {min(near)} declares and it does not include"


def main():
    known, status = {}, 0
    for source in files(".cpp", ".hpp"):
        if not source.startswith(ROOMS):
            continue
        seen = included(source, known)
        for header, use in USES.items():
            if header == source or header in seen or seen & ALSO.get(header, set()):
                continue
            for number, line in enumerate(lines(source), 1):
                if re.search(use, line.split("//")[0]):
                    print(f"{source}:{number}: uses what <{header}> declares and does not include it")
                    status = 1
                    break
    for fault in undeclared(known):
        print(fault)
        status = 1
    return status


sys.exit(main())
