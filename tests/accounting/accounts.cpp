// SPDX-License-Identifier: MIT
// Prints the account of each complete job of traces, as host/schedule/accounting.hpp makes it, one JSON object a line:
// what tests/accounting/compare.py compares with a calculation of its own.
//
//   accounts TRACE [TRACE ...]      after the jobs of each trace one line: null
#include "host/formats/trace.hpp"
#include "host/schedule/accounting.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/event.hpp"

#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace {

using namespace host;
using namespace host::schedule;

using JobKey = std::pair<std::uint16_t, std::uint64_t>;
using WaitKey = std::tuple<std::uint32_t, By, std::uint32_t>; // what it waited for, who ended the wait
using Waits = std::map<WaitKey, std::uint64_t>;

using Json = text::JsonWriter<text::MemorySink>;

std::optional<std::uint32_t> known(std::uint32_t context) {
    return context == kUnknownContext ? std::nullopt : std::optional(context);
}

std::optional<std::uint64_t> ticks(const std::optional<Moment>& moment) {
    return moment ? std::optional(moment->ticks.value) : std::nullopt;
}

void add_share(Json& json, const Share& share) {
    const Culprit& culprit = share.culprit;
    json.begin_array();
    json.value(part_name(culprit.part));
    json.value(by_name(culprit.by));
    json.value(known(culprit.who));
    json.value(culprit.object);
    json.value(known(culprit.holder));
    json.value(known(culprit.chain_end));
    json.value(culprit.end_waits);
    json.value(inversion_name(culprit.inversion));
    json.value(share.ticks.value);
    json.value(share.records);
    json.end_array();
}

void print(const JobAccount& account, const Waits& waits) {
    fmt::memory_buffer buffer;
    text::MemorySink sink(buffer);
    Json json(sink);
    json.begin_object();
    json.member("context", account.job.context);
    json.member("number", account.job.number);
    json.member("known", account.is_known());
    json.member("r", ticks(account.job.release));
    json.member("a", account.ready.ticks.value);
    json.member("s", ticks(account.job.start));
    json.member("f", ticks(account.job.end));
    json.member("d", ticks(account.job.deadline));
    json.member("missed", account.job.missed);
    json.member("residue", account.residue);
    json.begin_array("parts");
    for (const lib::Ticks part : account.parts) {
        json.value(part.value);
    }
    json.end_array();
    json.begin_array("shares");
    for (const Share& share : account.shares) {
        add_share(json, share);
    }
    json.end_array();
    json.begin_array("waits");
    for (const auto& [key, ticks] : waits) {
        const auto& [object, by, who] = key;
        json.begin_array();
        json.value(object);
        json.value(by_name(by));
        json.value(known(who));
        json.value(ticks);
        json.end_array();
    }
    json.end_array();
    json.end_object();
    buffer.push_back('\n');
    std::fwrite(buffer.data(), 1, buffer.size(), stdout);
}

bool account(const std::string& path) {
    trace::Diagnostics diagnostics([](std::string_view line) {
        std::fwrite(line.data(), 1, line.size(), stderr);
        std::fputc('\n', stderr);
    });
    const auto trace = formats::Trace::open(path, {}, diagnostics);
    if (!trace.ok()) {
        return false;
    }
    std::map<JobKey, Waits> waits;
    Accounting accounting(
        [&waits](const JobAccount& account) {
            const JobKey key{account.job.context, account.job.number};
            print(account, waits[key]);
            waits.erase(key);
        },
        [&waits](const Piece& piece) {
            if (piece.culprit.part == Part::suspension) {
                const WaitKey key{piece.culprit.object, piece.ended_by.by, piece.ended_by.who};
                waits[{piece.context, piece.job}][key] += (piece.end - piece.begin).value;
            }
        });
    Schedule schedule;
    trace.value()->for_each([&](const trace::Event& event) {
        accounting.take(event, schedule.take(event), schedule, trace.value()->facts().clock.khz);
    });
    accounting.finish();
    diagnostics.finish();
    std::fputs("null\n", stdout);
    return true;
}

} // namespace

int main(int argc, char** argv) {
    bool read = argc > 1;
    for (int i = 1; i < argc; ++i) {
        read = account(argv[i]) && read;
    }
    return read ? 0 : 1;
}
