// SPDX-License-Identifier: MIT
#include "fleet/local/directory_source.hpp"

#include "fleet/session_publisher.hpp"
#include "fleet/session_tree.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace host::fleet::local {

namespace {

namespace fs = std::filesystem;
using formats::dat::ManifestChunk;

const std::string& first_of(const std::string& one, const std::string& other, const std::string& last) {
    return !one.empty() ? one : !other.empty() ? other : last;
}

constexpr std::size_t kFileBytesMax = std::size_t{1} << 30;

} // namespace

lib::Result<std::unique_ptr<DirectorySource>, trace::Refusal>
DirectorySource::open(const std::string& path, const NodeName& names, const NodeName& otherwise) {
    std::unique_ptr<DirectorySource> source(new DirectorySource());
    for (const FoundSession& found : sessions_below(path)) {
        const NodeName published = node_of_session(found.path).value_or(otherwise);
        source->add(found.path, {.site = first_of(names.site, found.names.site, published.site),
                                 .node = first_of(names.node, found.names.node, published.node)});
    }
    if (source->m_sessions.empty() && !source->m_rejected.empty()) {
        return trace::Refusal{source->m_rejected.front()};
    }
    if (source->m_sessions.empty()) {
        return trace::Refusal{fmt::format("{}: no session is in it: neither a manifest.json nor directories with one",
                                          text::escaped(path))};
    }
    return source;
}

void DirectorySource::add(const std::string& path, const NodeName& names) {
    const std::string file = (fs::path(path) / formats::dat::kManifestName).string();
    auto text = trace::read_file(file, kFileBytesMax);
    auto manifest = text ? formats::dat::parse_manifest(text.value()) : trace::Refusal{text.error().text};
    if (!manifest) {
        m_rejected.push_back(fmt::format("{}: {}", text::escaped(file), manifest.error().text));
        return;
    }
    Session session{.path = path,
                    .from = names,
                    .started_s = started_of(path, manifest.value()),
                    .manifest = std::move(manifest.value()),
                    .manifest_text = std::move(text.value())};
    for (std::size_t chunk = 0; chunk <= session.manifest.chunks.size(); ++chunk) {
        if (chunk == session.manifest.chunks.size() || session.manifest.chunks[chunk].described) {
            m_items.push_back({.session = m_sessions.size(), .chunk = chunk});
            m_waiting.push_back(m_items.size());
            m_open.insert(m_items.size());
        }
    }
    m_deliveries.resize(m_items.size());
    m_sessions.push_back(std::move(session));
}

lib::Result<Message, NetworkFailure> DirectorySource::message_of(std::uint64_t sequence) const {
    const Item& item = m_items[sequence - 1];
    const Session& session = m_sessions[item.session];
    Message message{.from = session.from,
                    .kind = MessageKind::session,
                    .id = session_message_id(session.manifest.boot_id),
                    .started_s = session.started_s,
                    .body = {},
                    .sequence = sequence,
                    .deliveries = m_deliveries[sequence - 1],
                    .handle = sequence};
    if (item.chunk == session.manifest.chunks.size()) {
        message.body = session.manifest_text;
        return message;
    }
    const ManifestChunk& chunk = session.manifest.chunks[item.chunk];
    message.kind = MessageKind::chunk;
    message.id = chunk_message_id({.boot_id = session.manifest.boot_id,
                                   .cpu = chunk.description.cpu,
                                   .chunk = chunk.description.chunk,
                                   .generation = chunk.description.generation});
    const std::string path = (fs::path(session.path) / chunk.file).string();
    auto bytes = trace::read_file(path, kFileBytesMax);
    if (!bytes) {
        return NetworkFailure{bytes.error().cause, fmt::format("{}: {}", text::escaped(path), bytes.error().text)};
    }
    message.body = std::move(bytes.value());
    return message;
}

lib::Result<std::vector<Message>, NetworkFailure> DirectorySource::take(std::size_t messages_max, std::size_t bytes_max,
                                                                        std::chrono::milliseconds /*wait*/) {
    std::vector<Message> messages;
    for (std::size_t bytes = 0; messages.size() < messages_max && bytes < bytes_max && !m_waiting.empty();) {
        const std::uint64_t sequence = m_waiting.front();
        m_waiting.pop_front();
        ++m_deliveries[sequence - 1];
        auto message = message_of(sequence);
        if (!message) {
            m_rejected.push_back(message.error().text);
            m_open.erase(sequence); // the chunk cannot be loaded; the manifest lists it as missing
            continue;
        }
        bytes += message.value().body.size();
        messages.push_back(std::move(message.value()));
    }
    return messages;
}

lib::Result<void, NetworkFailure> DirectorySource::acknowledge(std::span<const Message> messages) {
    for (const Message& message : messages) {
        m_open.erase(message.sequence);
    }
    return {};
}

void DirectorySource::give_back(const Message& message, std::chrono::milliseconds /*delay*/) {
    m_waiting.push_back(message.sequence);
}

lib::Result<void, NetworkFailure> DirectorySource::reject(const Message& message, std::string_view /*reason*/) {
    m_open.erase(message.sequence);
    return {};
}

lib::Result<Message, NetworkFailure> DirectorySource::fetch(std::uint64_t sequence) {
    if (sequence == 0 || sequence > m_items.size()) {
        return NetworkFailure{lib::Error::not_found, "it came from another place"};
    }
    return message_of(sequence);
}

lib::Result<bool, NetworkFailure> DirectorySource::settled_before(std::uint64_t sequence) {
    return m_open.empty() || *m_open.begin() >= sequence;
}

lib::Result<std::uint64_t, NetworkFailure> DirectorySource::pending() {
    return m_open.size();
}

} // namespace host::fleet::local
