// SPDX-License-Identifier: MIT
// Loads messages from a source into a store. A chunk is stored as it arrives. A session, whose message follows its
// chunks, is stored when all chunks that it lists are stored, or when no other chunk can arrive; a missing chunk then
// has a row in `listed` and none in `chunks`. A message is acknowledged only after it is stored. If a loader ends at
// any instant, the next one repeats some work without effect.
//
//   take -> chunk:   read -> damaged: reject
//        |                -> add -> acknowledge
//        -> formats: as a chunk
//        -> session: chunks or formats still come -> give back
//                    all there -> fetch the chunks, make the rows, add -> acknowledge
#pragma once

#include "fleet/store.hpp"
#include "fleet/stream.hpp"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet {

class Loader {
  public:
    struct Options {
        std::size_t batch_messages = 512;
        std::size_t batch_bytes = std::size_t{32} << 20;
        bool until_empty = false;                         // ends when nothing is pending
        const volatile std::sig_atomic_t* stop = nullptr; // ends when it is not 0; null: never
        std::chrono::milliseconds wait{1000};             // for the first message, and between attempts
        std::function<void(std::string_view)> report{};   // called with a line for the user: a server cannot be
                                                          // reached, a rejection
    };

    struct Counts {
        std::uint64_t chunks = 0;   // stored by this loader
        std::uint64_t events = 0;   // in these chunks
        std::uint64_t bytes = 0;    // stored by this loader
        std::uint64_t sessions = 0; // stored by this loader
        std::uint64_t again = 0;    // delivered again although stored
        std::uint64_t rejected = 0; // includes what the source left out
    };

    // Source and store must outlive the loader.
    Loader(Source& source, Store& store, Options options);
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;

    // Loads until it is to end. If a server cannot be reached, run() waits for it; any other failure ends it.
    [[nodiscard]] lib::Result<void, NetworkFailure> run();

    [[nodiscard]] const Counts& counts() const { return m_counts; }

  private:
    using StoredChunks = std::map<formats::dat::ChunkKey, StoredChunk>;
    struct Known;
    struct Ready; // a session whose chunks are at hand

    // What fails in these is thrown.
    void run_to_end();
    void load(std::vector<Message>& messages);
    void load_chunks(std::span<Message> messages);
    void add(std::span<const ReadChunk> chunks);
    void load_formats(std::span<const Message> messages);
    void load_sessions(std::span<const Message> messages);
    [[nodiscard]] Known ask(const Message& message, const Run& run);
    void prepare(const Message& message, std::deque<Ready>& ready);
    [[nodiscard]] bool fetch(const StoredChunks& stored, Ready& one);
    void store(std::deque<Ready>& ready);
    void note_rejected(std::string_view line);
    void reject(const Message& message, std::string_view reason);
    [[nodiscard]] bool is_early(const Message& message);
    [[nodiscard]] std::string image_of(const Run& run, const StoredChunk& chunk);

    // Repeats the attempt while a server cannot be reached, and keeps the messages that are being loaded reserved for
    // this loader. closed: the loader is to end, and the attempt has not succeeded.
    void persist(const std::function<void()>& attempt);

    void acknowledge(std::span<const Message> messages) {
        persist([&] { taken(m_source.acknowledge(messages)); });
    }

    void keep();

    [[nodiscard]] bool stopped() const { return m_options.stop != nullptr && *m_options.stop != 0; }

    Source& m_source;
    Store& m_store;
    Options m_options;
    Counts m_counts;
    std::span<const Message> m_loading; // must not be given to another loader
    std::chrono::steady_clock::time_point m_kept;
    std::string m_away; // the last report of a server that cannot be reached
};

} // namespace host::fleet
