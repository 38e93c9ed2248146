// SPDX-License-Identifier: MIT
#include "host/formats/memory/memory.hpp"

#include "host/formats/memory/chunk_copy.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>
#include <utility>

namespace host::formats::memory {

namespace {

class Snapshot {
  public:
    Snapshot(const BlackBox& box, std::string name, trace::Diagnostics& diagnostics)
        : m_box(box)
        , m_name(std::move(name))
        , m_diagnostics(diagnostics)
        , m_copier(box)
        , m_image(box) {}

    // Appends every valid chunk, the oldest first. Records of a chunk that is left out are missing before the next one.
    // Errors: no_space, io (of the spool).
    [[nodiscard]] lib::Result<void> take(trace::Spool& spool) {
        for (const std::uint32_t index : oldest_first()) {
            if (const auto taken = take_chunk(index, spool); !taken) {
                return taken;
            }
        }
        if (m_last_left_out && m_disordered) {
            m_diagnostics.report("W-GAP", {.file = m_name},
                                 "the chunks were not used in the order of their numbers: where the records of the "
                                 "chunks that are left out belong is not known");
        }
        if (m_missing != 0 && spool.size_bytes() != 0) {
            m_copy = {};
            m_copy.head = {.number = *m_last_left_out, .uses = 1};
            if (const auto added = add(spool); !added) {
                return added;
            }
        }
        if (!m_image.fault().empty()) {
            m_diagnostics.report("E-META", {.file = m_name}, m_image.fault());
        }
        return {};
    }

  private:
    // The chunks are used in a circle: the oldest one follows the active one. If none is active, those that were used
    // less often are older.
    [[nodiscard]] std::vector<std::uint32_t> oldest_first() const {
        std::vector<std::uint32_t> order(m_box.descriptor().chunks.entries);
        std::iota(order.begin(), order.end(), 0U);
        std::vector<std::byte> heads;
        if (const std::uint32_t active = m_box.active_chunk(); active < order.size()) {
            std::rotate(order.begin(), order.begin() + active + 1, order.end());
        } else if (m_box.read_table(heads)) {
            std::ranges::stable_sort(order, {}, [&](std::uint32_t index) { return m_box.mark(heads, index).uses; });
        }
        return order;
    }

    [[nodiscard]] lib::Result<void> take_chunk(std::uint32_t index, trace::Spool& spool) {
        const auto copied = m_copier.copy(index, {}, m_missing == 0 ? Streams::kept : Streams::decoded, m_copy);
        if (!copied) {
            leave_out(index, copied.error().text);
            return {};
        }
        if (!copied.value() || m_copy.events() == 0) {
            return {};
        }
        // Chunks do not overlap, so all of them together are not larger than the arena.
        m_bytes += m_copy.records.size() + m_copy.emergency.size();
        if (m_bytes > m_box.descriptor().arena.bytes) {
            leave_out(index, "the chunks before it fill the arena: their areas overlap");
            return {};
        }
        m_disordered = m_disordered || m_copy.stamp < m_stamp;
        m_stamp = m_copy.stamp;
        return add(spool);
    }

    void leave_out(std::uint32_t index, std::string_view why) {
        const auto& table = m_box.descriptor().chunks;
        const std::uint64_t address = table.address + std::uint64_t{index} * table.entry_bytes;
        m_diagnostics.report("W-GAP",
                             {.file = m_name,
                              .offset_bytes = m_box.image().offset_of(address),
                              .chunk = static_cast<std::int32_t>(index)},
                             fmt::format("the chunk is left out: {}", why));
        m_missing = std::min(m_missing + records_of(index), m_box.descriptor().arena.bytes / tracer::kRecordBytes);
        m_last_left_out = index;
    }

    // This is a lower bound: the head may be invalid, and only the stream itself says how many records a compact stream
    // has.
    [[nodiscard]] std::uint64_t records_of(std::uint32_t index) const {
        const auto head = m_box.head(index);
        return std::max<std::uint64_t>(head && head.value() ? head.value()->records_held() : 1, 1);
    }

    [[nodiscard]] lib::Result<void> add(trace::Spool& spool) {
        m_image.refresh();
        m_copy.missing = std::exchange(m_missing, 0);
        for (const auto part : {m_image.preamble(m_copy, true), std::span<const std::byte>(m_copy.records),
                                std::span<const std::byte>(m_copy.emergency)}) {
            if (const auto added = spool.append(part); !added) {
                return added;
            }
        }
        return {};
    }

