// SPDX-License-Identifier: MIT
#include "fleet/loader.hpp"

#include "fleet/chunk_events.hpp"
#include "fleet/session_rows.hpp"
#include "fleet/stream.hpp"
#include "host/output/output_file.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/kernel_image.hpp"
#include "lib/crc32c.hpp"
#include "lib/result.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace host::fleet {

namespace fs = std::filesystem;

namespace {

using formats::dat::ChunkKey;
using formats::dat::Manifest;
using formats::dat::ManifestChunk;
using trace::Refusal;

// The chunks of sessions that are stored together have about this size.
constexpr std::uint64_t kSessionBytes = std::uint64_t{128} << 20;

constexpr std::chrono::seconds kKeepEvery{10};
constexpr std::chrono::milliseconds kAgain{500}; // for a session whose chunks may still come
constexpr std::chrono::milliseconds kAgainMax{10'000};
constexpr std::uint64_t kEarlyDeliveries = 4; // take 5 s
// These take 5 minutes. A limit is necessary because a server that was killed may count a message as open forever.
constexpr std::uint64_t kDeliveriesMax = 40;
constexpr std::chrono::milliseconds kNap{100}; // between two checks whether the loader is to end

// The manifest names the boot once, for all of its chunks.
ChunkKey key_of(const ManifestChunk& chunk, std::uint64_t boot_id) {
    const tracer::ChunkBegin& description = chunk.description;
    return {
        .boot_id = boot_id, .cpu = description.cpu, .chunk = description.chunk, .generation = description.generation};
}

// Returns whether these are the formats that a manifest names. An empty text is what a store without texts has.
bool may_be_used(const std::optional<std::string>& formats, const std::optional<formats::dat::ManifestFormats>& named) {
    return formats && named && (formats->empty() || lib::crc32c(std::as_bytes(std::span(*formats))) == named->crc32c);
}

// Returns the stored chunk with the key and the checksum of the list, or null.
const StoredChunk* found_in(const std::map<ChunkKey, StoredChunk>& stored, const Manifest& manifest,
                            const ManifestChunk& chunk) {
    const auto found = chunk.described ? stored.find(key_of(chunk, manifest.boot_id)) : stored.end();
    return found != stored.end() && found->second.crc32c == chunk.crc32c ? &found->second : nullptr;
}

NetworkFailure failure_at(const std::string& path, lib::Error error) {
    return {error, fmt::format("{}: {}: TMPDIR names another place for a session while it is loaded",
                               text::escaped(path), error_name(error))};
}

} // namespace

// A directory for the files of one session while its rows are made. The destructor removes it; one that a killed
// process leaves is in TMPDIR, which the system cleans.
class WorkDirectory {
  public:
    // Creates it in TMPDIR, else in the system's directory for temporary files. no_space, io.
    WorkDirectory() {
        std::error_code failed;
        const fs::path above = fs::temp_directory_path(failed);
        m_path = (failed ? fs::path("/tmp") : above) / "remora-load-XXXXXX";
        if (::mkdtemp(m_path.data()) == nullptr) {
            throw failure_at(m_path, errno == ENOSPC || errno == EDQUOT ? lib::Error::no_space : lib::Error::io);
        }
    }

    WorkDirectory(const WorkDirectory&) = delete;
    WorkDirectory& operator=(const WorkDirectory&) = delete;

    ~WorkDirectory() {
        std::error_code ignored;
        fs::remove_all(m_path, ignored);
    }

    [[nodiscard]] const std::string& path() const { return m_path; }

    // Writes a new file. name: without a directory. no_space, io.
    void write(std::string_view name, std::string_view content) const {
        const std::string path = (fs::path(m_path) / name).string();
        const auto file = output::OutputFile::create(path);
        if (!file) {
            throw failure_at(path, file.error());
        }
        file.value()->append(content);
        if (const auto closed = file.value()->close(); !closed) {
            throw failure_at(path, closed.error());
        }
    }

