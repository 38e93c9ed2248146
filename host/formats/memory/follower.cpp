// SPDX-License-Identifier: MIT
// Copies what all chunks have got since the last look, in time order. The active chunk is copied first. The records
// that are copied from the other chunks afterwards are older than its records, or newer than what was copied of it,
// because recording has moved on meanwhile; the newer ones are left for the next step.
#include "host/formats/memory/chunk_copy.hpp"
#include "host/formats/memory/memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace host::formats::memory {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{5}; // between two looks when there was nothing new

bool send_all(int descriptor, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return false;
        }
        bytes = bytes.subspan(sent > 0 ? static_cast<std::size_t>(sent) : 0);
    }
    return true;
}

// The thread, and the end of the stream to which it writes.
class Pump {
  public:
    Pump(BlackBox box, const trace::FollowOptions& options, int descriptor)
        : m_follower(std::move(box))
        , m_options(options)
        , m_descriptor(descriptor)
        , m_thread([this] { run(); }) {}

    Pump(const Pump&) = delete;
    Pump& operator=(const Pump&) = delete;

    ~Pump() {
        m_stop = true;
        m_thread.join();
    }

  private:
    void run() {
        auto active = Clock::now();
        auto given = active;
        const auto take = [this](std::span<const std::byte> bytes) { return send_all(m_descriptor, bytes); };
        for (;;) {
            const Follower::Step step = m_follower.step(take);
            if (step != Follower::Step::more && step != Follower::Step::idle) {
                break;
            }
            const auto now = Clock::now();
            active = step == Follower::Step::more ? now : active;
            given = step == Follower::Step::more ? now : given;
            if (m_options.wake.count() != 0 && now - given >= m_options.wake) {
                given = now;
                if (!m_follower.wake(take)) {
                    break;
                }
            }
            const bool asked = m_stop || (m_options.stop != nullptr && *m_options.stop != 0);
            if (asked || (m_options.idle.count() != 0 && now - active >= m_options.idle)) {
                static_cast<void>(m_follower.stop(take));
                break;
            }
            if (step == Follower::Step::idle) {
                std::this_thread::sleep_for(kPause);
            }
        }
        ::close(m_descriptor);
    }

    Follower m_follower;
    trace::FollowOptions m_options;
    int m_descriptor;
    std::atomic<bool> m_stop = false;
    std::thread m_thread; // last member, because the thread uses the others
};

// The reading end is closed first, which ends a thread that waits in send().
struct Followed {
    Followed(BlackBox box, const trace::FollowOptions& options, const std::array<int, 2>& ends)
        : pump(std::move(box), options, ends[1])
        , source(ends[0], true, std::nullopt) {}

    Pump pump;
    trace::ByteSource source;
};

} // namespace

Follower::Follower(BlackBox box)
    : m_box(std::move(box))
    , m_copier(m_box)
    , m_image(m_box)
    , m_places(m_box.descriptor().chunks.entries)
    , m_refused(m_places.size())
    , m_before(m_box.retired_records()) {}

// Adds what is new in the chunk.
void Follower::collect(std::uint32_t index) {
    const ChunkPlace& from = m_places[index];
    if (m_used == m_pieces.size()) {
        m_pieces.emplace_back();
    }
    Piece& piece = m_pieces[m_used];
    const auto copied = m_copier.copy(index, from, Streams::decoded, piece.copy);
    m_refused[index] = !copied;
    if (!copied || !copied.value()) {
        return;
    }
    if (piece.copy.events() == 0) {
        // Lost records are counted in the next part that has records.
        if (piece.copy.lost == 0) {
            m_places[index] = piece.copy.place;
        }
        return;
    }
    if (m_looked) {
        piece.copy.missing = std::exchange(piece.copy.lost, 0);
    }
    piece.index = index;
    piece.stamp = piece.copy.stamp->value;
    ++m_used;
}

bool Follower::give(const ChunkCopy& copy, const Take& take) {
    m_records += copy.events();
    m_lost += copy.lost + copy.missing;
    m_missing += copy.missing;
    return take(m_image.preamble(copy, false)) && take(copy.records) && take(copy.emergency);
}

bool Follower::wake(const Take& take) {
    ChunkCopy empty;
    empty.head.uses = 1;
    return take(m_image.preamble(empty, false));
}

// Counts the records of a refused chunk: the number in its head, but at least one more than were taken.
std::uint64_t Follower::written_to_refused(std::uint32_t index) const {
    const auto head = m_box.head(index);
    const ChunkPlace& place = m_places[index];
    if (!head || !head.value()) {
        return place.records() + 1;
    }
    const ChunkHead& of = *head.value();
    if (of.uses != place.uses) {
        return std::max<std::uint64_t>(of.records_held(), 1);
    }
    const std::uint64_t main = of.compact() || of.compressed ? 0 : of.end() / tracer::kRecordBytes;
    return std::max(place.records() + 1, main + of.emergency_position() / tracer::kRecordBytes);
}

