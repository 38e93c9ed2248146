// SPDX-License-Identifier: MIT
// Implements the recorder and the published calls that record. A process has one recorder, which a lock protects,
// because any thread may log. Between processes, numbers are big-endian, as in the file: a node's events are their
// count, then whole blocks.
#include "foreign/published/tlog_recorder.hpp"

#include "foreign/published/tlog.h"
#include "foreign/published/tlog_error.hpp"
#include "foreign/tlog/kinds.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace host::compat {

namespace {

namespace tlog = formats::tlog;

using Word = std::array<std::byte, 8>;
using Block = std::array<std::byte, tlog::kBlockBytes>;

constexpr std::uint64_t kRecordsPerBlock = tlog::kBlockBytes / tlog::kRecordBytes;

bool send_double(TlogLink& link, double value) {
    Word word{};
    lib::store_be(std::span<std::byte>(word), std::bit_cast<std::uint64_t>(value));
    return link.send(word);
}

std::optional<double> receive_double(TlogLink& link) {
    Word word{};
    if (!link.receive(word)) {
        return std::nullopt;
    }
    return std::bit_cast<double>(lib::load_be<std::uint64_t>(word));
}

bool is_event(int type) {
    const auto known = [type](tlog::Table table) {
        const tlog::Role role = tlog::kind_of(table, static_cast<std::uint8_t>(type)).role;
        return role == tlog::Role::enter || role == tlog::Role::leave || role == tlog::Role::single;
    };
    return type > 0 && type <= std::numeric_limits<std::int8_t>::max() &&
           (known(tlog::Table::nine_pairs) || known(tlog::Table::fifteen_pairs));
}

bool write_block(const Block& block, std::FILE* file) {
    return std::fwrite(block.data(), 1, block.size(), file) == block.size();
}

// Calls take(block) for each block of this node's events. Returns false as soon as a call does.
bool for_each_block(std::uint16_t node, const auto& events, auto take) {
    for (std::size_t first = 0; first < events.size(); first += kRecordsPerBlock) {
        Block block{};
        for (std::size_t i = 0; i < kRecordsPerBlock && first + i < events.size(); ++i) {
            const auto& event = events[first + i];
            tlog::encode({.process = node, .type = event.type, .arg2 = event.arg2, .seconds = event.seconds},
                         std::span(block).subspan(i * tlog::kRecordBytes));
        }
        if (!take(block)) {
            return false;
        }
    }
    return true;
}

} // namespace

TlogRecorder::TlogRecorder(Clock clock, TlogPeers peers)
    : m_clock(std::move(clock))
    , m_peers(std::move(peers))
    , m_start_s(m_clock()) {}

bool TlogRecorder::start() {
    bool all = true;
    for (int pass = 0; pass < kPasses; ++pass) {
        for (TlogLink& link : m_peers.links) {
            all = all && (m_peers.node == 0 ? measure(link) : answer(link));
        }
    }
    if (!all) {
        fail("node %u: another node ended while the clocks were adjusted", unsigned{m_peers.node});
        return false;
    }
    for (TlogLink& link : m_peers.links) {
        link.limit_wait(0); // the program may run for days
    }
    append(tlog::kStart);
    return true;
}

bool TlogRecorder::measure(TlogLink& link) {
    double shortest = std::numeric_limits<double>::infinity();
    double difference = 0;
    for (int round = 0; round < kRounds; ++round) {
        const double asked = seconds();
        const std::array question{std::byte{0}};
        const auto theirs = link.send(question) ? receive_double(link) : std::nullopt;
        const double turn_around = seconds() - asked;
        if (!theirs) {
            return false;
        }
        if (turn_around < shortest) {
            shortest = turn_around;
            difference = asked + turn_around / 2 - *theirs;
        }
    }
    return send_double(link, difference);
}

bool TlogRecorder::answer(TlogLink& link) {
    std::array<std::byte, 1> question{};
    for (int round = 0; round < kRounds; ++round) {
        if (!link.receive(question) || !send_double(link, seconds())) {
            return false;
        }
    }
    const auto difference = receive_double(link);
    m_start_s -= difference.value_or(0);
    return difference.has_value();
}

bool TlogRecorder::log(int type, int arg2) {
    if (!is_event(type)) {
        fail("%d is no type of an event: 10 to 39 are", type);
        return false;
    }
    const std::uint64_t lost = m_lost;
    append(static_cast<std::uint8_t>(type), static_cast<std::uint32_t>(arg2));
    return m_lost == lost;
}

// The correction may move a node's first times a little before 0, or before each other.
void TlogRecorder::append(std::uint8_t type, std::uint32_t arg2) {
    try {
        m_events.push_back({std::max(seconds(), m_events.empty() ? 0.0 : m_events.back().seconds), arg2, type});
    } catch (const std::bad_alloc&) {
        fail("memory has run out: the event is lost");
        ++m_lost;
    }
}

bool TlogRecorder::finish(const char* file_name) {
    append(tlog::kEnd);
    const bool done = m_peers.node == 0 ? write_file(file_name) : send_events(m_peers.links.front());
    if (done && m_lost != 0) {
        fail("%llu events are lost: memory had run out", static_cast<unsigned long long>(m_lost));
    }
    return done && m_lost == 0;
}