  private:
    std::string m_path;
};

// States what source and store know of a run.
struct Loader::Known {
    bool settled = false;               // nothing that was published before the session still comes
    std::optional<std::string> formats; // as Store::formats_of()
    bool session = false;               // the session is stored
    StoredChunks chunks;                // the chunks that are stored
};

struct Loader::Ready {
    const Message* message = nullptr;
    Run run;
    Manifest manifest;
    std::string formats; // empty: none
    std::unique_ptr<WorkDirectory> directory;
    std::uint64_t bytes = 0; // of its chunks
};

Loader::Loader(Source& source, Store& store, Options options)
    : m_source(source)
    , m_store(store)
    , m_options(std::move(options)) {}

lib::Result<void, NetworkFailure> Loader::run() {
    auto done = caught([this] { run_to_end(); });
    return !done && done.error().cause == lib::Error::closed ? lib::Result<void, NetworkFailure>() : done;
}

void Loader::run_to_end() {
    while (!stopped()) {
        m_loading = {}; // a failure has left what it loaded then
        std::vector<Message> messages;
        const auto took = caught([&] {
            persist([&] {
                messages = taken(m_source.take(m_options.batch_messages, m_options.batch_bytes, m_options.wait));
            });
        });
        for (const std::string& line : m_source.take_rejected()) {
            note_rejected(line);
        }
        taken(took);
        load(messages);
        if (messages.empty() && m_options.until_empty) {
            const auto pending = m_source.pending();
            if (pending && pending.value() == 0) {
                break;
            }
        }
    }
}

void Loader::load(std::vector<Message>& messages) {
    std::ranges::stable_sort(messages, {}, &Message::kind);
    const auto formats = std::ranges::lower_bound(messages, MessageKind::formats, {}, &Message::kind);
    const auto sessions = std::ranges::lower_bound(messages, MessageKind::session, {}, &Message::kind);
    m_kept = std::chrono::steady_clock::now();
    m_loading = messages;
    load_chunks({messages.begin(), formats});
    load_formats({formats, sessions});
    load_sessions({sessions, messages.end()});
    m_loading = {};
}

void Loader::load_chunks(std::span<Message> messages) {
    std::vector<ReadChunk> chunks; // of the first messages
    for (std::size_t i = 0; i < messages.size(); ++i) {
        auto chunk = read_chunk(messages[i]);
        if (chunk) {
            std::swap(messages[chunks.size()], messages[i]);
            chunks.push_back(std::move(chunk.value()));
        } else if (chunk.error().cause != lib::Error::corrupt) {
            throw chunk.error(); // the message is not the cause
        } else {
            reject(messages[i], chunk.error().text);
        }
    }
    if (chunks.empty()) {
        return;
    }
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        chunks[i].message = &messages[i];
    }
    add(chunks);
    acknowledge(messages.first(chunks.size()));
}

// A chunk that was delivered before may be stored; adding it again would only cost time.
void Loader::add(std::span<const ReadChunk> chunks) {
    const auto is_stored = [this](const ReadChunk& chunk) {
        if (chunk.message->deliveries <= 1) {
            return false;
        }
        const auto known = m_store.chunks_of(chunk.run);
        return known && std::ranges::any_of(known.value(), [&chunk](const StoredChunk& one) {
                   return one.key == chunk.key && one.crc32c == chunk.crc32c &&
                          one.sequence == chunk.message->sequence; // else its sequence in the stream has changed
               });
    };
    std::vector<ReadChunk> fresh;
    std::ranges::remove_copy_if(chunks, std::back_inserter(fresh), is_stored);
    m_counts.again += chunks.size() - fresh.size();
    if (fresh.empty()) {
        return;
    }
    persist([&] { taken(m_store.add_chunks(fresh)); });
    for (const ReadChunk& chunk : fresh) {
        ++m_counts.chunks;
        m_counts.events += chunk.events;
        m_counts.bytes += chunk.message->body.size();
    }
}

