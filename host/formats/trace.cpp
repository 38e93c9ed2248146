// SPDX-License-Identifier: MIT
#include "host/formats/trace.hpp"

#include "foreign/kev/kev_stream.hpp"
#include "foreign/tlog/tlog_stream.hpp"
#include "host/formats/capture/capture.hpp"
#include "host/formats/dat/record_stream.hpp"
#include "host/formats/fat/volume.hpp"
#include "host/formats/input_kind.hpp"
#include "host/formats/memory/memory.hpp"
#include "host/formats/packed/archive.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "lib/assert.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace host::formats {

namespace {

// Converts the pointer to a reader to one to a stream; an error is passed on.
template <typename Reader>
lib::Result<std::unique_ptr<trace::EventStream>> as_stream(lib::Result<std::unique_ptr<Reader>> reader) {
    if (!reader) {
        return reader.error();
    }
    return std::unique_ptr<trace::EventStream>(std::move(reader.value()));
}

// Opens the reader of each format.
lib::Result<std::unique_ptr<trace::EventStream>> open_stream(trace::InputKind kind, const trace::NamedSource& input,
                                                             const trace::OpenOptions& options,
                                                             trace::Diagnostics& diagnostics) {
    switch (kind) {
    case trace::InputKind::detect:
    case trace::InputKind::records:
        return as_stream(dat::RecordStream::of_sources(std::span(&input, 1), options, diagnostics));
    case trace::InputKind::kev:
        return as_stream(kev::KevStream::open(input, options, diagnostics));
    case trace::InputKind::tlog:
        return as_stream(tlog::TlogStream::open(input, tlog::Layout::current, options, diagnostics));
    case trace::InputKind::tlog_old:
        return as_stream(tlog::TlogStream::open(input, tlog::Layout::openmp, options, diagnostics));
    case trace::InputKind::capture:
        return as_stream(capture::open(input, options, diagnostics));
    case trace::InputKind::fat:
        return as_stream(fat::open(input, options, diagnostics));
    case trace::InputKind::packed:
        return as_stream(packed::open_stream(input, options, diagnostics));
    case trace::InputKind::memory:
        return as_stream(memory::open(input, options, diagnostics));
    }
    diagnostics.report("E-IO", {.file = input.name}, fmt::format("no reader for {} files", kind_name(kind)));
    diagnostics.unusable_input();
    return lib::Error::unsupported;
}

} // namespace

Trace::Trace(std::unique_ptr<trace::EventStream> stream, const trace::Diagnostics& diagnostics)
    : m_diagnostics(diagnostics)
    , m_stream(std::move(stream))
    , m_records(dynamic_cast<dat::RecordStream*>(m_stream.get())) {}

const dat::Manifest* Trace::manifest() const {
    return m_records != nullptr ? m_records->manifest() : nullptr;
}

const dat::SessionFiles& Trace::files() const {
    ASSERT(m_records != nullptr);
    return m_records->files();
}

const trace::KernelImage* Trace::symbols() const {
    return m_records != nullptr ? m_records->symbols() : nullptr;
}

std::string Trace::nothing_text() const {
    const std::string nothing = "no record of a known event";
    return manifest() != nullptr && !manifest()->reason.empty() ? nothing + ": " + manifest()->reason : nothing;
}

std::shared_ptr<const dat::SessionIndex> Trace::index() const {
    return m_records != nullptr ? m_records->index() : nullptr;
}

lib::Result<std::shared_ptr<trace::ByteSource>> open_source(const std::string& path, const trace::OpenOptions& options,
                                                            trace::Diagnostics& diagnostics) {
    return trace::ByteSource::open(
        path, [&] { diagnostics.note(text::escaped(path) + ": waiting for the program that writes to this pipe"); },
        options.follow.stop);
}

lib::Result<std::unique_ptr<Trace>> Trace::open(const std::string& path, const trace::OpenOptions& options,
                                                trace::Diagnostics& diagnostics,
                                                const std::shared_ptr<const dat::SessionIndex>& index) {
    if (std::error_code ignored; path != "-" && std::filesystem::is_directory(path, ignored)) {
        if (options.kind != trace::InputKind::detect && options.kind != trace::InputKind::records) {
            diagnostics.report("E-DIR", {.file = path},
                               fmt::format("a directory is a session, not a {} file: leave out --from, or name a file",
                                           kind_name(options.kind)));
            diagnostics.unusable_input();
            return lib::Error::invalid_argument;
        }
        auto session = dat::RecordStream::of_session(dat::SessionFiles(path), options, diagnostics, index);
        if (!session) {
            return session.error();
        }
        return std::unique_ptr<Trace>(new Trace(std::move(session.value()), diagnostics));
    }
    const auto source = open_source(path, options, diagnostics);
    if (!source) {
        diagnostics.report("E-IO", {.file = path}, fmt::format("cannot be opened: {}", error_name(source.error())));
        diagnostics.unusable_input();
        return source.error();
    }
    const auto bytes = options.whole_first ? trace::ByteSource::positioned(source.value()) : source;
    if (!bytes) {
        diagnostics.report("E-IO", {.file = path}, fmt::format("cannot be copied: {}", error_name(bytes.error())));
        diagnostics.unusable_input(bytes.error());
        return bytes.error();
    }
    return open(
        {.name = path == "-" ? "<stdin>" : path, .bytes = bytes.value(), .keep_open = bytes.value() != source.value()},
        options, diagnostics);
}

lib::Result<std::unique_ptr<Trace>> Trace::open(const trace::NamedSource& input, const trace::OpenOptions& options,
                                                trace::Diagnostics& diagnostics) {
    const auto detected = [&] { return options.follow.wanted ? kind_to_follow(*input.bytes) : kind_of(*input.bytes); };
    const trace::InputKind kind = options.kind == trace::InputKind::detect ? detected() : options.kind;
    const bool unmarked = options.kind == trace::InputKind::detect && kind == trace::InputKind::records;
    if (const std::string why = unmarked ? why_unknown(*input.bytes) : ""; !why.empty()) {
        diagnostics.report("E-MAGIC", {.file = input.name},
                           fmt::format("no known trace format ({}); --from FORMAT reads it all the same", why));
        return lib::Error::unsupported;
    }
    if (options.follow.wanted && kind != trace::InputKind::memory) {
        diagnostics.report("E-IO", {.file = input.name},
                           "only the memory of a machine that runs can be followed (docs/black-box.md)");
        diagnostics.unusable_input();
        return lib::Error::unsupported;
    }
    auto stream = open_stream(kind, input, options, diagnostics);
    if (!stream) {
        return stream.error();
    }
    auto trace = std::unique_ptr<Trace>(new Trace(std::move(stream.value()), diagnostics));
    trace->m_kind = kind;
    return trace;
}

} // namespace host::formats
