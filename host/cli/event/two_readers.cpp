// SPDX-License-Identifier: MIT
#include "host/cli/event/two_readers.hpp"

#include "host/workers/line.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

namespace host::cli {

namespace {

constexpr std::size_t kEventsAtOnce = 64; // decoded events that stay in the first cache

// Records. A shorter run is over before the other thread has woken up.
constexpr std::size_t kHandedMin = 512;

void read(const formats::dat::RecordRun& run, std::uint32_t khz, const Reader& reader) {
    std::array<trace::Event, kEventsAtOnce> events;
    events.fill(run.common());
    for (std::size_t at = 0; at < run.size(); at += events.size()) {
        const auto some = std::span(events).first(std::min(events.size(), run.size() - at));
        run.decode(at, some);
        reader(some, khz);
    }
}

} // namespace

void read_twice(formats::Trace& trace, unsigned workers, const Reader& here, const Reader& beside) {
    workers::Line line;
    while (true) {
        auto run = workers > 1 ? trace.next_run() : std::nullopt;
        const auto batch = run ? std::span<const trace::Event>() : trace.next_batch();
        if (!run && batch.empty()) {
            break;
        }
        const std::uint32_t khz = trace.facts().clock.khz;
        if (run && run->size() >= kHandedMin) {
            const auto shared = std::make_shared<const formats::dat::RecordRun>(std::move(*run));
            line.give([shared, khz, &beside] { read(*shared, khz, beside); });
            read(*shared, khz, here);
            continue;
        }
        line.finish();
        for (const Reader& reader : {std::cref(here), std::cref(beside)}) {
            run ? read(*run, khz, reader) : reader(batch, khz);
        }
    }
    line.finish();
}

} // namespace host::cli