// The formats of a session that is stored come too late: its packed file has those that came before it, or none.
void Loader::load_formats(std::span<const Message> messages) {
    for (const Message& message : messages) {
        const auto image = message.body.size() > kFormatsBytesMax
                               ? trace::Refusal{fmt::format("it has more than {} bytes", kFormatsBytesMax)}
                               : trace::KernelImage::parse(message.body);
        if (!image) {
            reject(message, fmt::format("formats.json: {}", image.error().text));
            continue;
        }
        const Run run{
            .from = message.from, .boot_id = formats_boot_of(message.id).value_or(0), .started_s = message.started_s};
        persist([&] {
            if (taken(m_store.has_session(run))) {
                ++m_counts.again;
            } else {
                taken(m_store.add_formats(run, message.body));
            }
        });
        acknowledge({&message, 1});
    }
}

void Loader::load_sessions(std::span<const Message> messages) {
    std::deque<Ready> ready;
    for (const Message& message : messages) {
        prepare(message, ready);
        std::uint64_t bytes = 0;
        for (const Ready& one : ready) {
            bytes += one.bytes;
        }
        if (bytes >= kSessionBytes) {
            store(ready);
        }
    }
    store(ready);
}

// The source is asked first. So a chunk that another loader stores and acknowledges in between is found in the store.
// Formats are asked for before the session, because a store removes them when it has stored the session.
Loader::Known Loader::ask(const Message& message, const Run& run) {
    Known known{.settled = taken(m_source.settled_before(message.sequence)),
                .formats = taken(m_store.formats_of(run)),
                .session = taken(m_store.has_session(run)),
                .chunks = {}};
    for (const StoredChunk& chunk : taken(m_store.chunks_of(run))) {
        known.chunks.insert_or_assign(chunk.key, chunk);
    }
    return known;
}

void Loader::prepare(const Message& message, std::deque<Ready>& ready) {
    auto manifest = formats::dat::parse_manifest(message.body);
    if (!manifest) {
        return reject(message, manifest.error().text);
    }
    if (manifest->boot_id == 0 || session_message_id(manifest->boot_id) != message.id) {
        return reject(message, "its id does not name the boot of its manifest");
    }
    const Run run{.from = message.from, .boot_id = manifest->boot_id, .started_s = message.started_s};
    const bool is_being_loaded = std::ranges::any_of(
        ready, [&run](const Ready& one) { return one.run.from == run.from && one.run.boot_id == run.boot_id; });
    Known known;
    persist([&] { known = ask(message, run); });
    if (known.session) {
        ++m_counts.again;
        return acknowledge({&message, 1});
    }
    if (!may_be_used(known.formats, manifest->formats)) {
        known.formats.reset();
    }
    const bool has_formats = known.formats || !manifest->formats;
    const bool is_whole = has_formats && std::ranges::all_of(manifest->chunks, [&](const ManifestChunk& chunk) {
                              return !chunk.described || found_in(known.chunks, manifest.value(), chunk) != nullptr;
                          });
    const bool may_come = message.deliveries <= kDeliveriesMax && (!known.settled || is_early(message));
    if (is_being_loaded || (!is_whole && may_come)) {
        m_source.give_back(
            message, std::min(kAgain * static_cast<int>(std::min<std::uint64_t>(message.deliveries, 20)), kAgainMax));
        return;
    }
    ready.push_back({.message = &message,
                     .run = run,
                     .manifest = std::move(manifest.value()),
                     .formats = known.formats.value_or(""),
                     .directory = std::make_unique<WorkDirectory>()});
    if (!fetch(known.chunks, ready.back())) {
        ready.pop_back();
    }
}

// Chunks that were published after their session may not have come yet, so the session waits for some deliveries. A
// chunk that comes later is stored, but the rows of the session do not contain it, which verify shows.
bool Loader::is_early(const Message& message) {
    if (message.deliveries > kEarlyDeliveries) {
        return false;
    }
    const auto pending = m_source.pending();
    return pending && pending.value() > 1;
}

