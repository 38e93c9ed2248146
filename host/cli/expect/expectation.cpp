// SPDX-License-Identifier: MIT
#include "host/cli/expect/expectation.hpp"

#include "host/analyse/oracle/verdicts.hpp"
#include "host/cli/event/selection.hpp"
#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/nearest.hpp"
#include "tracer/record/event_table.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

namespace host::cli {

namespace {

struct Word {
    std::string text;
    std::size_t column = 0; // from 1
    bool quoted = false;

    // Returns the column after the word.
    [[nodiscard]] std::size_t end() const { return column + text.size() + (quoted ? 2 : 0); }
};

struct Wrong {
    std::size_t column;
    std::string text;
};

constexpr std::array<std::string_view, 6> kComparisons = {"=", "!=", "<", "<=", ">", ">="};
constexpr std::string_view kComparators = "=!<>";

bool is_comparator(char character) {
    return kComparators.find(character) != std::string_view::npos;
}

bool is_blank(char character) {
    return character == ' ' || character == '\t' || character == '\r';
}

// Returns the end of the word; a comparison needs no blank after it.
std::size_t end_of_word(std::string_view line, std::size_t begin) {
    std::size_t end = begin;
    if (is_comparator(line[begin])) {
        while (end < line.size() && is_comparator(line[end])) {
            ++end;
        }
        return end;
    }
    while (end < line.size() && !is_blank(line[end]) && line[end] != '#') {
        ++end;
    }
    return end;
}

// Returns the words up to a comment.
std::optional<Wrong> split(std::string_view line, std::vector<Word>& words) {
    for (std::size_t at = 0; at < line.size();) {
        if (is_blank(line[at])) {
            ++at;
            continue;
        }
        if (line[at] == '#') {
            break;
        }
        if (line[at] == '"') {
            const std::size_t end = line.find('"', at + 1);
            if (end == std::string_view::npos) {
                return Wrong{at + 1, "no second quote: a name or statement ends with one"};
            }
            words.push_back({std::string(line.substr(at + 1, end - at - 1)), at + 1, true});
            at = end + 1;
            continue;
        }
        const std::size_t end = end_of_word(line, at);
        words.push_back({std::string(line.substr(at, end - at)), at + 1});
        at = end;
    }
    return std::nullopt;
}

std::vector<std::string> words_of(const FigureRow& row) {
    std::vector<std::string> words;
    for (std::string_view rest = row.words; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        words.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return words;
}

bool is_name(std::string_view pattern) {
    return pattern.front() >= 'A' && pattern.front() <= 'Z';
}

// Returns how many of the first words are those of the row.
std::size_t matching(std::span<const std::string> pattern, std::span<const Word> words) {
    std::size_t i = 0;
    while (i < pattern.size() && i < words.size() && (is_name(pattern[i]) || pattern[i] == words[i].text)) {
        ++i;
    }
    return i;
}

// Returns the error that no row has these words, with what could follow those that some row has.
Wrong no_figure(std::span<const Word> words) {
    std::size_t furthest = 0;
    for (const FigureRow& row : kFigures) {
        furthest = std::max(furthest, matching(words_of(row), words));
    }
    std::set<std::string> expected;
    for (const FigureRow& row : kFigures) {
        const std::vector<std::string> pattern = words_of(row);
        if (matching(pattern, words) == furthest && furthest < pattern.size()) {
            expected.insert(pattern[furthest]);
        }
    }
    const std::vector<std::string> list(expected.begin(), expected.end());
    if (furthest == words.size()) {
        return {words.back().column,
                fmt::format("after {} follows {}", text::escaped(words.back().text), fmt::join(list, " or "))};
    }
    const Word& word = words[furthest];
    return {word.column, fmt::format("{} is none of {}{}", text::escaped(word.text), fmt::join(list, ", "),
                                     text::did_you_mean(word.text, list))};
}

// Returns the names that are known without a trace; empty: any name is possible.
std::vector<std::string> names_for(std::string_view pattern) {
    std::vector<std::string> names;
    if (pattern == "RULE") {
        for (const auto& row : analyse::oracle::kRules) {
            names.emplace_back(row.name);
        }
    } else if (pattern == "SUBJECT") {
        names.assign(analyse::oracle::kSubjectNames.begin(), analyse::oracle::kSubjectNames.end());
    } else if (pattern == "EVENT") {
        for (const tracer::EventRow& row : tracer::kEvents) {
            names.emplace_back(row.name);
        }
    }
    return names;
}

std::optional<Wrong> take_names(std::span<const std::string> pattern, std::span<const Word> words,
                                Expectation& expectation) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (!is_name(pattern[i])) {
            continue;
        }
        const std::vector<std::string> names = names_for(pattern[i]);
        if (!names.empty() && std::ranges::find(names, words[i].text) == names.end()) {
            return Wrong{words[i].column, fmt::format("{} is no {}{}", text::escaped(words[i].text), pattern[i],
                                                      text::did_you_mean(words[i].text, names))};
        }
        expectation.names.push_back(words[i].text);
    }
    return std::nullopt;
}

std::optional<long double> number_of(std::string_view text) {
    const auto number = text::number_of<long double>(text);
    return number && *number - *number == 0 ? number : std::nullopt;
}

std::optional<long double> value_of(FigureUnit unit, std::string_view text) {
    if (unit == FigureUnit::time) {
        const auto time = time_of(text);
        return time ? std::optional(static_cast<long double>(*time)) : std::nullopt;
    }
    if (unit == FigureUnit::percent) {
        return text.ends_with('%') ? number_of(text.substr(0, text.size() - 1)) : std::nullopt;
    }
    return number_of(text);
}

std::string_view form_of(FigureUnit unit) {
    constexpr std::array<std::string_view, 4> kForms = {"", "a number", "a time, like 1500 (ns), 20us, 1.5ms or 2s",
                                                        "a percentage, like 12.5%"};
    return kForms[static_cast<std::size_t>(unit)];
}

// Returns whether the text is letters or a percent sign, which are not part of a number.
bool is_unit(std::string_view word) {
    return std::ranges::all_of(word, [](char character) {
        return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character == '%';
    });
}

// Parses what follows the figure; `end` is the column after the last word.
std::optional<Wrong> take_value(std::span<const Word> rest, std::size_t end, Expectation& expectation) {
    const FigureUnit unit = expectation.figure->unit;
    if (unit == FigureUnit::none) {
        return rest.empty() ? std::nullopt
                            : std::optional(Wrong{rest.front().column, "nothing may follow: it holds or not"});
    }
    if (!rest.empty() && !rest.front().quoted && is_comparator(rest.front().text.front())) {
        const auto* const found = std::ranges::find(kComparisons, rest.front().text);
        if (found == kComparisons.end()) {
            return Wrong{rest.front().column, fmt::format("{} is none of {}", text::escaped(rest.front().text),
                                                          fmt::join(kComparisons, " "))};
        }
        expectation.comparison = static_cast<Comparison>(found - kComparisons.begin());
        rest = rest.subspan(1);
    }
    if (rest.empty()) {
        return Wrong{end, fmt::format("{} must follow", form_of(unit))};
    }
    const std::size_t column = rest.front().column;
    std::string text = rest.front().text;
    if (rest.size() > 1 && is_unit(rest[1].text)) { // 3 ms is 3ms
        text += rest[1].text;
        rest = rest.subspan(1);
    }
    if (rest.size() > 1) {
        return Wrong{rest[1].column,
                     fmt::format("nothing may follow {}: it is compared with one value", text::escaped(text))};
    }
    const auto value = value_of(unit, text);
    if (!value) {
        return Wrong{column, fmt::format("{} is not {}", text::escaped(text), form_of(unit))};
    }
    expectation.value = *value;
    return std::nullopt;
}

std::optional<Wrong> parse_line(std::span<const Word> words, Expectation& expectation) {
    const FigureRow* best = nullptr;
    for (const FigureRow& row : kFigures) {
        const std::vector<std::string> pattern = words_of(row);
        if (matching(pattern, words) == pattern.size() &&
            (best == nullptr || pattern.size() > words_of(*best).size())) {
            best = &row;
        }
    }
    if (best == nullptr) {
        return no_figure(words);
    }
    expectation.figure = best;
    const std::vector<std::string> pattern = words_of(*best);
    if (auto wrong = take_names(pattern, words, expectation)) {
        return wrong;
    }
    return take_value(words.subspan(pattern.size()), words.back().end(), expectation);
}

} // namespace

