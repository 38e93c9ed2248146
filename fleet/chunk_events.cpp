// SPDX-License-Identifier: MIT
#include "fleet/chunk_events.hpp"

#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "lib/crc32c.hpp"
#include "tracer/chunk/chunk_seal.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace host::fleet {

namespace {

using formats::dat::ChunkKey;
using trace::Event;

// The reader takes files, so the bytes are put into a file in memory. Returns null if none can be created.
std::shared_ptr<trace::ByteSource> source_of(const std::string& body) {
    const int descriptor = ::memfd_create("chunk", MFD_CLOEXEC);
    if (descriptor < 0) {
        return nullptr;
    }
    auto source = std::make_shared<trace::ByteSource>(descriptor, true, body.size());
    for (std::size_t done = 0; done < body.size();) {
        const ssize_t written = ::write(descriptor, body.data() + done, body.size() - done);
        if (written <= 0) {
            return nullptr;
        }
        done += static_cast<std::size_t>(written);
    }
    return source;
}

// Calls use() for each run of events in a batch that are not metadata.
template <typename Use>
void use_events(std::span<const Event> batch, Use use) {
    while (!batch.empty()) {
        const auto begin = std::ranges::find(batch, false, &Event::metadata);
        const auto end = std::find_if(begin, batch.end(), [](const Event& event) { return event.metadata; });
        if (begin != end) {
            use(std::span(begin, end));
        }
        batch = std::span(end, batch.end());
    }
}

[[noreturn]] void refuse(std::string text) {
    throw Failure{lib::Error::corrupt, std::move(text)};
}

template <typename Use>
trace::TraceFacts read(const Message& message, Use use) {
    const auto bytes = source_of(message.body);
    if (bytes == nullptr) {
        throw Failure{lib::Error::no_space, "no memory for a chunk"};
    }
    std::string damage; // the first; other remarks do not refuse the chunk
    const trace::Diagnostics* counted = nullptr;
    trace::Diagnostics diagnostics([&damage, &counted](std::string_view line) {
        if (damage.empty() && counted->damaged()) {
            damage = line;
        }
    });
    counted = &diagnostics;
    const trace::OpenOptions options{.find_kernel = false, .kind = trace::InputKind::records};
    const auto trace =
        formats::Trace::open({.name = message.id, .bytes = bytes, .keep_open = true}, options, diagnostics);
    if (trace) {
        for (auto batch = trace.value()->next_batch(); !batch.empty(); batch = trace.value()->next_batch()) {
            use_events(batch, use);
        }
        diagnostics.finish();
    }
    if (!trace || diagnostics.damaged()) {
        refuse(damage.empty() ? "no chunk" : damage);
    }
    return trace.value()->facts();
}

ReadChunk chunk_in(const Message& message) {
    const auto key = chunk_key_of(message.id);
    if (!key || key->boot_id == 0) {
        refuse("its id does not name a chunk of a known boot");
    }
    ReadChunk chunk{.message = &message,
                    .run = {.from = message.from, .boot_id = key->boot_id, .started_s = message.started_s},
                    .key = *key,
                    .description = {},
                    .events = 0,
                    .crc32c = lib::crc32c(std::as_bytes(std::span(message.body))),
                    .first_ticks = {},
                    .last_ticks = {}};
    const auto facts = read(message, [&chunk](std::span<const Event> events) { chunk.events += events.size(); });
    if (facts.chunks.size() != 1 || !facts.chunks.front().described) {
        refuse(fmt::format("{} chunks with a header are in it, not one", facts.chunks.size()));
    }
    const trace::ChunkReport& report = facts.chunks.front();
    chunk.description = report.description;
    const ChunkKey found{.boot_id = report.description.boot_id,
                         .cpu = report.description.cpu,
                         .chunk = report.description.chunk,
                         .generation = report.description.generation};
    if (found != *key) {
        refuse(fmt::format("its header is that of another chunk, {}", chunk_message_id(found)));
    }
    if (report.first_stamp && report.last_stamp) {
        chunk.first_ticks = report.first_stamp->value;
        chunk.last_ticks = report.last_stamp->value;
    }
    return chunk;
}

} // namespace

lib::Result<ReadChunk, Failure> read_chunk(const Message& message) {
    return caught([&] { return chunk_in(message); });
}

lib::Result<void, Failure> for_each_event(const ReadChunk& chunk,
                                          const std::function<void(std::span<const Event>)>& use) {
    return caught([&] { read(*chunk.message, [&use](std::span<const Event> events) { use(events); }); });
}

} // namespace host::fleet
