// SPDX-License-Identifier: MIT
// A stream and a store in memory for the loader, which outlive it, as servers do. They fail at one call that the test
// chooses: before it has an effect, or after it, when only the answer is lost. Invariants: a message is acknowledged
// only if the store has what is in it; a session's node comes last; what a chunk or a session is made of is always the
// same.
#pragma once

#include "fleet/store.hpp"
#include "fleet/stream.hpp"
#include "host/trace/byte_source.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support::fleet {

using host::fleet::Message;
using host::fleet::NetworkFailure;
using host::fleet::ReadChunk;
using host::fleet::ReadSession;
using host::fleet::Run;
using host::fleet::StoredChunk;
using host::fleet::Table;

// Counts the calls of stream and store together.
struct Failures {
    enum class Kind : std::uint8_t { before, after };

    std::uint64_t at = 0; // the first call is 1; 0: none
    Kind kind = Kind::before;
    lib::Error error = lib::Error::unreachable;
    std::uint64_t calls = 0;

    // Returns what `effect` returns, unless this call is the one that fails.
    template <typename Value>
    lib::Result<Value, NetworkFailure> call(const std::function<Value()>& effect) {
        const bool fails = ++calls == at;
        if (fails && kind == Kind::before) {
            return NetworkFailure{error, "the server is away"};
        }
        Value value = effect();
        if (fails) {
            return NetworkFailure{error, "the answer is lost"};
        }
        return value;
    }
};

class FakeStore final : public host::fleet::Store {
  public:
    explicit FakeStore(Failures& failures)
        : m_failures(failures) {}

    lib::Result<void, NetworkFailure> prepare() override { return {}; }

    lib::Result<std::vector<StoredChunk>, NetworkFailure> chunks_of(const Run& run) override {
        return m_failures.call<std::vector<StoredChunk>>([&] {
            std::vector<StoredChunk> found;
            for (const auto& [id, chunk] : chunks) {
                if (chunk.key.boot_id == run.boot_id) {
                    found.push_back(chunk);
                }
            }
            return found;
        });
    }

    lib::Result<bool, NetworkFailure> has_session(const Run& run) override {
        return m_failures.call<bool>([&] { return sessions.contains(run.boot_id); });
    }

    lib::Result<void, NetworkFailure> add_chunks(std::span<const ReadChunk> added) override {
        return done(m_failures.call<std::monostate>([&] {
            for (const ReadChunk& chunk : added) {
                const auto known = chunks.find(chunk.message->id);
                EXPECT_TRUE(known == chunks.end() || known->second.crc32c == chunk.crc32c);
                chunks[chunk.message->id] = {
                    .key = chunk.key, .sequence = chunk.message->sequence, .crc32c = chunk.crc32c};
                events[chunk.message->id] = chunk.events;
            }
            return std::monostate{};
        }));
    }

    lib::Result<void, NetworkFailure> add_formats(const Run& run, std::string_view text) override {
        return done(m_failures.call<std::monostate>([&] {
            formats[run.boot_id] = text;
            return std::monostate{};
        }));
    }

    lib::Result<std::optional<std::string>, NetworkFailure> formats_of(const Run& run) override {
        return m_failures.call<std::optional<std::string>>([&] {
            const auto found = formats.find(run.boot_id);
            return found == formats.end() ? std::nullopt : std::optional(found->second);
        });
    }

    lib::Result<void, NetworkFailure> add_session(const ReadSession& session) override {
        return done(m_failures.call<std::monostate>([&] {
            const auto texts = host::trace::read_file(session.directory + "/formats.json", 1 << 20);
            packed_formats = texts ? texts.value() : "none";
            std::vector<std::pair<Table, std::string>> rows;
            EXPECT_TRUE(session.rows([&rows](Table table, std::span<const host::sql::Cell> cells) {
                EXPECT_EQ(cells.size(), host::fleet::columns_of(table).size());
                rows.emplace_back(table, text_of(cells));
            }));
            EXPECT_TRUE(!rows.empty() && rows.back().first == Table::nodes);
            const auto known = sessions.find(session.run.boot_id);
            EXPECT_TRUE(known == sessions.end() || known->second == rows);
            sessions[session.run.boot_id] = rows;
            formats.erase(session.run.boot_id);
            return std::monostate{};
        }));
    }

    lib::Result<std::optional<std::string>, NetworkFailure>
    image_of(const Run& /*run*/, const host::formats::dat::ChunkKey& /*key*/) override {
        return std::optional<std::string>();
    }

    lib::Result<host::fleet::Answer, NetworkFailure> query(const std::string& /*statement*/) override {
        return host::fleet::Answer{};
    }

    std::string quoted(std::string_view text) const override { return std::string(text); }

    [[nodiscard]] bool has(const Message& message) const {
        if (message.kind == host::fleet::MessageKind::chunk) {
            return chunks.contains(message.id);
        }
        const auto formats_of_boot = host::fleet::formats_boot_of(message.id);
        const auto boot = formats_of_boot ? formats_of_boot : host::fleet::session_boot_of(message.id);
        return sessions.contains(boot.value_or(0)) || formats.contains(formats_of_boot.value_or(0));
    }