bool Expectation::holds_for(long double found) const {
    switch (comparison) {
    case Comparison::equal:
        return found == value;
    case Comparison::unequal:
        return found != value;
    case Comparison::less:
        return found < value;
    case Comparison::less_equal:
        return found <= value;
    case Comparison::greater:
        return found > value;
    case Comparison::greater_equal:
        return found >= value;
    }
    return false;
}

Expectations parse_expectations(std::string_view text_untrusted) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF"; // some editors insert it
    if (text_untrusted.starts_with(kByteOrderMark)) {
        text_untrusted.remove_prefix(kByteOrderMark.size());
    }
    Expectations expectations;
    std::size_t number = 0;
    while (!text_untrusted.empty()) {
        const std::string_view line = text_untrusted.substr(0, text_untrusted.find('\n'));
        text_untrusted.remove_prefix(std::min(line.size() + 1, text_untrusted.size()));
        std::vector<Word> words;
        auto wrong = split(line, words);
        ++number;
        if (!wrong && words.empty()) {
            continue;
        }
        Expectation expectation;
        expectation.line = number;
        if (!wrong) {
            const std::size_t begin = words.front().column;
            expectation.text = text::made_printable(line.substr(begin - 1, words.back().end() - begin));
        }
        wrong = wrong ? wrong : parse_line(words, expectation);
        if (wrong) {
            expectations.errors.push_back(fmt::format("{}:{}: {}", number, wrong->column, wrong->text));
        } else {
            expectations.list.push_back(std::move(expectation));
        }
    }
    if (expectations.list.empty() && expectations.errors.empty()) {
        expectations.errors.emplace_back("1:1: no expectation in it");
    }
    return expectations;
}

std::string value_text(FigureUnit unit, long double value) {
    if (unit == FigureUnit::percent) {
        return fmt::format("{}%", static_cast<double>(value));
    }
    if (unit == FigureUnit::time) {
        const long double size = value < 0 ? -value : value;
        return size < 1e3L   ? fmt::format("{:.0f}ns", static_cast<double>(value))
               : size < 1e6L ? fmt::format("{:.3f}us", static_cast<double>(value / 1e3L))
                             : fmt::format("{:.6f}ms", static_cast<double>(value / 1e6L));
    }
    return fmt::format("{}", static_cast<double>(value));
}

} // namespace host::cli
