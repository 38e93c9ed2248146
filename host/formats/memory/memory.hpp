// SPDX-License-Identifier: MIT
// Reads the memory of a machine as a trace: its chunks, which the descriptor of the black box names. Of a running
// machine it is a snapshot, or, if followed, everything from there on until its run ends. A snapshot needs one file
// without a name, of the size of the records, on disk; memory is that of the largest chunk (followed: of all chunks).
#pragma once

#include "host/formats/dat/record_stream.hpp"
#include "host/formats/memory/black_box.hpp"
#include "host/formats/memory/chunk_copy.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/event_stream.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace host::formats::memory {

// Any error is reported to diagnostics. Errors: corrupt (there is no black box, or none of its chunks has a record), io
// and no_space (of the temporary file). Besides what BlackBox::open() reports, it reports W-GAP (a chunk that is left
// out, and why), E-META (invalid names), E-EMPTY.
[[nodiscard]] lib::Result<std::unique_ptr<dat::RecordStream>>
open(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

// Follows the chunks of a running machine: every record once, in time order, as images of chunks that a reader takes
// from a pipe. Each image has what is new in a chunk since the one before. The machine does nothing for it; records
// that it overwrites before they are copied are missing before the next image.

// Copies what is new, without a thread and without a pipe.
class Follower {
  public:
    // Takes a piece of an image; returns false if no more is wanted.
    using Take = std::function<bool(std::span<const std::byte>)>;

    explicit Follower(BlackBox box);
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    enum class Step : std::uint8_t {
        more,      // records were taken
        idle,      // there was nothing new
        ended,     // the run has ended, and everything was taken
        restarted, // the memory is no longer that of this run, as the last image states
        closed     // `take` has returned false
    };

    // Takes what is new in all chunks since the last call, in time order. An invalid chunk is left out until it is
    // valid.
    [[nodiscard]] Step step(const Take& take);

    // Must be called if no step follows although the run has not ended: gives a part without records that states the
    // losses that are not stated yet. Returns false if no more is wanted.
    [[nodiscard]] bool stop(const Take& take);

    // Gives a part without records, which wakes its reader. Returns false if no more is wanted.
    [[nodiscard]] bool wake(const Take& take);

    // Returns how many records were taken so far.
    [[nodiscard]] std::uint64_t records() const { return m_records; }

    // Returns how many records were overwritten before they could be taken. The number for an invalid chunk is known at
    // the end of the run.
    [[nodiscard]] std::uint64_t lost() const { return m_lost; }

    // Returns how many of the lost records were written after the following began: they are a hole in what was taken.
    [[nodiscard]] std::uint64_t missing() const { return m_missing; }

  private:
    struct Piece {
        std::uint32_t index = 0;
        std::uint64_t stamp = 0;
        ChunkCopy copy;
    };

    void collect(std::uint32_t index);

    [[nodiscard]] std::uint64_t known() const { return m_records + m_lost; }

    [[nodiscard]] std::uint64_t emptied_unseen(std::uint64_t emptied) const;
    [[nodiscard]] std::uint64_t written_to_refused(std::uint32_t index) const;
    [[nodiscard]] std::uint64_t written() const;
    void count_unseen(std::uint64_t records, ChunkCopy& copy);
    [[nodiscard]] bool give_losses(std::uint64_t unseen, const Take& take);
    [[nodiscard]] Step restarted(const Take& take);
    [[nodiscard]] bool give(const ChunkCopy& copy, const Take& take);
    [[nodiscard]] std::optional<std::uint64_t> collect_others(std::uint32_t active);
    [[nodiscard]] Step give_all(std::span<Piece> pieces, std::uint64_t unseen, const Take& take);

    BlackBox m_box;
    ChunkCopier m_copier;
    ChunkImage m_image;
    std::vector<ChunkPlace> m_places; // by the number of the chunk
    std::vector<bool> m_refused;      // by the number of the chunk: it was invalid at the last look
    std::vector<Piece> m_pieces;      // the first m_used are those of this step; all keep their memory
    std::size_t m_used = 0;
    std::vector<std::byte> m_table;
    std::uint64_t m_records = 0;
    std::uint64_t m_lost = 0;
    std::uint64_t m_missing = 0;
    std::uint64_t m_before;   // records of chunks that were emptied before the following began, not yet counted
    bool m_looked = false;    // a step was made: later losses are missing records
    bool m_all_taken = false; // the last step found nothing new in any chunk
};

// Returns the images as a stream. A thread fills it until the run ends, until `options` end it, or until the last
// pointer to the stream is gone.
[[nodiscard]] std::shared_ptr<trace::ByteSource> follow(BlackBox box, const trace::FollowOptions& options);

} // namespace host::formats::memory
