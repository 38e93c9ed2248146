// SPDX-License-Identifier: MIT
#include "fleet/local/directory_source.hpp"

#include "fleet/session_publisher.hpp"
#include "fleet/session_tree.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/kernel_image.hpp"

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
    for (std::size_t chunk = 0; chunk < session.manifest.chunks.size(); ++chunk) {
        if (session.manifest.chunks[chunk].described) {
            give({.session = m_sessions.size(), .kind = MessageKind::chunk, .chunk = chunk});
        }
    }
    if (session.manifest.formats) {
        give({.session = m_sessions.size(), .kind = MessageKind::formats});
    }
    give({.session = m_sessions.size(), .kind = MessageKind::session});
    m_deliveries.resize(m_items.size());
    m_sessions.push_back(std::move(session));
}

void DirectorySource::give(const Item& item) {
    m_items.push_back(item);
    m_waiting.push_back(m_items.size());
    m_open.insert(m_items.size());
}

lib::Result<std::string, NetworkFailure> DirectorySource::body_of(const Item& item) const {
    const Session& session = m_sessions[item.session];
    if (item.kind == MessageKind::session) {
        return session.manifest_text;
    }
    const bool is_chunk = item.kind == MessageKind::chunk;
    const fs::path path = fs::path(session.path) /
                          (is_chunk ? session.manifest.chunks[item.chunk].file : std::string(trace::kFormatsName));
    auto body =
        is_chunk ? trace::read_file(path.string(), kFileBytesMax) : formats_of(session.path, *session.manifest.formats);
    if (!body) {
        return NetworkFailure{body.error().cause,
                              fmt::format("{}: {}", text::escaped(path.string()), body.error().text)};
    }
    return body;
}

std::string DirectorySource::id_of(const Item& item) const {
    const formats::dat::Manifest& manifest = m_sessions[item.session].manifest;
    switch (item.kind) {
    case MessageKind::chunk: {
        const tracer::ChunkBegin& chunk = manifest.chunks[item.chunk].description;
        return chunk_message_id(
            {.boot_id = manifest.boot_id, .cpu = chunk.cpu, .chunk = chunk.chunk, .generation = chunk.generation});
    }
    case MessageKind::formats:
        return formats_message_id(manifest.boot_id);
    case MessageKind::session:
        break;
    }
    return session_message_id(manifest.boot_id);
}

lib::Result<Message, NetworkFailure> DirectorySource::message_of(std::uint64_t sequence) const {
    const Item& item = m_items[sequence - 1];
    const Session& session = m_sessions[item.session];
    auto body = body_of(item);
    if (!body) {
        return body.error();
    }
    return Message{.from = session.from,
                   .kind = item.kind,
                   .id = id_of(item),
                   .started_s = session.started_s,
                   .body = std::move(body.value()),
                   .sequence = sequence,
                   .deliveries = m_deliveries[sequence - 1],
                   .handle = sequence};
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
