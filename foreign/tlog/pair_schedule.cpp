// SPDX-License-Identifier: MIT
#include "foreign/tlog/pair_schedule.hpp"

#include "host/text/format.hpp"

#include <algorithm>

namespace host::formats::tlog {

std::optional<trace::Meaning> PairSchedule::take(const Record& record, const Kind& kind, trace::Names& names) {
    if (kind.role != Role::start && kind.role != Role::end && kind.role != Role::enter && kind.role != Role::leave) {
        return std::nullopt;
    }
    std::vector<std::uint8_t>& open = m_open[record.process];
    if (kind.role == Role::start || kind.role == Role::end) {
        open.clear();
        const bool ends = kind.role == Role::end;
        return switch_to(record.process, ends ? kIdle : kProcess, ends ? trace::kLeaverRests : 0, {}, names);
    }
    if (kind.role == Role::enter) {
        if (open.size() == kDepthMax) {
            return std::nullopt;
        }
        open.push_back(record.type);
        return switch_to(record.process, record.type, 0, kind.name, names);
    }
    const auto opener = std::find(open.rbegin(), open.rend(), Kind::opener(record.type));
    if (opener == open.rend()) {
        return std::nullopt;
    }
    open.erase(opener.base() - 1, open.end());
    return switch_to(record.process, open.empty() ? kProcess : open.back(), trace::kLeaverRests, {}, names);
}

// pair: the name of the IN, of which the pair's is the part before "_IN"; only needed for a new task.
std::optional<trace::Meaning> PairSchedule::switch_to(std::uint16_t process, std::uint8_t slot, std::uint32_t par2,
                                                      std::string_view pair, trace::Names& names) {
    const auto found = m_contexts.of(std::uint64_t{process} << 8 | slot);
    if (!found) {
        m_overfull = true;
        return std::nullopt;
    }
    if (found->is_new) {
        const std::string name = slot == kIdle      ? "idle"
                                 : slot == kProcess ? fmt::format("node {}", process)
                                                    : fmt::format("{} {}", process, pair.substr(0, pair.rfind("_IN")));
        names.set(tracer::Unit::context, found->context, name);
    }
    return trace::Meaning{.code = trace::kCodeOf<"context_switch">, .par1 = found->context, .par2 = par2};
}

} // namespace host::formats::tlog
