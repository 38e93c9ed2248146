// SPDX-License-Identifier: MIT
#include "fleet/session_publisher.hpp"

#include "fleet/session_tree.hpp"
#include "host/collector/session_directory.hpp"
#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/json.hpp"
#include "host/trace/kernel_image.hpp"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <utility>

namespace host::fleet {

namespace {

using formats::dat::ManifestChunk;

constexpr std::string_view kFormat = "remora-published";
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kManifestBytesMax = std::size_t{64} << 20;
constexpr std::size_t kChunkBytesMax = std::size_t{64} << 20; // the largest that a server can be set to take
constexpr std::size_t kProgressBytesMax = 64 * 1024;

constexpr std::int64_t kNsPerS = 1'000'000'000;

std::int64_t changed_ns(const struct stat& file) {
    return (file.st_mtim.tv_sec * kNsPerS) + file.st_mtim.tv_nsec;
}

// Removes a slash at the end, so that the names beside the directory can be formed.
std::string plain_path(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) {
        path.pop_back();
    }
    return path;
}

std::uint64_t number_of(const trace::Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string text_of(const trace::Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Reads the file of progress. The result is no object if the file cannot be read.
trace::Json load(const std::string& directory) {
    const auto text = trace::read_file(progress_file_of(directory), kProgressBytesMax);
    trace::Json json = text ? trace::Json::parse(text.value(), nullptr, false) : trace::Json();
    const bool ours = json.is_object() && text_of(json, "format") == kFormat && number_of(json, "version") == kVersion;
    return ours ? json : trace::Json();
}

void store(const std::string& directory, const NodeName& from, std::uint64_t boot_id, const Published& published) {
    const std::filesystem::path file = progress_file_of(directory);
    const std::string parent = file.parent_path().empty() ? "." : file.parent_path().string();
    const trace::Json json = {{"format", kFormat},
                              {"version", kVersion},
                              {"site", from.site},
                              {"node", from.node},
                              {"boot_id", boot_text(boot_id)},
                              {"started", static_cast<std::uint64_t>(std::max<std::int64_t>(published.started_s, 0))},
                              {"chunks", published.chunks},
                              {"differing", published.differing},
                              {"stream", published.stream},
                              {"session", published.session}};
    if (const auto saved = formats::dat::save_text(json.dump(2) + '\n', parent, file.filename().string()); !saved) {
        throw NetworkFailure{saved.error(),
                             fmt::format("{} cannot be written: {}; without it the next publisher does not know how "
                                         "far this one came",
                                         text::escaped(file.string()), error_name(saved.error()))};
    }
}

} // namespace

std::string progress_file_of(const std::string& directory) {
    return plain_path(directory) + std::string(collector::kPublishedSuffix);
}

Published published_of(const std::string& directory, const NodeName& from, std::uint64_t boot_id) {
    const trace::Json json = load(directory);
    const bool same = json.is_object() && text_of(json, "boot_id") == boot_text(boot_id) &&
                      text_of(json, "site") == from.site && text_of(json, "node") == from.node;
    if (!same) {
        return {};
    }
    const auto session = json.find("session");
    return {.chunks = number_of(json, "chunks"),
            .differing = number_of(json, "differing"),
            .session = session != json.end() && session->is_boolean() && session->get<bool>(),
            .started_s = static_cast<std::int64_t>(number_of(json, "started")),
            .stream = text_of(json, "stream")};
}

std::optional<NodeName> node_of_session(const std::string& directory) {
    const trace::Json json = load(directory);
    if (!json.is_object()) {
        return std::nullopt;
    }
    NodeName name{.site = text_of(json, "site"), .node = text_of(json, "node")};
    return is_name(name.site) && is_name(name.node) ? std::optional(std::move(name)) : std::nullopt;
}

lib::Result<void, NetworkFailure> announce_session(const std::string& directory, const NodeName& from) {
    return caught([&] {
        if (node_of_session(directory) != from) {
            store(directory, from, 0, {});
        }
    });
}

SessionPublisher::SessionPublisher(std::string directory, NodeName from, Outlet& outlet,
                                   std::function<void(std::string_view)> report)
    : m_directory(plain_path(std::move(directory)))
    , m_from(std::move(from))
    , m_outlet(outlet)
    , m_report(std::move(report)) {}

void SessionPublisher::fail(lib::Error cause, std::string_view text) const {
    throw NetworkFailure{cause, fmt::format("{}: {}", text::escaped(m_directory), text)};
}

std::size_t SessionPublisher::left() const {
    return m_manifest.chunks.size() - std::min(m_published.chunks, m_manifest.chunks.size());
}

// The stream may have been made by the first message.
void SessionPublisher::save() {
    m_published.stream = stream();
    store(m_directory, m_from, m_manifest.boot_id, m_published);
}

std::string SessionPublisher::stream() const {
    auto name = m_outlet.stream();
    if (!name) {
        fail(name.error().cause, name.error().text);
    }
    return std::move(name.value());
}

// Reads the manifest if it has changed.
void SessionPublisher::look() {
    const std::string path = m_directory + '/' + std::string(formats::dat::kManifestName);

    struct stat file {};

    if (m_looked && ::stat(path.c_str(), &file) == 0 && file.st_ino == m_inode && changed_ns(file) == m_changed_ns) {
        return;
    }
    if (::stat(path.c_str(), &file) != 0) {
        fail(lib::Error::not_found, "it has no manifest.json, so it is no session");
    }
    auto text = trace::read_file(path, kManifestBytesMax);
    if (!text) {
        fail(lib::Error::io, fmt::format("manifest.json: {}", text.error().text));
    }
    auto manifest = formats::dat::parse_manifest(text.value());
    if (!manifest) {
        fail(lib::Error::corrupt, fmt::format("manifest.json: {}", manifest.error().text));
    }
    if (manifest.value().boot_id == 0 && !manifest.value().chunks.empty()) {
        fail(lib::Error::refused, "the machine's boot id is not known, so its chunks have no names in a "
                                  "fleet: only traces with metadata can be published");
    }
    const bool first = !m_looked || manifest.value().boot_id != m_manifest.boot_id;
    m_manifest = std::move(manifest.value());
    m_text = std::move(text.value());
    m_inode = file.st_ino;
    m_changed_ns = changed_ns(file);
    m_looked = true;
    if (first) {
        m_published = published_of(m_directory, m_from, m_manifest.boot_id);
        if (m_published != Published{} && m_published.stream != stream()) {
            m_published = {.started_s = m_published.started_s}; // another stream has nothing of it
        }
        m_published_before = m_published.session;
    }
    if (m_published.chunks > m_manifest.chunks.size()) {
        m_published = {.started_s = m_published.started_s}; // another session of the same boot
    }
    if (m_published.started_s == 0) {
        m_published.started_s = started_of(m_directory, m_manifest);
    }
}

void SessionPublisher::leave_out(std::string_view file, std::string_view why) {
    m_report(fmt::format("{}/{} is not published: {}", text::escaped(m_directory), file, why));
}

std::optional<Message> SessionPublisher::read(const ManifestChunk& chunk) {
    auto body = trace::read_file(m_directory + '/' + chunk.file, kChunkBytesMax);
    if (!body) {
        ++m_published.differing;
        leave_out(chunk.file, body.error().text);
        return std::nullopt;
    }
    const auto bytes = std::as_bytes(std::span(body.value()));
    if (bytes.size() != chunk.bytes || trace::checksum(bytes, 0) != chunk.crc32c) {
        ++m_published.differing;
        leave_out(chunk.file,
                  fmt::format("it has {} bytes with the checksum {:08x}, manifest.json states {} with {:08x}: "
                              "it was changed or damaged after it was received",
                              bytes.size(), trace::checksum(bytes, 0), chunk.bytes, chunk.crc32c));
        return std::nullopt;
    }
    const auto begin = formats::dat::read_chunk_begin(bytes);
    if (!chunk.described || !begin) {
        ++m_counts.undescribed;
        leave_out(chunk.file, "it has no metadata that says which chunk it is");
        return std::nullopt;
    }
    if (begin->boot_id != m_manifest.boot_id) {
        ++m_counts.undescribed;
        leave_out(chunk.file, fmt::format("it is of boot {}, the session of {}", boot_text(begin->boot_id),
                                          boot_text(m_manifest.boot_id)));
        return std::nullopt;
    }
    const formats::dat::ChunkKey key{
        .boot_id = begin->boot_id, .cpu = begin->cpu, .chunk = begin->chunk, .generation = begin->generation};
    return message(MessageKind::chunk, chunk_message_id(key), std::move(body.value()));
}

void SessionPublisher::publish_chunks(std::size_t bytes) {
    std::vector<Message> messages;
    std::vector<std::size_t> ends; // in the list, after each message
    std::size_t total = 0;
    std::size_t next = m_published.chunks;
    const Published before = m_published;
    for (; next < m_manifest.chunks.size() && (messages.empty() || total < bytes); ++next) {
        auto message = read(m_manifest.chunks[next]);
        if (message) {
            total += message->body.size();
            messages.push_back(std::move(*message));
            ends.push_back(next + 1);
        }
    }
    std::size_t stored = 0;
    auto done = messages.empty() ? lib::Result<void, NetworkFailure>() : m_outlet.publish(messages, stored);
    m_counts.chunks += stored;
    for (std::size_t i = 0; i < stored; ++i) {
        m_counts.bytes += messages[i].body.size();
    }
    // Chunks that were left out after the last stored one are examined again.
    const bool all = done.ok();
    m_published.chunks = all ? next : stored == 0 ? before.chunks : ends[stored - 1];
    m_published.differing = all ? m_published.differing : before.differing;
    if (m_published != before) {
        save();
    }
    if (!all && done.error().cause == lib::Error::too_small) {
        fail(lib::Error::too_small, fmt::format("{}: {}", m_manifest.chunks[ends[stored] - 1].file, done.error().text));
    }
    taken(done);
}

// The session is published without texts if they cannot be: their records count more.
void SessionPublisher::publish_formats() {
    if (!m_manifest.formats) {
        return;
    }
    auto texts = formats_of(m_directory, *m_manifest.formats);
    if (!texts) {
        return leave_out(trace::kFormatsName, texts.error().text);
    }
    const Message message =
        this->message(MessageKind::formats, formats_message_id(m_manifest.boot_id), std::move(texts.value()));
    std::size_t stored = 0;
    const auto done = m_outlet.publish({&message, 1}, stored);
    if (!done && done.error().cause == lib::Error::too_small) {
        return leave_out(trace::kFormatsName, done.error().text);
    }
    taken(done);
}

void SessionPublisher::publish_manifest() {
    Message message = this->message(MessageKind::session, session_message_id(m_manifest.boot_id), m_text);
    if (message.body.size() > m_outlet.body_bytes_max()) { // without blanks the text has half the size
        message.body =
            trace::Json::parse(m_text, nullptr, false).dump(-1, ' ', false, trace::Json::error_handler_t::replace);
    }
    std::size_t stored = 0;
    if (auto done = m_outlet.publish({&message, 1}, stored); !done) {
        fail(done.error().cause, fmt::format("manifest.json: {}", done.error().text));
    }
    m_published.session = true;
    save();
}

lib::Result<bool, NetworkFailure> SessionPublisher::next(std::size_t bytes, bool closed) {
    return caught([&] {
        look();
        if (m_published.session || has_nothing()) {
            return true;
        }
        if (left() != 0) {
            publish_chunks(bytes);
        }
        if (left() == 0 && closed) {
            publish_formats();
            publish_manifest();
        }
        return left() == 0;
    });
}

SpoolPublisher::SpoolPublisher(Connect connect, std::function<void(std::string_view)> report)
    : m_connect(std::move(connect))
    , m_report(std::move(report)) {}

void SpoolPublisher::add(const std::string& directory, const NodeName& from, bool closed) {
    const auto found = std::ranges::find(m_sessions, directory, &Session::directory);
    if (found == m_sessions.end()) {
        m_sessions.push_back({.publisher = nullptr, .directory = directory, .from = from, .closed = closed});
    } else {
        found->closed = found->closed || closed;
        found->due = !found->failed;
    }
}

void SpoolPublisher::look_again() {
    for (Session& session : m_sessions) {
        session.due = session.due || (!session.closed && !session.failed);
    }
}

void SpoolPublisher::close_all() {
    for (Session& session : m_sessions) {
        session.closed = true;
        session.due = !session.failed;
    }
}

bool SpoolPublisher::any_due() const {
    return std::ranges::any_of(m_sessions, &Session::due);
}

SpoolPublisher::Step SpoolPublisher::connected() {
    if (m_outlet != nullptr) {
        return Step::more;
    }
    auto outlet = m_connect();
    if (!outlet) {
        m_why = outlet.error().text;
        return outlet.error().cause == lib::Error::unreachable ? Step::away : Step::refused;
    }
    m_outlet = std::move(outlet.value());
    return Step::more;
}

SpoolPublisher::Step SpoolPublisher::step() {
    if (!any_due()) {
        return Step::idle;
    }
    if (const Step step = connected(); step != Step::more) {
        return step;
    }
    const auto session = std::ranges::find_if(m_sessions, &Session::due);
    if (session->publisher == nullptr) {
        session->publisher = std::make_unique<SessionPublisher>(session->directory, session->from, *m_outlet, m_report);
    }
    const Step step = publish(*session);
    if (step == Step::away) {
        return step;
    }
    if (session->closed && !session->due && !session->failed) {
        if (session->publisher->published().session) {
            m_finished.push_back(session->directory);
        }
        m_sessions.erase(session);
    } else {
        m_sessions.splice(m_sessions.end(), m_sessions, session); // the others are next
    }
    return any_due() ? Step::more : Step::idle;
}

SpoolPublisher::Step SpoolPublisher::publish(Session& session) {
    SessionPublisher& publisher = *session.publisher;
    const SessionPublisher::Counts before = publisher.counts();
    const Published was = publisher.published();
    const auto done = publisher.next(kBatchBytes, session.closed);
    count(publisher, before, was.differing);
    if (done) {
        session.due = !done.value();
        const bool whole = !session.due && session.closed && publisher.published().session;
        const bool new_here = publisher.counts().chunks != 0 || !publisher.published_before();
        m_counts.sessions += whole && new_here ? 1U : 0U;
        m_counts.before += whole && !new_here ? 1U : 0U;
        return Step::more;
    }
    m_why = done.error().text;
    if (done.error().cause == lib::Error::unreachable) {
        return Step::away;
    }
    if (done.error().cause == lib::Error::not_found && !session.closed) { // the session is being created
        session.due = false;
        return Step::more;
    }
    session.due = false;
    session.failed = true;
    ++m_counts.failed;
    m_report(m_why);
    return Step::more;
}

void SpoolPublisher::count(const SessionPublisher& publisher, const SessionPublisher::Counts& before,
                           std::size_t differing) {
    const SessionPublisher::Counts& now = publisher.counts();
    m_counts.chunks += now.chunks - before.chunks;
    m_counts.bytes += now.bytes - before.bytes;
    m_counts.undescribed += now.undescribed - before.undescribed;
    m_counts.differing += publisher.published().differing - std::min(differing, publisher.published().differing);
}

std::vector<std::string> SpoolPublisher::take_finished() {
    return std::exchange(m_finished, {});
}

std::vector<std::string> SpoolPublisher::left() const {
    std::vector<std::string> directories;
    for (const Session& session : m_sessions) {
        if (session.closed || session.due || session.failed) {
            directories.push_back(session.directory);
        }
    }
    std::ranges::sort(directories);
    return directories;
}

} // namespace host::fleet
