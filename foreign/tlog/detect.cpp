// SPDX-License-Identifier: MIT
// Answers the two questions. Evidence against tlog: the low byte of a record's stamp is where a time has its sign and
// exponent, and its code is where the process is, which is the same in the whole block. Evidence against records: an
// unused slot (never exported), an invalid code, stamps that fall.
#include "foreign/tlog/detect.hpp"

#include "foreign/tlog/kinds.hpp"
#include "tracer/record/event_table.hpp"
#include "tracer/record/record.hpp"

#include <algorithm>

namespace host::formats::tlog {

namespace {

constexpr double kPlausibleSecondsMin = 1e-10;
constexpr double kPlausibleSecondsMax = 1e9; // thirty years

bool plausible_time(double seconds) {
    return seconds == 0 || (seconds >= kPlausibleSecondsMin && seconds <= kPlausibleSecondsMax);
}

bool is_known(const Record& record, Table table) {
    const Role role = kind_of(table, record.type).role;
    return role != Role::unknown && plausible_time(record.seconds);
}

// Returns whether this could be the first block of a process: START, then known types of one process, in order of time.
bool could_be_tlog(std::span<const std::byte> begin, Layout layout) {
    const Table table = layout == Layout::openmp ? Table::openmp : Table::fifteen_pairs;
    std::optional<Record> first;
    double before = 0;
    for (std::size_t at = 0; at + kRecordBytes <= begin.size(); at += kRecordBytes) {
        const Record record = decode(begin.subspan(at), layout);
        if (record.undefined()) {
            continue;
        }
        if (!is_known(record, table) || record.seconds < before ||
            (!first && kind_of(table, record.type).role != Role::start) ||
            (first && record.process != first->process)) {
            return false;
        }
        first = first.value_or(record);
        before = record.seconds;
    }
    return first.has_value();
}

// Returns the process that most records of a block have.
std::uint16_t majority_process(std::span<const std::byte> block, Layout layout) {
    std::uint16_t process = 0;
    std::size_t lead = 0;
    for (std::size_t at = 0; at + kRecordBytes <= block.size(); at += kRecordBytes) {
        const Record record = decode(block.subspan(at), layout);
        if (record.undefined()) {
            continue;
        }
        process = lead == 0 ? record.process : process;
        lead = record.process == process ? lead + 1 : lead - 1;
    }
    return process;
}

// Returns whether this could be a damaged block of one process: at least kEvidence records are valid, and three times
// as many as are not. A random slot is valid once in thousands.
bool is_mostly_tlog(std::span<const std::byte> block, Layout layout) {
    constexpr std::size_t kEvidence = 3;
    const Table table = layout == Layout::openmp ? Table::openmp : Table::fifteen_pairs;
    const std::uint16_t process = majority_process(block, layout);
    std::size_t good = 0;
    std::size_t bad = 0;
    double before = 0;
    for (std::size_t at = 0; at + kRecordBytes <= block.size(); at += kRecordBytes) {
        const Record record = decode(block.subspan(at), layout);
        if (record.undefined()) {
            continue;
        }
        if (is_known(record, table) && record.process == process && record.seconds >= before) {
            before = record.seconds;
            ++good;
        } else {
            ++bad;
        }
    }
    return good >= kEvidence && good >= 3 * bad;
}

bool could_be_records(std::span<const std::byte> begin) {
    lib::Ticks before{};
    for (std::size_t at = 0; at + kRecordBytes <= begin.size(); at += kRecordBytes) {
        const tracer::Record record = tracer::decode_record(begin.subspan(at));
        constexpr std::uint16_t kZeroBits = 0x4F00;
        if (record.empty() || (record.code & kZeroBits) != 0 || record.stamp() < before ||
            tracer::find_event(tracer::canonical_code(record.event_code())) == nullptr) {
            return false;
        }
        before = record.stamp();
    }
    return true;
}

} // namespace

std::optional<Layout> detect(std::span<const std::byte> begin) {
    const auto first = begin.first(std::min(begin.size(), kBlockBytes));
    if (could_be_records(first)) {
        return std::nullopt;
    }
    for (const Layout layout : {Layout::current, Layout::openmp}) {
        if (could_be_tlog(first, layout)) {
            return layout;
        }
    }
    // At least the first block is damaged; the blocks after it may be intact.
    for (std::size_t at = 0; at < begin.size(); at += kBlockBytes) {
        const auto block = begin.subspan(at, std::min(begin.size() - at, kBlockBytes));
        for (const Layout layout : {Layout::current, Layout::openmp}) {
            if (!could_be_records(block) && is_mostly_tlog(block, layout)) {
                return layout;
            }
        }
    }
    return std::nullopt;
}

} // namespace host::formats::tlog
