// SPDX-License-Identifier: MIT
// Session directories are a source, so that a fleet can be loaded without a server. The source changes nothing in them.
// Every loader of a directory takes all of it; the store recognizes what is stored already. session_tree.hpp states
// which directories name nodes.
#pragma once

#include "fleet/stream.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/trace/diagnostics.hpp"

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace host::fleet::local {

class DirectorySource final : public Source {
  public:
    // names: those of all sessions, where they are not empty. Else the directory names a session's node, or its
    // publisher does; else it is `otherwise`. Refused: there is no session.
    [[nodiscard]] static lib::Result<std::unique_ptr<DirectorySource>, trace::Refusal>
    open(const std::string& path, const NodeName& names, const NodeName& otherwise);

    [[nodiscard]] lib::Result<std::vector<Message>, NetworkFailure>
    take(std::size_t messages_max, std::size_t bytes_max, std::chrono::milliseconds wait) override;
    [[nodiscard]] lib::Result<void, NetworkFailure> acknowledge(std::span<const Message> messages) override;
    void give_back(const Message& message, std::chrono::milliseconds delay) override;

    // Returns a line for each file of a session that cannot be read.
    [[nodiscard]] std::vector<std::string> take_rejected() override { return std::exchange(m_rejected, {}); }

    void keep(std::span<const Message> /*messages*/) override {}

    // There are no dead letters: the session keeps the chunk, and the loader has reported what is wrong with it.
    [[nodiscard]] lib::Result<void, NetworkFailure> reject(const Message& message, std::string_view reason) override;
    [[nodiscard]] lib::Result<Message, NetworkFailure> fetch(std::uint64_t sequence) override;
    [[nodiscard]] lib::Result<bool, NetworkFailure> settled_before(std::uint64_t sequence) override;
    [[nodiscard]] lib::Result<std::uint64_t, NetworkFailure> pending() override;

  private:
    struct Session {
        std::string path;
        NodeName from;
        std::int64_t started_s = 0;
        formats::dat::Manifest manifest;
        std::string manifest_text;
    };

    // An item is one message that will be given.
    struct Item {
        std::size_t session = 0;
        MessageKind kind = MessageKind::chunk;
        std::size_t chunk = 0; // index in the manifest
    };

    DirectorySource() = default;

    void add(const std::string& path, const NodeName& names);
    void give(const Item& item);
    [[nodiscard]] lib::Result<Message, NetworkFailure> message_of(std::uint64_t sequence) const;
    [[nodiscard]] lib::Result<std::string, NetworkFailure> body_of(const Item& item) const;
    [[nodiscard]] std::string id_of(const Item& item) const;

    std::vector<Session> m_sessions;
    std::vector<Item> m_items;           // index: sequence - 1
    std::deque<std::uint64_t> m_waiting; // sequences to be given
    std::set<std::uint64_t> m_open;      // neither acknowledged nor rejected
    std::vector<std::string> m_rejected;
    std::vector<std::uint64_t> m_deliveries; // index: sequence - 1
};

} // namespace host::fleet::local