    std::map<std::string, StoredChunk> chunks;
    std::map<std::string, std::uint64_t> events;
    std::map<std::uint64_t, std::vector<std::pair<Table, std::string>>> sessions;
    std::map<std::uint64_t, std::string> formats; // of sessions that are not stored
    std::string packed_formats;                   // formats.json of the session that was stored last, or "none"

  private:
    static lib::Result<void, NetworkFailure> done(const lib::Result<std::monostate, NetworkFailure>& outcome) {
        return outcome ? lib::Result<void, NetworkFailure>() : outcome.error();
    }

    static std::string text_of(std::span<const host::sql::Cell> cells) {
        std::string text;
        for (const host::sql::Cell& cell : cells) {
            text += cell.text() ? std::string(*cell.text()) : cell.number() ? std::to_string(*cell.number()) : "NULL";
            text += '|';
        }
        return text;
    }

    Failures& m_failures;
};

class FakeStream final : public host::fleet::Source {
  public:
    FakeStream(Failures& failures, const FakeStore& store)
        : m_failures(failures)
        , m_store(store) {}

    void publish(Message message) {
        message.sequence = all.size() + 1;
        all.push_back(std::move(message));
        m_waiting.insert(all.size());
    }

    lib::Result<std::vector<Message>, NetworkFailure> take(std::size_t messages_max, std::size_t /*bytes_max*/,
                                                           std::chrono::milliseconds /*wait*/) override {
        return m_failures.call<std::vector<Message>>([&] {
            std::vector<Message> messages;
            if (m_waiting.empty()) { // also what was on its way when an answer was lost
                m_delayed.clear();
                give_again();
            }
            while (messages.size() < messages_max && !m_waiting.empty()) {
                const std::uint64_t sequence = reversed ? *m_waiting.rbegin() : *m_waiting.begin();
                m_waiting.erase(sequence);
                Message message = all[sequence - 1];
                message.deliveries = ++m_deliveries[sequence];
                messages.push_back(std::move(message));
            }
            return messages;
        });
    }

    lib::Result<void, NetworkFailure> acknowledge(std::span<const Message> messages) override {
        const auto outcome = m_failures.call<std::monostate>([&] {
            for (const Message& message : messages) {
                EXPECT_TRUE(m_store.has(message)) << message.id << " is acknowledged, and not stored";
                settled.insert(message.sequence);
            }
            return std::monostate{};
        });
        return outcome ? lib::Result<void, NetworkFailure>() : outcome.error();
    }

    void give_back(const Message& message, std::chrono::milliseconds /*delay*/) override {
        m_delayed.insert(message.sequence);
    }

    void keep(std::span<const Message> /*messages*/) override {}

    lib::Result<void, NetworkFailure> reject(const Message& message, std::string_view reason) override {
        const auto outcome = m_failures.call<std::monostate>([&] {
            dead[message.id] = reason;
            settled.insert(message.sequence);
            return std::monostate{};
        });
        return outcome ? lib::Result<void, NetworkFailure>() : outcome.error();
    }

    lib::Result<Message, NetworkFailure> fetch(std::uint64_t sequence) override {
        if (gone.contains(sequence)) {
            return NetworkFailure{lib::Error::not_found, "deleted"};
        }
        return m_failures.call<Message>([&] { return all.at(sequence - 1); });
    }

    lib::Result<bool, NetworkFailure> settled_before(std::uint64_t sequence) override {
        if (const auto others = std::exchange(meanwhile, nullptr)) {
            others();
        }
        return m_failures.call<bool>([&] {
            std::uint64_t floor = 1;
            while (settled.contains(floor)) {
                ++floor;
            }
            return floor >= sequence;
        });
    }

    lib::Result<std::uint64_t, NetworkFailure> pending() override {
        return m_failures.call<std::uint64_t>([&]() -> std::uint64_t { return all.size() - settled.size(); });
    }

    bool reversed = false; // the last message first
    std::vector<Message> all;
    std::set<std::uint64_t> settled; // acknowledged or rejected
    std::set<std::uint64_t> gone;    // what the stream does not have any more
    std::map<std::string, std::string> dead;
    std::function<void()> meanwhile; // what another loader does just before the next settled_before()

  private:
    // Ends the time that a loader has for them.
    void give_again() {
        for (std::uint64_t sequence = 1; sequence <= all.size(); ++sequence) {
            if (!settled.contains(sequence)) {
                m_waiting.insert(sequence);
            }
        }
    }

    Failures& m_failures;
    const FakeStore& m_store;
    std::set<std::uint64_t> m_waiting;
    std::set<std::uint64_t> m_delayed; // given back; to be given after the others
    std::map<std::uint64_t, std::uint64_t> m_deliveries;
};

} // namespace support::fleet
