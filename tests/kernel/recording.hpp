// SPDX-License-Identifier: MIT
// Reads records in guest cases: what a chunk holds, in time order. Filters leave only what a case wrote itself.
#pragma once

#include "tests/kernel/case.hpp"
#include "tracer/ftrace.hpp"
#include "tracer/instance.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace guest {

inline constexpr int kRecordBytes = static_cast<int>(tracer::kRecordBytes);

// Is a copy of the records of one chunk, at most kMax.
class Recording {
  public:
    static constexpr std::size_t kMax = 256;

    void read(int chunk) {
        m_size = 0;
        const tracer::ChunkContents contents =
            tracer::ChunkStore::contents(*must(tracer::instance().store.find(chunk)));
        for (const auto part : {contents.older, contents.newer, contents.emergency}) {
            for (std::size_t at = 0; at < part.size() && m_size < kMax; at += tracer::kRecordBytes) {
                m_records[m_size++] = tracer::decode_record(part.subspan(at, tracer::kRecordBytes));
            }
        }
    }

    [[nodiscard]] std::span<const tracer::Record> records() const { return std::span(m_records).first(m_size); }

    [[nodiscard]] std::size_t count(std::uint16_t code) const {
        std::size_t found = 0;
        for (const tracer::Record& record : records()) {
            found += record.event_code() == code ? 1U : 0U;
        }
        return found;
    }

  private:
    std::array<tracer::Record, kMax> m_records{};
    std::size_t m_size = 0;
};

// Enables recording without the records that state filters and pauses, for a case that counts every record.
[[nodiscard]] inline bool enable_bare() {
    return tracer::instance().control.enable().ok();
}

// Records only the families general, ipoint and user from now on.
inline void filter_the_kernel() {
    for (const BYTE family :
         {FTrace_filter_task, FTrace_filter_interrupt, FTrace_filter_CPU, FTrace_filter_priority, FTrace_filter_mutex,
          FTrace_filter_signal, FTrace_filter_server, FTrace_filter_timer, FTrace_filter_job}) {
        FTrace_set_filter(family, 1);
    }
}

} // namespace guest
