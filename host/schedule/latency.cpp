// SPDX-License-Identifier: MIT
#include "host/schedule/latency.hpp"

#include "host/text/digits.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

namespace host::schedule {

void Latencies::take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule) {
    if (trace::Filters::changes(event, trace::Filters::kParts)) [[unlikely]] {
        m_handlers.clear();
        m_woken.clear();
        return;
    }
    for (const Change& change : changes) {
        switch (change.kind) {
        case Change::Kind::interrupt_began:
            m_handlers[event.cpu].push_back(entry_of(event));
            break;
        case Change::Kind::interrupt_ended:
            if (std::vector<Entry>& handlers = m_handlers[event.cpu]; !handlers.empty()) {
                handlers.pop_back();
            }
            break;
        case Change::Kind::woken:
            if (event.code != trace::kCodeOf<"context_switch">) { // otherwise the record of the wake-up is missing
                wake(event, change.context, schedule);
            }
            break;
        case Change::Kind::switched:
            if (!m_woken.empty()) {
                run(event, change.context);
            }
            break;
        case Change::Kind::waits:
        case Change::Kind::created:
        case Change::Kind::ended:
        case Change::Kind::forgotten:
            if (!m_woken.empty()) {
                drop(change.context);
            }
            break;
        case Change::Kind::job_began:
        case Change::Kind::job_ended:
        case Change::Kind::inherits:
        case Change::Kind::returns:
        case Change::Kind::gap:
        case Change::Kind::lost:
            break;
        }
    }
}

void Latencies::wake(const trace::Event& event, std::uint32_t context, const Schedule& schedule) {
    const std::vector<Entry>& handlers = m_handlers[event.cpu];
    if (handlers.empty() || schedule.running(event.cpu) == context) {
        return;
    }
    drop(context);
    m_woken.push_back({.context = static_cast<std::uint16_t>(context),
                       .entry = handlers.back(),
                       .ready = Moment::of(event),
                       .first = {}});
}

void Latencies::run(const trace::Event& event, std::uint32_t context) {
    const auto woken = std::ranges::find(m_woken, static_cast<std::uint16_t>(context), &Latency::context);
    if (woken != m_woken.end()) {
        woken->first = Moment::of(event);
        m_sink(*woken);
        m_woken.erase(woken);
    }
}

void Latencies::drop(std::uint32_t context) {
    std::erase_if(m_woken, [context](const Latency& woken) { return woken.context == context; });
}

namespace {

// At most this many entries, evenly spread, propose offsets; then the best offset is compared with all entries.
constexpr std::size_t kProposersMax = 64;

std::string_view take_until(std::string_view& text, char separator) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    return part;
}

// Takes the next field of the line. An empty field leaves `number` empty. Returns false if the field is not valid.
bool take_number(std::string_view& line, std::optional<std::uint64_t>& number) {
    const std::string_view field = take_until(line, ',');
    if (field.empty()) {
        return true;
    }
    number = text::number_of<std::uint64_t>(field);
    return number.has_value();
}

std::optional<Observed> parse_line(std::string_view line) {
    std::optional<std::uint64_t> vector;
    std::optional<std::uint64_t> taken;
    Observed row;
    if (std::ranges::count(line, ',') != 3 || !take_number(line, vector) || !take_number(line, row.raised) ||
        !take_number(line, taken) || !take_number(line, row.stamped) || !vector || !taken ||
        *vector > std::numeric_limits<std::uint16_t>::max() || row.raised.value_or(0) > *taken ||
        row.stamped.value_or(*taken) < *taken) {
        return std::nullopt;
    }
    row.vector = static_cast<std::uint16_t>(*vector);
    row.taken = *taken;
    return row;
}

// Is a vector and the first reading of the counter in its handler.
using Key = std::pair<std::uint16_t, std::uint64_t>;
using ByStamp = std::map<Key, const Observed*>;

// Counts how many entries propose each offset. Differences are modulo 2^64, because the counter may be lower than the
// number of instructions.
std::unordered_map<std::uint64_t, std::size_t> votes(const ByStamp& by_stamp, std::span<const Entry> entries) {
    std::unordered_map<std::uint64_t, std::size_t> votes;
    const std::size_t proposers = std::min(entries.size(), kProposersMax);
    for (std::size_t i = 0; i < proposers; ++i) {
        const Entry& entry = entries[i * entries.size() / proposers];
        for (auto row = by_stamp.lower_bound({entry.vector, 0});
             row != by_stamp.end() && row->first.first == entry.vector; ++row) {
            ++votes[entry.at.ticks.value - row->first.second];
        }
    }
    return votes;
}

} // namespace

lib::Result<std::vector<Observed>, trace::Refusal> parse_raises(std::string_view text) {
    if (take_until(text, '\n') != kRaisesHead) {
        return trace::Refusal{fmt::format("line 1 is not {}", kRaisesHead)};
    }
    std::vector<Observed> rows;
    while (!text.empty()) {
        const auto row = parse_line(take_until(text, '\n'));
        if (!row) {
            return trace::Refusal{
                fmt::format("line {}: not vector,raised,taken,stamped in their order in time", rows.size() + 2)};
        }
        rows.push_back(*row);
    }
    return rows;
}

Raises match(std::span<const Observed> observed, std::span<const Entry> entries) {
    const auto nothing = [&] {
        return Raises{
            .fit = Raises::Fit::none, .observed = 0, .raised = std::vector<std::optional<lib::Ticks>>(entries.size())};
    };
    Raises result = nothing();
    ByStamp by_stamp;
    for (const Observed& row : observed) {
        if (row.stamped) {
            by_stamp.emplace(Key{row.vector, *row.stamped}, &row);
        }
    }
    const auto counts = votes(by_stamp, entries);
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto best = std::ranges::max_element(counts, fewer);
    if (best == counts.end() || 2 * best->second <= std::min(entries.size(), kProposersMax)) {
        return nothing();
    }
    if (std::ranges::count(counts, best->second, [](const auto& count) { return count.second; }) > 1) {
        result.fit = Raises::Fit::several;
        return result;
    }
    const std::uint64_t offset = best->first;
    std::size_t missing = 0;         // entries after the latest one that was observed
    std::size_t missing_between = 0; // entries between two that were observed
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto row = by_stamp.find({entries[i].vector, entries[i].at.ticks.value - offset});
        if (row == by_stamp.end()) {
            missing += result.observed != 0 ? 1U : 0U;
            continue;
        }
        ++result.observed;
        missing_between += std::exchange(missing, 0);
        if (const auto raised = row->second->raised) {
            result.raised[i] = lib::Ticks{*raised + offset};
        }
    }
    // A handler that reads no counter before the next interrupt has an entry in the trace and a row without a stamp. If
    // more entries are missing than there are such rows, the observer never saw some of them.
    const std::uint64_t begin = entries.front().at.ticks.value - offset;
    const std::uint64_t end = entries.back().at.ticks.value - offset;
    const auto has_no_stamp = [&](const Observed& row) { return !row.stamped && row.taken - begin <= end - begin; };
    if (missing_between > static_cast<std::size_t>(std::ranges::count_if(observed, has_no_stamp))) {
        return nothing();
    }
    result.fit = Raises::Fit::one;
    return result;
}

} // namespace host::schedule
