// SPDX-License-Identifier: MIT
// The memory of a machine as a trace: its chunks, found by the descriptor of the black box, one by one. Of a machine
// that runs it is a snapshot, or, if followed, everything from there on until its run ends. Disk: for a snapshot, one
// file without a name, of the size of the records; memory is that of the largest chunk (followed: of all chunks).
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

// Any error was reported to diagnostics. corrupt: there is no black box in it, or none of its chunks has a record;
// io, no_space: of the temporary file. Reports, beside what BlackBox::open() reports: W-GAP (a chunk that is left out,
// and why), E-META (names that do not hold), E-EMPTY.
[[nodiscard]] lib::Result<std::unique_ptr<dat::RecordStream>>
open(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

// Follows the chunks of a machine that runs: every record once, in time order, as images of chunks that a reader takes
// from a pipe. Each image holds what a chunk has got since the one before. The machine does nothing for it; what it
// overwrites before it is copied is missing in front of the next image.

// Copies what is new. No thread, no pipe.
class Follower {
  public:
    // Takes a piece of an image; false: no more is wanted.
    using Take = std::function<bool(std::span<const std::byte>)>;

    explicit Follower(BlackBox box);
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    enum class Step : std::uint8_t {
        more,      // records were taken
        idle,      // there was nothing new
        ended,     // the run has ended, and everything was taken
        restarted, // the memory is no longer that of this run, which the last image says
        closed     // `take` has returned false
    };

    // Takes what all chunks have got since the last call, in time order. A chunk that does not hold is left out until
    // it does.
    [[nodiscard]] Step step(const Take& take);

    // No step follows, although the run has not ended: gives a part without records that states what was lost and is
    // not stated yet. False: no more is wanted.
    [[nodiscard]] bool stop(const Take& take);

    // Gives a part without records: its reader returns from its wait. False: no more is wanted.
    [[nodiscard]] bool wake(const Take& take);

    // Taken so far.
    [[nodiscard]] std::uint64_t records() const { return m_records; }

    // Overwritten before they could be taken. Of a chunk that does not hold it is known at the end of the run.
    [[nodiscard]] std::uint64_t lost() const { return m_lost; }

    // Those of them that came after the following began: a hole in what was taken.
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
    std::vector<ChunkPlace> m_places; // by number of the chunk
    std::vector<bool> m_refused;      // likewise: it did not hold when it was looked at last
    std::vector<Piece> m_pieces;      // the first of them are those of this step; all keep their memory
    std::size_t m_used = 0;
    std::vector<std::byte> m_table;
    std::uint64_t m_records = 0;
    std::uint64_t m_lost = 0;
    std::uint64_t m_missing = 0;
    std::uint64_t m_before;   // records of chunks that were emptied before the following began, not yet counted
    bool m_looked = false;    // a step was made: what is lost from there on is missing
    bool m_all_taken = false; // by the last step: there was nothing new in any chunk
};

// The images, as a stream: a thread of its own fills it until the run ends, `options` end it, or the last pointer to it
// is gone.
[[nodiscard]] std::shared_ptr<trace::ByteSource> follow(BlackBox box, const trace::FollowOptions& options);

} // namespace host::formats::memory
