// SPDX-License-Identifier: MIT
// From a source into a store. A chunk is stored as it comes. A session, whose message follows its chunks, is stored
// when all chunks that it lists are, or when no other can come any more: then what is missing shows in `listed` without
// a row in `chunks`. Acknowledged means stored. A loader that ends at any instant leaves only work that is done again
// without effect.
//
//   take -> chunk:   read -> (damaged: reject) -> not stored yet: add -> acknowledge
//        -> session: all there? -> no: give back   -> yes: fetch the chunks, make the rows, add -> acknowledge
#pragma once

#include "host/fleet/source.hpp"
#include "host/fleet/store.hpp"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace host::fleet {

class Loader {
  public:
    struct Options {
        std::size_t batch_messages = 64;
        std::size_t batch_bytes = std::size_t{8} << 20;
        bool until_empty = false;                         // end when nothing is pending
        const volatile std::sig_atomic_t* stop = nullptr; // end when it is not 0
        std::function<void(std::string_view)> report{};   // a line for the user: retries, rejected messages
    };

    struct Counts {
        std::uint64_t chunks = 0;   // stored by this loader
        std::uint64_t events = 0;   // in them
        std::uint64_t bytes = 0;    // likewise
        std::uint64_t sessions = 0; // likewise
        std::uint64_t again = 0;    // delivered again, or by another way, and there already
        std::uint64_t rejected = 0;
    };

    // Both outlive the loader.
    Loader(Source& source, Store& store, Options options);
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;

    // Until it is to end. A server that is away is waited for; any other failure ends it.
    [[nodiscard]] lib::Result<void, NetworkFailure> run();

    [[nodiscard]] const Counts& counts() const { return m_counts; }

  private:
    Source& m_source;
    Store& m_store;
    Options m_options;
    Counts m_counts;
};

} // namespace host::fleet
