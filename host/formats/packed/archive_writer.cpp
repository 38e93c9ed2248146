// SPDX-License-Identifier: MIT
// Cuts files into blocks. No block extends from one chunk to the next, so that each has one processor.
#include "host/formats/packed/archive.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "tracer/names/metadata.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace host::formats::packed {

namespace {

// A chunk that describes itself cannot be used without its beginning, and a compact stream cannot be used without
// everything before it. A chunk whose description cannot be read may be either.
void describe(std::span<const std::byte> first_block, BlockHeader& header) {
    if (first_block.size() < tracer::kRecordBytes || !dat::begins_chunk(tracer::decode_record(first_block))) {
        return;
    }
    const auto description = dat::read_chunk_begin(first_block);
    const bool plain = description && description->encoding != tracer::Encoding::compact;
    header.flags = plain ? kNeedsFirst : kNeedsAll;
    header.cpu = description ? description->cpu : kNoProcessor;
}

} // namespace

ArchiveWriter::ArchiveWriter(Sink sink, Progress progress)
    : m_sink(std::move(sink))
    , m_progress(std::move(progress))
    , m_raw(kRawBytesMax) {}

lib::Result<void, trace::Refusal> ArchiveWriter::write(std::span<const FileToPack> files) {
    write_table(files);
    for (const FileToPack& file : files) {
        if (const auto written = write_file(file); !written) {
            return trace::Refusal{fmt::format("{}: {}", text::escaped(file.name), error_name(written.error()))};
        }
        ++m_file;
    }
    write_block({.content = Content::end, .file = m_file, .segment = m_segment}, {});
    return {};
}

void ArchiveWriter::write_table(std::span<const FileToPack> files) {
    std::vector<std::byte> table;
    const auto put = [&]<typename Number>(Number value) {
        table.resize(table.size() + sizeof value);
        lib::store_le(std::span(table).last(sizeof value), value);
    };
    put(static_cast<std::uint32_t>(files.size()));
    for (const FileToPack& file : files) {
        put(file.size_bytes());
        put(static_cast<std::uint16_t>(file.records ? 1 : 0));
        put(static_cast<std::uint16_t>(file.name.size()));
        const auto name = std::as_bytes(std::span(file.name));
        table.insert(table.end(), name.begin(), name.end());
    }
    // A long table needs several blocks, as a long file does.
    BlockHeader header{.content = Content::table, .flags = kNeedsAll};
    for (std::size_t at = 0; at < table.size(); at += kRawBytesMax) {
        write_block(header, std::span(table).subspan(at, std::min(kRawBytesMax, table.size() - at)));
        ++header.index;
    }
}

lib::Result<void> ArchiveWriter::write_file(const FileToPack& file) {
    const auto bytes = file.bytes != nullptr ? lib::Result(file.bytes) : trace::ByteSource::open_file(file.path);
    if (!bytes) {
        return bytes.error();
    }
    const std::uint64_t size = file.size_bytes();
    if (bytes.value()->size_bytes() != size) {
        return lib::Error::io; // the size differs from that in the table
    }
    std::vector<dat::Segment> segments;
    if (file.records) {
        trace::Diagnostics silent([](std::string_view) {}); // the reader of the trace reports
        m_window.begin(*bytes.value(), size);
        dat::index_file(m_window, header_of(m_window), file.name, segments, silent);
    }
    std::uint64_t at = 0;
    for (const dat::Segment& segment : segments) {
        if (const auto written = write_segment(*bytes.value(), at, segment.end_bytes, {}, true); !written) {
            return written;
        }
        at = segment.end_bytes;
    }
    // Packs bytes that are not a trace, or could not be divided into chunks.
    return write_segment(*bytes.value(), at, size, {.flags = kNeedsAll}, false);
}

lib::Result<void> ArchiveWriter::write_segment(trace::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                                               BlockHeader header, bool records) {
    if (begin >= end) {
        return {};
    }
    header.file = m_file;
    header.segment = m_segment++;
    for (std::uint64_t at = begin; at < end;) {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(end - at, kRawBytesMax));
        const auto count = source.read(at, std::span(m_raw).first(wanted));
        if (!count || count.value() != wanted) {
            return lib::Error::io;
        }
        const std::span<const std::byte> raw = std::span(m_raw).first(wanted);
        if (records && at == begin) {
            describe(raw, header);
        }
        // Trailing bytes after the last record are a block of their own.
        const std::size_t whole = records ? wanted / tracer::kRecordBytes * tracer::kRecordBytes : 0;
        if (whole != 0) {
            header.method = Method::records;
            write_block(header, raw.first(whole));
            ++header.index;
        }
        if (whole != wanted) {
            header.method = Method::bytes;
            write_block(header, raw.subspan(whole));
            ++header.index;
        }
        at += wanted;
        m_done_bytes += wanted;
        m_progress(m_done_bytes);
    }
    return {};
}

void ArchiveWriter::write_block(BlockHeader header, std::span<const std::byte> raw) {
    m_body.clear();
    if (header.content != Content::end) {
        header.method == Method::records ? m_codec.pack_records(raw, m_body) : m_codec.pack_bytes(raw, m_body);
    }
    header.raw_bytes = static_cast<std::uint32_t>(raw.size());
    header.body_bytes = static_cast<std::uint32_t>(m_body.size());
    header.raw_crc = trace::checksum(raw);
    header.body_crc = trace::checksum(m_body);
    header.sequence = m_sequence++;
    m_sink(encode_header(header));
    m_sink(m_body);
}

// --- files to pack ---------------------------------------------------------------------------------------------------

namespace {

namespace fs = std::filesystem;

lib::Result<FileToPack, trace::Refusal> file_to_pack(const fs::path& path) {
    const auto source = trace::ByteSource::open_file(path.string());
    if (!source) {
        return trace::Refusal{fmt::format("{}: {}", text::escaped(path.string()), trace::file_error(source.error()))};
    }
    return FileToPack{
        .name = path.filename().string(), .path = path.string(), .path_bytes = source.value()->size_bytes()};
}

} // namespace

lib::Result<std::vector<FileToPack>, trace::Refusal> files_to_pack(const std::string& input) {
    std::error_code failed;
    const bool directory = fs::is_directory(input, failed);
    std::vector<fs::path> paths;
    if (!directory) {
        paths.emplace_back(input);
    } else {
        for (const auto& entry : fs::directory_iterator(input, failed)) {
            paths.push_back(entry.path());
        }
        if (failed) {
            return trace::Refusal{fmt::format("{}: {}", text::escaped(input), failed.message())};
        }
    }
    std::ranges::sort(paths);
    std::vector<FileToPack> files;
    for (const fs::path& path : paths) {
        auto file = file_to_pack(path);
        if (!file) {
            return file.error();
        }
        // A single file may have any name; bytes of any other kind are preserved, too.
        file.value().records = !directory || path.extension() == ".dat";
        files.push_back(std::move(file.value()));
    }
    if (files.empty()) {
        return trace::Refusal{fmt::format("{}: the directory is empty", text::escaped(input))};
    }
    return files;
}

} // namespace host::formats::packed