// Returns how many records were ever written. Must be called after everything valid was taken.
std::uint64_t Follower::written() const {
    std::uint64_t records = m_box.retired_records();
    for (std::uint32_t index = 0; index < m_places.size(); ++index) {
        if (m_refused[index]) {
            records += written_to_refused(index);
        } else if (const auto head = m_box.head(index); head && head.value()) {
            records += head.value()->uses == m_places[index].uses ? m_places[index].records() : 0;
        }
    }
    return records;
}

// Returns the number of records of emptied chunks that were neither taken nor counted. `emptied` was read before the
// table: if a chunk was emptied in between, its records are counted by the next step.
std::uint64_t Follower::emptied_unseen(std::uint64_t emptied) const {
    std::uint64_t records = emptied;
    for (std::uint32_t index = 0; index < m_places.size(); ++index) {
        const ChunkPlace& place = m_places[index];
        records += m_box.mark(m_table, index).uses == place.uses ? place.records() : 0;
    }
    return records - std::min(records, known());
}

// Records that were lost before the following began are not a hole in it.
void Follower::count_unseen(std::uint64_t records, ChunkCopy& copy) {
    const std::uint64_t before = std::min(records, m_before);
    m_before -= before;
    copy.lost += before;
    copy.missing += records - before;
}

// Gives a part without records that states the losses that no other part states.
bool Follower::give_losses(std::uint64_t unseen, const Take& take) {
    ChunkCopy empty;
    empty.head.uses = 1;
    count_unseen(unseen, empty);
    return unseen == 0 || give(empty, take);
}

bool Follower::stop(const Take& take) {
    if (m_all_taken) {
        const std::uint64_t records = written();
        return give_losses(records - std::min(records, known()), take);
    }
    const std::uint64_t emptied = m_box.retired_records();
    return !m_box.read_table(m_table) || give_losses(emptied_unseen(emptied), take);
}

Follower::Step Follower::restarted(const Take& take) {
    return wake(take) && take(m_image.of_another_run()) ? Step::restarted : Step::closed;
}

// Gives the pieces, of which there is at least one, and the number of records that were emptied unseen before them.
Follower::Step Follower::give_all(std::span<Piece> pieces, std::uint64_t unseen, const Take& take) {
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.stamp < b.stamp; });
    count_unseen(unseen, pieces.front().copy);
    m_image.refresh();
    for (const Piece& piece : pieces) {
        if (!give(piece.copy, take)) {
            return Step::closed;
        }
        m_places[piece.index] = piece.copy.place;
    }
    return Step::more;
}

// Collects from all chunks except the active one. Returns how much was emptied unseen before that.
std::optional<std::uint64_t> Follower::collect_others(std::uint32_t active) {
    const std::uint64_t emptied = m_box.retired_records();
    if (!m_box.read_table(m_table)) {
        return std::nullopt;
    }
    const std::uint64_t unseen = emptied_unseen(emptied);
    for (std::uint32_t index = 0; index < m_places.size(); ++index) {
        const BlackBox::Mark mark = m_box.mark(m_table, index);
        const ChunkPlace& from = m_places[index];
        const bool changed =
            mark.uses != from.uses || mark.word != from.word || mark.emergency_position != from.emergency_end;
        if (index != active && mark.uses != 0 && changed) {
            collect(index);
        }
    }
    return unseen;
}

Follower::Step Follower::step(const Take& take) {
    const auto state =
        m_box.state(); // read before the records, so that everything that is recorded before the end is taken
    m_used = 0;
    const std::uint32_t active = m_box.active_chunk();
    if (active < m_places.size()) {
        collect(active);
    }
    // A chunk without a record delays nothing.
    const std::uint64_t latest = active == m_places.size() ? 0
                                 : m_used != 0             ? m_pieces.front().copy.place.last_stamp
                                                           : m_places[active].last_stamp;
    const std::uint64_t horizon = latest != 0 ? latest : ~std::uint64_t{0};
    const auto unseen = collect_others(active);
    if (!state || !unseen || !m_box.state()) { // what a boot writes meanwhile belongs to no run
        return restarted(take);
    }
    m_looked = true;
    const auto pieces = std::span(m_pieces).first(m_used);
    const auto later = std::partition(pieces.begin(), pieces.end(), [&](const Piece& piece) {
        return piece.index == active || piece.stamp <= horizon;
    });
    const auto given = static_cast<std::size_t>(later - pieces.begin());
    m_all_taken = pieces.empty();
    if (given != 0) {
        return give_all(pieces.first(given), *unseen, take);
    }
    if (!m_all_taken) {
        return m_box.active_chunk() == active ? Step::idle : Step::more;
    }
    if (*state == tracer::black_box::State::running) {
        return Step::idle;
    }
    return stop(take) ? Step::ended : Step::closed;
}

std::shared_ptr<trace::ByteSource> follow(BlackBox box, const trace::FollowOptions& options) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return std::make_shared<trace::ByteSource>(-1, false, std::nullopt); // every read fails
    }
    const auto followed = std::make_shared<Followed>(std::move(box), options, ends);
    return {followed, &followed->source};
}

} // namespace host::formats::memory