    const BlackBox& m_box;
    std::string m_name;
    trace::Diagnostics& m_diagnostics;
    ChunkCopier m_copier;
    ChunkCopy m_copy;
    ChunkImage m_image;
    std::uint64_t m_missing = 0; // records of chunks that were left out and are not yet announced
    std::uint64_t m_bytes = 0;   // size of the chunks so far
    std::optional<std::uint32_t> m_last_left_out;
    std::optional<lib::Ticks> m_stamp; // first stamp of the chunk before
    bool m_disordered = false;         // the stamp of a chunk is less than that of the one before it
};

// Waits for the black box, which a machine that was just started does not have yet.
void wait_for_kernel(const trace::NamedSource& input, const trace::FollowOptions& options) {
    constexpr std::chrono::milliseconds kRetryPause{10};
    const auto begin = std::chrono::steady_clock::now();
    const auto asked = [&] {
        return (options.stop != nullptr && *options.stop != 0) ||
               (options.idle.count() != 0 && std::chrono::steady_clock::now() - begin >= options.idle);
    };
    while (!asked() && !is_memory(*input.bytes)) {
        std::this_thread::sleep_for(kRetryPause);
        input.bytes->take_size();
    }
    input.bytes->take_size();
}

lib::Error unusable(const std::string& file, lib::Error error, trace::Diagnostics& diagnostics) {
    diagnostics.report("E-IO", {.file = file}, fmt::format("a temporary file (see TMPDIR): {}", error_name(error)));
    diagnostics.unusable_input(error);
    return error;
}

// The black box describes each chunk of the machine.
lib::Result<std::unique_ptr<dat::RecordStream>>
with_all_chunks(lib::Result<std::unique_ptr<dat::RecordStream>> stream) {
    if (stream) {
        stream.value()->note_all_chunks();
    }
    return stream;
}

// Appends the chunks of each processor. What fails is reported.
lib::Result<void> take_processors(BlackBox box, const std::string& file, trace::Spool& spool,
                                  trace::Diagnostics& diagnostics) {
    std::uint64_t arena_bytes = 0;
    for (;;) {
        arena_bytes += box.descriptor().arena.bytes;
        if (arena_bytes > BlackBox::kArenaBytesMax) {
            diagnostics.report(
                "E-HEADER", {.file = file},
                fmt::format("the arenas of the processors have more than {} bytes", BlackBox::kArenaBytesMax));
            return lib::Error::corrupt;
        }
        if (const auto taken = Snapshot(box, file, diagnostics).take(spool); !taken) {
            return unusable(file, taken.error(), diagnostics);
        }
        if (box.next_address() == 0) {
            return {};
        }
        auto next = box.open_next(file, diagnostics);
        if (!next) {
            return next.error();
        }
        box = std::move(next.value());
    }
}

} // namespace

lib::Result<std::unique_ptr<dat::RecordStream>> open(const trace::NamedSource& input, const trace::OpenOptions& options,
                                                     trace::Diagnostics& diagnostics) {
    if (options.follow.wanted && !input.bytes->seekable()) {
        diagnostics.report("E-IO", {.file = input.name}, "a stream cannot be followed: name the file of the memory");
        diagnostics.unusable_input();
        return lib::Error::unsupported;
    }
    const auto bytes = trace::ByteSource::positioned(input.bytes);
    if (!bytes) {
        return unusable(input.name, bytes.error(), diagnostics);
    }
    const trace::NamedSource positioned{.name = input.name, .bytes = bytes.value()};
    if (options.follow.wanted) {
        wait_for_kernel(positioned, options.follow);
    }
    auto box = BlackBox::open(positioned, diagnostics);
    if (!box) {
        return box.error();
    }
    const std::string name = input.name + "/chunks";
    if (options.follow.wanted && box.value().next_address() != 0) {
        diagnostics.report("E-HEADER", {.file = input.name},
                           "the trace of several processors cannot be followed: read it without --follow");
        return lib::Error::unsupported;
    }
    if (options.follow.wanted) {
        const trace::NamedSource followed{
            .name = name, .bytes = follow(std::move(box.value()), options.follow), .followed = true};
        return with_all_chunks(dat::RecordStream::of_sources(std::span(&followed, 1), options, diagnostics));
    }
    auto spool = trace::Spool::create();
    if (!spool) {
        return unusable(input.name, spool.error(), diagnostics);
    }
    if (const auto taken = take_processors(std::move(box.value()), input.name, spool.value(), diagnostics); !taken) {
        return taken.error();
    }
    if (spool.value().size_bytes() == 0) {
        diagnostics.report("E-EMPTY", {.file = input.name}, "no chunk of the black box holds a record");
        return lib::Error::corrupt;
    }
    const trace::NamedSource records{.name = name, .bytes = spool.value().take(), .keep_open = true};
    return with_all_chunks(dat::RecordStream::of_sources(std::span(&records, 1), options, diagnostics));
}

} // namespace host::formats::memory