bool TlogRecorder::flush(const char* file_name) {
    if (m_peers.node != 0) {
        return true;
    }
    std::FILE* const file = std::fopen(file_name, "wb");
    const bool written =
        file != nullptr && for_each_block(0, m_events, [file](const Block& block) { return write_block(block, file); });
    if ((file != nullptr && std::fclose(file) != 0) || !written) {
        fail("%s: %s", file_name, std::strerror(errno)); // NOLINT(concurrency-mt-unsafe): glibc's is safe enough
        return false;
    }
    return true;
}

bool TlogRecorder::send_events(TlogLink& link) {
    Word count{};
    lib::store_be(std::span<std::byte>(count), std::uint64_t{m_events.size()});
    if (!link.send(count) ||
        !for_each_block(m_peers.node, m_events, [&link](const Block& block) { return link.send(block); })) {
        fail("node %u: node 0 ended before it took the events", unsigned{m_peers.node});
        return false;
    }
    return true;
}

bool TlogRecorder::write_file(const char* file_name) {
    std::FILE* const file = std::fopen(file_name, "wb");
    bool written =
        file != nullptr && for_each_block(0, m_events, [file](const Block& block) { return write_block(block, file); });
    std::size_t missing = 0;
    for (std::size_t node = 1; written && node <= m_peers.links.size(); ++node) {
        const Copied copied = copy_events(m_peers.links[node - 1], file);
        written = copied != Copied::not_written;
        missing = copied == Copied::node_gone && missing == 0 ? node : missing;
    }
    int reason = errno;
    if (file != nullptr && std::fclose(file) != 0 && written) {
        written = false;
        reason = errno;
    }
    if (!written) {
        fail("%s: %s", file_name, std::strerror(reason)); // NOLINT(concurrency-mt-unsafe): glibc's is safe enough
    } else if (missing != 0) {
        fail("%s: node %zu ended before tlog_finalize: its last events are missing", file_name, missing);
    }
    return written && missing == 0;
}

TlogRecorder::Copied TlogRecorder::copy_events(TlogLink& link, std::FILE* file) {
    Word count{};
    if (!link.receive(count)) {
        return Copied::node_gone;
    }
    const std::uint64_t blocks = (lib::load_be<std::uint64_t>(count) + kRecordsPerBlock - 1) / kRecordsPerBlock;
    Block block{};
    for (std::uint64_t i = 0; i < blocks; ++i) {
        if (!link.receive(block)) {
            return Copied::node_gone;
        }
        if (!write_block(block, file)) {
            return Copied::not_written;
        }
    }
    return Copied::all;
}

} // namespace host::compat

namespace {

using host::compat::fail;
using host::compat::TlogRecorder;

std::mutex g_lock;
std::optional<TlogRecorder> g_recorder; // between tlog_initialize and tlog_finalize
std::string g_file_name;                // by tlog_log_filename

double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns 0 or -1, as the published calls do.
int result_of(bool success) {
    return success ? 0 : -1;
}

const char* file_name() {
    const char* const name = std::getenv("TLOG_FILE"); // NOLINT(concurrency-mt-unsafe): read only
    return !g_file_name.empty() ? g_file_name.c_str() : name != nullptr ? name : "trace.log";
}

// Calls step(recorder) if the program records.
int with_recorder(const char* call, auto step) {
    const std::lock_guard guard(g_lock);
    if (!g_recorder) {
        fail("%s without tlog_initialize", call);
        return -1;
    }
    return result_of(step(*g_recorder));
}

} // namespace

int tlog_initialize(void) {
    const std::lock_guard guard(g_lock);
    if (g_recorder) {
        fail("tlog_initialize was called before");
        return -1;
    }
    try {
        const auto meeting = host::compat::meeting_from_environment();
        auto peers = meeting ? host::compat::meet(*meeting) : std::nullopt;
        if (!peers) {
            return -1;
        }
        g_recorder.emplace(steady_seconds, std::move(*peers));
    } catch (const std::bad_alloc&) {
        fail("memory has run out");
        return -1;
    }
    if (!g_recorder->start()) {
        g_recorder.reset();
        return -1;
    }
    return 0;
}

int tlog_log(int type) {
    return tlog_log2(type, 0);
}

int tlog_log2(int type, int arg2) {
    return with_recorder("tlog_log", [&](TlogRecorder& recorder) { return recorder.log(type, arg2); });
}

int tlog_log_filename(char* name) {
    const std::lock_guard guard(g_lock);
    if (name == nullptr || *name == '\0') {
        fail("tlog_log_filename without a name");
        return -1;
    }
    try {
        g_file_name = name;
    } catch (const std::bad_alloc&) {
        fail("memory has run out");
        return -1;
    }
    return 0;
}

int tlog_flush(void) {
    return with_recorder("tlog_flush", [](TlogRecorder& recorder) { return recorder.flush(file_name()); });
}

int tlog_finalize(void) {
    return with_recorder("tlog_finalize", [](TlogRecorder& recorder) {
        const bool done = recorder.finish(file_name());
        g_recorder.reset();
        g_file_name.clear();
        return done;
    });
}
