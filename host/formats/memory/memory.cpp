// SPDX-License-Identifier: MIT
#include "host/formats/memory/memory.hpp"

#include "host/formats/memory/chunk_copy.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace host::formats::memory {

// The order: the active chunk is copied first. Whatever is copied of the other chunks after it is older than its
// records, or newer than what was copied of it: recording has moved on meanwhile. The newer is left for the next step.

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
    , m_refused(m_places.size())
    , m_before(m_box.retired_records()) {}

// Adds what the chunk has got.
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
        // What was lost is counted in the next part that has records.
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

// Counts the records of a refused chunk: as many as its head says, and at least one more than were taken.
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

// Records that were ever written, everything that holds having been taken.
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

// Records of emptied chunks that were neither taken nor counted. `emptied` was read before the table: of a chunk that
// was emptied in between, it is known at the next look.
std::uint64_t Follower::emptied_unseen(std::uint64_t emptied) const {
    std::uint64_t records = emptied;
    for (std::uint32_t index = 0; index < m_places.size(); ++index) {
        const ChunkPlace& place = m_places[index];
        records += m_box.mark(m_table, index).uses == place.uses ? place.records() : 0;
    }
    return records - std::min(records, known());
}

// What was lost before the following began is no hole in it.
void Follower::count_unseen(std::uint64_t records, ChunkCopy& copy) {
    const std::uint64_t before = std::min(records, m_before);
    m_before -= before;
    copy.lost += before;
    copy.missing += records - before;
}

// A part without records that states what no other part does.
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

// Gives them, and what was emptied unseen before them. There is one at least.
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

// Collects from all chunks but the active one. How much was emptied unseen before that.
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
    const auto state = m_box.state(); // before the records: what is recorded before the end is taken
    m_used = 0;
    const std::uint32_t active = m_box.active_chunk();
    if (active < m_places.size()) {
        collect(active);
    }
    // A chunk without a record holds nothing back.
    const std::uint64_t latest = active == m_places.size() ? 0
                                 : m_used != 0             ? m_pieces.front().copy.place.last_stamp
                                                           : m_places[active].last_stamp;
    const std::uint64_t horizon = latest != 0 ? latest : ~std::uint64_t{0};
    const auto unseen = collect_others(active);
    if (!state || !unseen || !m_box.state()) { // what a boot writes meanwhile is of no run
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

namespace {

class Snapshot {
  public:
    Snapshot(const BlackBox& box, std::string name, trace::Diagnostics& diagnostics)
        : m_box(box)
        , m_name(std::move(name))
        , m_diagnostics(diagnostics)
        , m_copier(box)
        , m_image(box) {}

    // Appends every chunk that holds, the oldest first: what a chunk that is left out had is missing before the next
    // one. no_space, io: of the spool.
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
    // Recording goes round: the oldest chunk is the one after the active. If none is active, those that were used less
    // often are older.
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
        // Chunks do not overlap, so all of them together are no larger than the arena.
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

    // At least: its head may not hold, and what a compact stream has, only the stream says.
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
    std::uint64_t m_missing = 0; // records of chunks that were left out, and not yet stated
    std::uint64_t m_bytes = 0;   // of the chunks so far
    std::optional<std::uint32_t> m_last_left_out;
    std::optional<lib::Ticks> m_stamp; // of the first record of the chunk before
    bool m_disordered = false;         // a chunk begins before the one in front of it
};

// A machine that was just started has no black box yet.
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
    if (options.follow.wanted) {
        const trace::NamedSource followed{
            .name = name, .bytes = follow(std::move(box.value()), options.follow), .followed = true};
        return dat::RecordStream::of_sources(std::span(&followed, 1), options, diagnostics);
    }
    auto spool = trace::Spool::create();
    if (!spool) {
        return unusable(input.name, spool.error(), diagnostics);
    }
    if (const auto taken = Snapshot(box.value(), input.name, diagnostics).take(spool.value()); !taken) {
        return unusable(input.name, taken.error(), diagnostics);
    }
    if (spool.value().size_bytes() == 0) {
        diagnostics.report("E-EMPTY", {.file = input.name}, "no chunk of the black box holds a record");
        return lib::Error::corrupt;
    }
    const trace::NamedSource records{.name = name, .bytes = spool.value().take(), .keep_open = true};
    return dat::RecordStream::of_sources(std::span(&records, 1), options, diagnostics);
}

} // namespace host::formats::memory
