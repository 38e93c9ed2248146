// SPDX-License-Identifier: MIT
// The order: the active chunk is copied first. Whatever is copied of the other chunks after it is older than its
// records, or newer than what was copied of it: recording has moved on meanwhile. The newer is left for the next step.
#include "host/formats/memory/follower.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
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

// The thread and the end of the stream that it writes to.
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
            if (step == Follower::Step::ended || step == Follower::Step::closed) {
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
    std::thread m_thread; // last: it uses the others
};

// The reading end is closed first: a thread that waits in send() then ends.
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
    , m_before(m_box.retired_records()) {}

// Adds what the chunk has got.
void Follower::collect(std::uint32_t index) {
    const ChunkPlace& from = m_places[index];
    if (m_used == m_pieces.size()) {
        m_pieces.emplace_back();
    }
    Piece& piece = m_pieces[m_used];
    const auto copied = m_copier.copy(index, from, Streams::decoded, piece.copy);
    if (!copied || !copied.value()) {
        return;
    }
    if (piece.copy.events() == 0) {
        // What was lost is counted in the next part that has records.
        if (piece.copy.lost == 0) {
            m_places[index] = piece.copy.place;
        }
        return;
    }
    if (from.uses != 0) {
        piece.copy.missing = std::exchange(piece.copy.lost, 0); // in the middle of what was taken
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

// Records that were ever written, the run having ended and everything that is left having been taken.
std::uint64_t Follower::written() const {
    std::uint64_t records = m_box.retired_records();
    for (std::uint32_t index = 0; index < m_places.size(); ++index) {
        const auto head = m_box.head(index);
        if (!head || (head.value() && head.value()->uses != 0 && head.value()->uses != m_places[index].uses)) {
            records += head ? std::max<std::uint64_t>(head.value()->records_held(), 1) : 1; // it did not hold
        } else if (head.value()) {
            records += head.value()->compressed
                           ? head.value()->written
                           : (m_places[index].end_bytes + m_places[index].emergency_end) / tracer::kRecordBytes;
        }
    }
    return records;
}

// A part without records that states what no other part does.
bool Follower::give_losses(const Take& take) {
    const std::uint64_t known = m_records + m_lost;
    const std::uint64_t all = written();
    ChunkCopy empty;
    empty.head.uses = 1;
    const std::uint64_t unknown = all > known ? all - known : 0;
    empty.lost = std::min(unknown, m_before);
    empty.missing = unknown - empty.lost;
    m_lost += unknown;
    m_missing += empty.missing;
    return unknown == 0 || take(m_image.preamble(empty, false));
}

// The pieces that may be given; all: none is left for the next step.
Follower::Step Follower::give_all(std::span<Piece> pieces, bool all, std::uint32_t active,
                                  tracer::black_box::State state, const Take& take) {
    if (pieces.empty() && !all) {
        return m_box.active_chunk() == active ? Step::idle : Step::more;
    }
    if (pieces.empty() && state == tracer::black_box::State::running) {
        return Step::idle;
    }
    if (pieces.empty()) {
        return give_losses(take) ? Step::ended : Step::closed;
    }
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.stamp < b.stamp; });
    m_image.refresh();
    for (const Piece& piece : pieces) {
        if (!give(piece.copy, take)) {
            return Step::closed;
        }
        m_places[piece.index] = piece.copy.place;
    }
    return Step::more;
}

Follower::Step Follower::step(const Take& take) {
    const auto state = m_box.state(); // before the records: what is recorded before the end is taken
    if (!state) {
        return Step::ended;
    }
    m_used = 0;
    const std::uint32_t active = m_box.active_chunk();
    const std::uint32_t entries = m_box.descriptor().chunks.entries;
    if (active < entries) {
        collect(active);
    }
    // A chunk without a record holds nothing back.
    const std::uint64_t latest = active == entries ? 0
                                 : m_used != 0     ? m_pieces.front().copy.place.last_stamp
                                                   : m_places[active].last_stamp;
    const std::uint64_t horizon = latest != 0 ? latest : ~std::uint64_t{0};
    if (!m_box.read_table(m_table)) {
        return Step::ended;
    }
    for (std::uint32_t index = 0; index < entries; ++index) {
        const BlackBox::Mark mark = m_box.mark(m_table, index);
        const ChunkPlace& from = m_places[index];
        const bool changed =
            mark.uses != from.uses || mark.word != from.word || mark.emergency_position != from.emergency_end;
        if (index != active && mark.uses != 0 && changed) {
            collect(index);
        }
    }
    const auto pieces = std::span(m_pieces).first(m_used);
    const auto later = std::partition(pieces.begin(), pieces.end(), [&](const Piece& piece) {
        return piece.index == active || piece.stamp <= horizon;
    });
    const auto given = static_cast<std::size_t>(later - pieces.begin());
    return give_all(pieces.first(given), given == m_used, active, *state, take);
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
