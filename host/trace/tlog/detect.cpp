// SPDX-License-Identifier: MIT
// The two questions. What speaks against tlog: the low byte of a record's stamp stands where a time has its sign and
// exponent, and its code where the process is, which is the same all over a block. What speaks against records: an
// unused slot (never exported), a code that cannot be, stamps that fall.
#include "host/trace/tlog/detect.hpp"

#include "host/trace/tlog/kinds.hpp"
#include "tracer/event_table.hpp"
#include "tracer/record.hpp"

namespace host::trace::tlog {

namespace {

constexpr double kPlausibleSecondsMin = 1e-10;
constexpr double kPlausibleSecondsMax = 1e9; // thirty years

bool plausible_time(double seconds) {
    return seconds == 0 || (seconds >= kPlausibleSecondsMin && seconds <= kPlausibleSecondsMax);
}

// The first block of a process: START, then known types of one process, in order of time.
bool could_be_tlog(std::span<const std::byte> begin, Layout layout) {
    const Table table = layout == Layout::openmp ? Table::openmp : Table::fifteen_pairs;
    std::optional<Record> first;
    double before = 0;
    for (std::size_t at = 0; at + kRecordBytes <= begin.size(); at += kRecordBytes) {
        const Record record = decode(begin.subspan(at), layout);
        if (record.undefined()) {
            continue;
        }
        const Role role = kind_of(table, record.type).role;
        if (role == Role::unknown || !plausible_time(record.seconds) || record.seconds < before ||
            (!first && role != Role::start) || (first && record.process != first->process)) {
            return false;
        }
        first = first.value_or(record);
        before = record.seconds;
    }
    return first.has_value();
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
    if (could_be_records(begin)) {
        return std::nullopt;
    }
    if (could_be_tlog(begin, Layout::current)) {
        return Layout::current;
    }
    if (could_be_tlog(begin, Layout::openmp)) {
        return Layout::openmp;
    }
    return std::nullopt;
}

} // namespace host::trace::tlog
