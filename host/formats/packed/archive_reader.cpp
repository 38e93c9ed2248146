// SPDX-License-Identifier: MIT
// Finds, judges and unpacks blocks. Every number in a header is checked before it is used, even if its checksum is
// right.
#include "host/formats/packed/archive.hpp"

#include "host/formats/dat/manifest.hpp"

#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/kernel_image.hpp"
#include "tracer/record/record.hpp"

#include <algorithm>
#include <utility>

namespace host::formats::packed {

namespace {

constexpr std::size_t kWindowBytes = 64 * 1024;
constexpr std::uint32_t kFilesMax = 65'536;
// A column with its sizes may be larger than its contents.
constexpr std::size_t kBodyBytesMax = kRawBytesMax + kRawBytesMax / 4 + 64;

bool is_safe_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
           name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

} // namespace

ArchiveReader::ArchiveReader(trace::NamedSource input, const trace::OpenOptions& options,
                             trace::Diagnostics& diagnostics)
    : m_input(std::move(input))
    , m_salvage(options.salvage)
    , m_strict(options.strict)
    , m_diagnostics(diagnostics) {}

void ArchiveReader::report(trace::Code code, std::uint64_t offset_bytes, std::string_view text) {
    m_diagnostics.report(code, {.file = m_input.name, .offset_bytes = offset_bytes}, text);
}

void ArchiveReader::report(trace::Code code, const Entry& entry, std::string_view text) {
    report(code, entry.offset_bytes, fmt::format("block {}: {}", entry.header.sequence, text));
}

lib::Result<std::unique_ptr<ArchiveReader>> ArchiveReader::open(const trace::NamedSource& input,
                                                                const trace::OpenOptions& options,
                                                                trace::Diagnostics& diagnostics) {
    const auto source = trace::ByteSource::positioned(input.bytes);
    if (!source) {
        diagnostics.report("E-IO", {.file = input.name}, error_name(source.error()));
        diagnostics.unusable_input(source.error());
        return source.error();
    }
    auto reader = std::unique_ptr<ArchiveReader>(
        new ArchiveReader({.name = input.name, .bytes = source.value(), .keep_open = true}, options, diagnostics));
    if (const auto found = reader->find_blocks(); !found) {
        return found.error();
    }
    reader->order_blocks();
    reader->read_table();
    return reader;
}

lib::Result<void> ArchiveReader::find_blocks() {
    m_size = m_input.bytes->size_bytes();
    std::array<std::byte, kHeaderBytes> bytes{};
    std::uint64_t at = 0;
    bool ended = false;
    while (at < m_size) {
        const auto count = m_input.bytes->read(at, bytes);
        if (!count) {
            report("E-IO", at, "reading failed");
            break;
        }
        if (ended) {
            report("W-TRAIL", at, fmt::format("{} bytes after the last block", m_size - at));
            break;
        }
        if (count.value() < kHeaderBytes) {
            break; // it is reported below that the last block is missing
        }
        const bool magic = has_magic(bytes);
        if (!magic || !has_sound_checksum(bytes)) {
            report(magic ? trace::Code("E-HCRC") : trace::Code("E-MAGIC"), at,
                   magic ? "the header of a block is damaged: skipped to the next one"
                         : "no block begins here: skipped to the next one");
            if (m_strict) {
                break;
            }
            at = find_header(at + 1);
            continue;
        }
        const Entry entry{.offset_bytes = at, .header = decode_header(bytes)};
        at += kHeaderBytes;
        if (entry.header.body_bytes > m_size - at) {
            report("E-TRUNC", entry, fmt::format("{} of its {} bytes are there", m_size - at, entry.header.body_bytes));
            return {};
        }
        at += entry.header.body_bytes;
        ended = entry.header.content == Content::end;
        if (judge(entry)) {
            m_entries.push_back(entry);
        }
    }
    if (!ended) {
        report("E-TRUNC", m_size, "the last block is missing: the file was cut, or never completed");
    }
    return {};
}

// Returns the next offset at which a header with a valid checksum begins, or the end.
std::uint64_t ArchiveReader::find_header(std::uint64_t from) {
    std::vector<std::byte> window(kWindowBytes);
    for (std::uint64_t at = from; at + kHeaderBytes <= m_size;) {
        const auto count = m_input.bytes->read(at, window);
        if (!count || count.value() < kHeaderBytes) {
            break;
        }
        const std::span<const std::byte> bytes = std::span(window).first(count.value());
        for (std::size_t i = 0; i + kHeaderBytes <= bytes.size(); ++i) {
            if (bytes[i] == static_cast<std::byte>(kMagic[0]) && has_magic(bytes.subspan(i)) &&
                has_sound_checksum(bytes.subspan(i))) {
                return at + i;
            }
        }
        at += bytes.size() - (kHeaderBytes - 1);
    }
    return m_size;
}

// Returns whether a header whose checksum is right is valid.
bool ArchiveReader::judge(const Entry& entry) {
    const BlockHeader& header = entry.header;
    if (header.major != kMajor) {
        report("E-VERSION", entry,
               fmt::format("version {}.{}; this reader knows {}", header.major, header.minor, kMajor));
        return false;
    }
    if (header.minor > kMinor && m_diagnostics.count("W-MINOR") == 0) {
        report("W-MINOR", entry,
               fmt::format("version {}.{}, read as {}.{}", header.major, header.minor, kMajor, kMinor));
    }
    if (header.content == Content::end) {
        return true;
    }
    const bool known = (header.content == Content::table || header.content == Content::data) &&
                       (header.method == Method::bytes || header.method == Method::records);
    if (!known) {
        report("E-METHOD", entry,
               fmt::format("contents {}, method {}: not known", static_cast<unsigned>(header.content),
                           static_cast<unsigned>(header.method)));
        return false;
    }
    const bool fits = header.raw_bytes != 0 && header.raw_bytes <= kRawBytesMax &&
                      (header.method == Method::bytes || header.raw_bytes % tracer::kRecordBytes == 0);
    if (!fits || header.body_bytes > kBodyBytesMax) {
        report("E-RAWSIZE", entry,
               fmt::format("{} bytes that unpack to {}: at most {}, and whole records, are allowed", header.body_bytes,
                           header.raw_bytes, kRawBytesMax));
        return false;
    }
    if (header.cpu != kNoProcessor && header.cpu >= trace::kProcessorsMax) {
        report("E-CPU", entry, fmt::format("processor {} of at most {}", header.cpu, trace::kProcessorsMax));
        return false;
    }
    if (header.file >= kFilesMax) {
        report("E-RAWSIZE", entry, fmt::format("file {} of at most {}", header.file, kFilesMax));
        return false;
    }
    return true;
}

// Sorts by sequence number; of two with the same number the first is used.
void ArchiveReader::order_blocks() {
    const auto sequence = [](const Entry& entry) { return entry.header.sequence; };
    if (!std::ranges::is_sorted(m_entries, {}, sequence)) {
        report("W-ORDER", 0, "the blocks are out of order: sorted");
        std::ranges::stable_sort(m_entries, {}, sequence);
    }
    std::vector<Entry> kept;
    kept.reserve(m_entries.size());
    for (const Entry& entry : m_entries) {
        const std::uint64_t expected = kept.empty() ? 0 : kept.back().header.sequence + 1;
        if (!kept.empty() && entry.header.sequence == kept.back().header.sequence) {
            const bool same = entry.header == kept.back().header;
            report(same ? trace::Code("W-DUP") : trace::Code("E-CONFLICT"), entry,
                   fmt::format("{} at 0x{:x}: dropped", same ? "the same block is" : "another block of this number is",
                               kept.back().offset_bytes));
            continue;
        }
        if (entry.header.sequence != expected) {
            m_absent += entry.header.sequence - expected;
            report("W-GAP", entry, fmt::format("{} blocks before it are missing", entry.header.sequence - expected));
        }
        kept.push_back(entry);
    }
    m_entries = std::move(kept);
}

// Reads and unpacks the piece of a file. Returns false if that is not possible, which was reported.
bool ArchiveReader::read_piece(const Entry& entry) {
    const BlockHeader& header = entry.header;
    m_body.resize(header.body_bytes);
    const auto count = m_input.bytes->read(entry.offset_bytes + kHeaderBytes, m_body);
    if (!count || count.value() != header.body_bytes) {
        report("E-IO", entry, "reading failed, or the file became shorter");
        return false;
    }
    if (trace::checksum(m_body) != header.body_crc) {
        report("W-BCRC", entry,
               m_salvage ? "its checksum is wrong: used all the same" : "its checksum is wrong: skipped");
        if (!m_salvage) {
            return false;
        }
    }
    m_raw.resize(std::max<std::size_t>(m_raw.size(), header.raw_bytes));
    const auto raw = std::span(m_raw).first(header.raw_bytes);
    const Fault fault =
        header.method == Method::records ? m_codec.unpack_records(m_body, raw) : m_codec.unpack_bytes(m_body, raw);
    if (fault.code && *fault.code != kTrailing) {
        report(*fault.code, entry,
               fmt::format("{} (at byte {} of its body, {} of what it unpacks to)", fault.text, fault.in_bytes,
                           fault.out_bytes));
        return false;
    }
    if (fault.code) {
        report(kTrailing, entry, fault.text);
    }
    if (trace::checksum(raw) != header.raw_crc) {
        report("W-BCRC", entry,
               m_salvage ? "what it unpacks to has another checksum: used all the same"
                         : "what it unpacks to has another checksum: skipped");
        if (!m_salvage) {
            return false;
        }
    }
    m_piece = raw;
    return true;
}

void ArchiveReader::read_table() {
    std::vector<std::byte> table;
    bool whole = true;
    for (const Entry& entry : m_entries) {
        if (entry.header.content != Content::table) {
            break;
        }
        whole = whole && read_piece(entry);
        if (!whole) {
            break;
        }
        table.insert(table.end(), m_piece.begin(), m_piece.end());
    }
    lib::ByteReader reader(table);
    const auto files = whole ? reader.le<std::uint32_t>() : 0;
    for (std::uint32_t i = 0; i < files && i < kFilesMax && !reader.failed(); ++i) {
        PackedFile file;
        file.bytes = reader.le<std::uint64_t>();
        file.records = reader.le<std::uint16_t>() != 0;
        const auto name = reader.take(reader.le<std::uint16_t>());
        file.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
        const bool taken = std::ranges::find(m_files, file.name, &PackedFile::name) != m_files.end();
        if (reader.failed() || taken || !is_safe_name(file.name)) {
            report("E-NAME", 0, fmt::format("file {} has no usable name in the table", i));
            file.name = fmt::format("file-{}", i);
        }
        m_files.push_back(std::move(file));
    }
    name_lost_files();
}

// Handles blocks of files that are not in the table, because the table is damaged.
void ArchiveReader::name_lost_files() {
    for (const Entry& entry : m_entries) {
        if (entry.header.content != Content::data) {
            continue;
        }
        while (m_files.size() <= entry.header.file) {
            m_files.push_back({.name = fmt::format("file-{}", m_files.size()), .records = false, .bytes = 0});
        }
        PackedFile& file = m_files[entry.header.file];
        file.records = file.records || entry.header.method == Method::records;
    }
}

// Keeps track of the parts of a segment that are present.
bool ArchiveReader::may_be_used(const Entry& entry) {
    const BlockHeader& header = entry.header;
    if (header.segment != m_segment) {
        m_segment = header.segment;
        m_next_index = 0;
        m_has_first = false;
        m_whole = true;
    }
    m_whole = m_whole && header.index == m_next_index;
    m_next_index = header.index + 1;
    const bool first = header.index == 0;
    if ((header.flags & kNeedsAll) != 0 && !m_whole) {
        report("W-GAP", entry, "cannot be understood without those that are missing before it: skipped");
        return false;
    }
    if ((header.flags & kNeedsFirst) != 0 && !first && !m_has_first) {
        report("W-GAP", entry, "the beginning of its chunk is missing: skipped");
        return false;
    }
    return true;
}

lib::Result<void> ArchiveReader::extract(const Sink& sink) {
    for (const Entry& entry : m_entries) {
        if (entry.header.content != Content::data) {
            continue;
        }
        if (!may_be_used(entry)) {
            ++m_absent;
            continue;
        }
        if (!read_piece(entry)) {
            ++m_absent;
            m_whole = false;
            if (m_strict) {
                break;
            }
            continue;
        }
        m_has_first = m_has_first || entry.header.index == 0;
        if (const auto taken = sink(entry.header.file, m_piece); !taken) {
            return taken;
        }
    }
    return {};
}

// --- packed stream ---------------------------------------------------------------------------------------------------

namespace {

// Gives the copy of the image to the stream, if it was packed without a manifest. A damaged one costs only texts and
// names.
void use_formats(dat::RecordStream& stream, const dat::SessionFiles& files, trace::Diagnostics& diagnostics) {
    const auto formats = files.text(trace::kFormatsName, trace::KernelImage::kFileBytesMax);
    if (!formats || formats.value().empty()) {
        return;
    }
    auto image = trace::KernelImage::parse(formats.value());
    if (image) {
        stream.use_image(std::move(image.value()));
    } else {
        diagnostics.report("W-FORMATS", {.file = files.name_of(trace::kFormatsName)}, image.error().text);
    }
}

// Unpacks all files to one file, because there may be more of them than a process may keep open. Reports any error.
lib::Result<dat::SessionFiles> unpack(ArchiveReader& reader, const std::string& name, trace::Diagnostics& diagnostics) {
    auto spool = trace::Spool::create();
    std::vector<std::vector<trace::ByteSource::Part>> parts(reader.files().size());
    const auto keep = [&](std::size_t file, std::span<const std::byte> bytes) -> lib::Result<void> {
        std::vector<trace::ByteSource::Part>& of_file = parts[file];
        const std::uint64_t at = spool.value().size_bytes();
        if (!of_file.empty() && of_file.back().begin_bytes + of_file.back().size_bytes == at) {
            of_file.back().size_bytes += bytes.size();
        } else {
            of_file.push_back({.begin_bytes = at, .size_bytes = bytes.size()});
        }
        return spool.value().append(bytes);
    };
    const auto extracted = spool ? reader.extract(keep) : lib::Result<void>(spool.error());
    if (!extracted) {
        diagnostics.report("E-IO", {.file = name},
                           fmt::format("unpacking to TMPDIR failed: {}", error_name(extracted.error())));
        diagnostics.unusable_input(extracted.error());
        return extracted.error();
    }
    const std::shared_ptr<trace::ByteSource> unpacked = spool.value().take();
    dat::SessionFiles::Unpacked files;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        files.emplace(reader.files()[i].name, trace::ByteSource::of_parts(unpacked, std::move(parts[i])));
    }
    return dat::SessionFiles(name, std::move(files));
}

// Reads all records, if no manifest says to which files they belong.
lib::Result<std::unique_ptr<dat::RecordStream>> open_records(const ArchiveReader& reader,
                                                             const dat::SessionFiles& files,
                                                             const trace::OpenOptions& options,
                                                             trace::Diagnostics& diagnostics) {
    std::vector<trace::NamedSource> sources;
    for (const PackedFile& file : reader.files()) {
        const auto bytes = files.open(file.name);
        if (file.records && bytes && bytes.value()->size_bytes() != 0) {
            sources.push_back({.name = files.name_of(file.name), .bytes = bytes.value(), .keep_open = true});
        }
    }
    auto stream = dat::RecordStream::of_sources(sources, options, diagnostics);
    if (stream) {
        use_formats(*stream.value(), files, diagnostics);
    }
    return stream;
}

} // namespace

lib::Result<std::unique_ptr<dat::RecordStream>>
open_stream(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics) {
    const std::uint64_t damages = diagnostics.damages();
    const auto reader = ArchiveReader::open(input, options, diagnostics);
    if (!reader) {
        return reader.error();
    }
    const auto files = unpack(*reader.value(), input.name, diagnostics);
    if (!files) {
        return files.error();
    }
    // A manifest of which a part was lost is as good as none. One that was packed as it is is read as in a directory.
    const bool is_session = files.value().open(dat::kManifestName).ok() &&
                            (diagnostics.damages() == damages || files.value().manifest().ok());
    auto stream = is_session ? dat::RecordStream::of_session(files.value(), options, diagnostics, nullptr)
                             : open_records(*reader.value(), files.value(), options, diagnostics);
    if (const std::uint64_t blocks = reader.value()->absent(); stream && (blocks != 0 || !is_session)) {
        const std::uint64_t records = stream.value()->facts().absent.records;
        stream.value()->note_absent({.parts = blocks, .unit = "blocks", .records = records});
    }
    return stream;
}

} // namespace host::formats::packed