std::string Loader::image_of(const Run& run, const StoredChunk& chunk) {
    if (auto image = taken(m_store.image_of(run, chunk.key))) {
        return std::move(*image);
    }
    Message again = taken(m_source.fetch(chunk.sequence));
    if (lib::crc32c(std::as_bytes(std::span(again.body))) != chunk.crc32c) {
        throw NetworkFailure{lib::Error::not_found, "another message has its place in the stream"};
    }
    return std::move(again.body);
}

// Writes the chunks, the formats and the manifest as files. If the bytes of a chunk are gone, the session is rejected,
// and the result is false.
bool Loader::fetch(const StoredChunks& stored, Ready& one) {
    for (const ManifestChunk& chunk : one.manifest.chunks) {
        const StoredChunk* const found = found_in(stored, one.manifest, chunk);
        if (found == nullptr) {
            continue; // it is not stored, and will never be
        }
        std::string image;
        const auto fetched = caught([&] { persist([&] { image = image_of(one.run, *found); }); });
        if (!fetched && fetched.error().cause == lib::Error::not_found) {
            reject(*one.message, fmt::format("chunk {} is stored, but its bytes are in the stream no more: {}",
                                             chunk_message_id(found->key), fetched.error().text));
            return false;
        }
        taken(fetched);
        one.directory->write(chunk.file, image);
        one.bytes += image.size();
        keep();
    }
    one.directory->write(formats::dat::kManifestName, one.message->body);
    if (!one.formats.empty()) {
        one.directory->write(trace::kFormatsName, one.formats);
    }
    return true;
}

void Loader::store(std::deque<Ready>& ready) {
    if (ready.empty()) {
        return;
    }
    std::vector<ReadSession> sessions;
    std::vector<Message> messages; // without their bodies
    for (const Ready& one : ready) {
        sessions.push_back({.run = one.run,
                            .manifest = &one.manifest,
                            .directory = one.directory->path(),
                            .rows = [this, &one](const RowSink& sink) {
                                return SessionRows{.run = one.run,
                                                   .manifest = one.manifest,
                                                   .directory = one.directory->path(),
                                                   .working = [this] { keep(); }}
                                    .write(sink);
                            }});
        Message message = *one.message;
        message.body.clear();
        messages.push_back(std::move(message));
    }
    persist([&] { taken(m_store.add_sessions(sessions)); });
    m_counts.sessions += ready.size();
    ready.clear();
    acknowledge(messages);
}

void Loader::reject(const Message& message, std::string_view reason) {
    note_rejected(
        fmt::format("{} of {}.{}: {}", text::escaped(message.id), message.from.site, message.from.node, reason));
    persist([&] { taken(m_source.reject(message, reason)); });
}

void Loader::note_rejected(std::string_view line) {
    ++m_counts.rejected;
    if (m_options.report) {
        m_options.report(fmt::format("rejected: {}", line));
    }
}

void Loader::keep() {
    const auto now = std::chrono::steady_clock::now();
    if (!m_loading.empty() && now - m_kept >= kKeepEvery) {
        m_kept = now;
        m_source.keep(m_loading);
    }
}

void Loader::persist(const std::function<void()>& attempt) {
    while (true) {
        const auto done = caught(attempt);
        if (done) {
            return;
        }
        const Failure& failure = done.error();
        if (!may_succeed_later(failure.cause)) {
            throw failure;
        }
        if (m_options.report && std::exchange(m_away, failure.text) != failure.text) {
            m_options.report(fmt::format("waits: {}", failure.text));
        }
        for (auto left = m_options.wait; left.count() > 0 && !stopped(); left -= kNap) {
            std::this_thread::sleep_for(std::min(left, kNap));
        }
        if (stopped()) {
            throw NetworkFailure{lib::Error::closed, "the loader is to end"};
        }
        keep();
    }
}

} // namespace host::fleet
