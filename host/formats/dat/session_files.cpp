// SPDX-License-Identifier: MIT
// Recognizes the files of a session by their names, has the words of a manifest, and reads and writes the manifest on
// the disk.
#include "host/formats/dat/manifest.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace host::formats::dat {

namespace filesystem = std::filesystem;

namespace {

void sort_by_number(std::vector<std::string>& files) {
    // There are at most nine digits, because is_chunk_file_name() has checked the name.
    std::ranges::sort(files, {}, [](const std::string& name) { return std::stoul(name); });
}

} // namespace

lib::Result<std::vector<std::string>> list_chunk_files(const std::string& path) {
    std::error_code code;
    filesystem::directory_iterator entry(path, code);
    std::vector<std::string> files;
    for (; !code && entry != filesystem::directory_iterator(); entry.increment(code)) {
        if (std::string name = entry->path().filename().string(); is_chunk_file_name(name)) {
            files.push_back(std::move(name));
        }
    }
    if (code) {
        return code == std::errc::no_such_file_or_directory ? lib::Error::not_found
               : code == std::errc::permission_denied       ? lib::Error::refused
                                                            : lib::Error::io;
    }
    sort_by_number(files);
    return files;
}

bool is_totals_file_name(std::string_view name) {
    return name == kTotalsName || name == "ENDTRACE.DAT";
}

lib::Result<tracer::ExportEnd> read_totals(const std::string& directory) {
    auto source = trace::ByteSource::open_file(fmt::format("{}/{}", directory, kTotalsName));
    if (!source && source.error() == lib::Error::not_found) {
        source = trace::ByteSource::open_file(directory + "/ENDTRACE.DAT");
    }
    if (!source) {
        return source.error();
    }
    std::array<std::byte, tracer::kCombineSlotsMax * tracer::kRecordBytes> slots;
    const auto size = source.value()->read(0, slots);
    if (!size) {
        return size.error();
    }
    const auto totals = read_leading_event<tracer::ExportEnd>(trace::kCodeOf<"export_end">,
                                                              std::span<const std::byte>(slots).first(size.value()));
    return totals ? lib::Result<tracer::ExportEnd>(*totals) : lib::Error::corrupt;
}

std::vector<std::string> unlisted_files(const std::string& path, const Manifest& manifest) {
    return SessionFiles(path).unlisted(manifest);
}

std::vector<std::string> SessionFiles::unlisted(const Manifest& manifest) const {
    if (manifest.complete) {
        return {};
    }
    std::vector<std::string> files;
    if (m_unpacked) {
        for (const auto& [name, source] : *m_unpacked) {
            if (is_chunk_file_name(name)) {
                files.push_back(name);
            }
        }
        sort_by_number(files);
    } else if (auto listed = list_chunk_files(m_place)) {
        files = std::move(listed.value());
    }
    std::set<std::string_view> listed;
    for (const ManifestChunk& chunk : manifest.chunks) {
        listed.insert(chunk.file);
    }
    std::erase_if(files, [&listed](const std::string& name) { return listed.contains(name); });
    return files;
}

std::string SessionFiles::name_of(std::string_view file) const {
    return m_unpacked ? fmt::format("{}({})", m_place, file) : fmt::format("{}/{}", m_place, file);
}

lib::Result<std::shared_ptr<trace::ByteSource>> SessionFiles::open(std::string_view file) const {
    if (!m_unpacked) {
        return trace::ByteSource::open_file(name_of(file));
    }
    const auto found = m_unpacked->find(file);
    return found != m_unpacked->end() ? lib::Result(found->second) : lib::Error::not_found;
}

lib::Result<std::string, trace::Failure<lib::Error>> SessionFiles::text(std::string_view file,
                                                                        std::size_t bytes_max) const {
    if (!m_unpacked) {
        return trace::read_file(name_of(file), bytes_max);
    }
    const auto source = open(file);
    if (!source) {
        return trace::Failure<lib::Error>{source.error(), std::string(trace::file_error(source.error()))};
    }
    if (source.value()->size_bytes() > bytes_max) {
        return trace::Failure<lib::Error>{lib::Error::no_space, fmt::format("more than {} bytes", bytes_max)};
    }
    std::string text;
    text.reserve(source.value()->size_bytes() + trace::kParserRoomBytes);
    text.resize(source.value()->size_bytes());
    const auto count = source.value()->read(0, std::as_writable_bytes(std::span(text)));
    if (!count || count.value() != text.size()) {
        return trace::Failure<lib::Error>{lib::Error::io, "cannot be read"};
    }
    return text;
}

// --- the manifest on the disk, and checksums of the files beside it -------------------------------------------------

namespace {

constexpr std::size_t kManifestBytesMax = 64 * 1024 * 1024;

lib::Error error_of_errno() {
    return errno == ENOSPC || errno == EDQUOT ? lib::Error::no_space : lib::Error::io;
}

bool write_whole(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count < 0 && errno != EINTR) {
            return false;
        }
        if (count > 0) {
            text.remove_prefix(static_cast<std::size_t>(count));
        }
    }
    return true;
}

} // namespace

lib::Result<Manifest, trace::Failure<lib::Error>> load_manifest(const std::string& directory) {
    return SessionFiles(directory).manifest();
}

lib::Result<Manifest, trace::Failure<lib::Error>> SessionFiles::manifest() const {
    const std::string& directory = m_place;
    auto text = this->text(kManifestName, kManifestBytesMax);
    for (const std::string_view session : {"/udp", "/disk"}) { // what `make run` leaves
        if (!text &&
            ::access((directory + std::string(session) + '/' + std::string(kManifestName)).c_str(), R_OK) == 0) {
            return trace::Failure<lib::Error>{
                lib::Error::not_found,
                fmt::format("the directory is that of a run; its session is {}{}", text::escaped(directory), session)};
        }
    }
    if (!text && text.error().cause == lib::Error::not_found) {
        return trace::Failure<lib::Error>{
            lib::Error::not_found,
            "the directory holds no manifest.json, so it is no session; if Ntrace.dat files were copied into it, run "
            "`remora adopt` on it first"};
    }
    if (!text) {
        return text.error();
    }
    auto manifest = parse_manifest(std::move(text.value()));
    if (!manifest) {
        return trace::Failure<lib::Error>{lib::Error::corrupt, manifest.error().text};
    }
    return std::move(manifest.value());
}

lib::Result<void> save_manifest(const Manifest& manifest, const std::string& directory) {
    return save_text(to_json_text(manifest), directory, kManifestName);
}

lib::Result<void> save_text(std::string_view text, const std::string& directory, std::string_view name) {
    const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return lib::Error::io;
    }
    const auto saved = save_text(text, descriptor, name);
    ::close(descriptor);
    return saved;
}

lib::Result<void> save_text(std::string_view text, int directory, std::string_view name, Flush flush) {
    const auto written = write_beside(text, directory, name, flush);
    return written ? put_in_place(directory, name, flush) : written;
}

lib::Result<void> write_beside(std::string_view text, int directory, std::string_view name, Flush flush) {
    const std::string beside = std::string(name) + ".new";
    ::unlinkat(directory, beside.c_str(), 0); // removes what another writer left, or a link, which would be followed
    const int descriptor =
        ::openat(directory, beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (descriptor < 0) {
        return error_of_errno();
    }
    const bool written = write_whole(descriptor, text) && (flush == Flush::later || ::fsync(descriptor) == 0);
    const lib::Error write_error = error_of_errno();
    if (::close(descriptor) != 0 || !written) {
        ::unlinkat(directory, beside.c_str(), 0);
        return written ? error_of_errno() : write_error;
    }
    return {};
}

lib::Result<void> put_in_place(int directory, std::string_view name, Flush flush) {
    const std::string final_name(name);
    if (::renameat(directory, (final_name + ".new").c_str(), directory, final_name.c_str()) != 0) {
        return error_of_errno();
    }
    // A file system that cannot flush a directory returns EINVAL.
    const bool kept = flush == Flush::later || ::fsync(directory) == 0 || errno == EINVAL;
    return kept ? lib::Result<void>() : error_of_errno();
}

ReadChunks::ReadChunks(const trace::TraceFacts& facts) {
    m_reports.reserve(facts.chunks.size());
    for (const trace::ChunkReport& report : facts.chunks) {
        m_reports.push_back(&report);
    }
    std::ranges::stable_sort(m_reports, {}, &trace::ChunkReport::file);
}

std::optional<ManifestChunk> ReadChunks::of(const std::string& path) const {
    std::optional<ManifestChunk> chunk;
    auto at = std::ranges::lower_bound(m_reports, path, {}, &trace::ChunkReport::file);
    for (; at != m_reports.end() && (*at)->file == path; ++at) {
        const trace::ChunkReport* const report = *at;
        if (!chunk) {
            chunk.emplace();
            chunk->described = report->described;
            chunk->description = report->description;
            chunk->first_tsc = report->first_stamp ? std::optional(report->first_stamp->value) : std::nullopt;
        }
        chunk->preamble += report->preamble;
        chunk->records += report->records;
        chunk->missing += report->missing;
        chunk->last_tsc = report->last_stamp ? std::optional(report->last_stamp->value) : chunk->last_tsc;
    }
    return chunk;
}

namespace {

lib::Result<FileChecksum> checksum_of(const lib::Result<std::shared_ptr<trace::ByteSource>>& source) {
    if (!source) {
        return source.error();
    }
    // The buffer has one byte more than the file, so that the read that returns the last byte also finds the end.
    const std::size_t size = std::min<std::uint64_t>(source.value()->size_bytes() + 1, trace::ByteSource::kBufferBytes);
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
    const std::span buffer(memory.get(), size);
    FileChecksum checksum;
    while (true) {
        const auto count = source.value()->read(checksum.bytes, buffer);
        if (!count) {
            return count.error();
        }
        checksum.crc32c = trace::checksum(buffer.first(count.value()), checksum.crc32c);
        checksum.bytes += count.value();
        if (count.value() < size) {
            return checksum;
        }
    }
}

} // namespace

lib::Result<FileChecksum> checksum_file(const std::string& path) {
    return checksum_of(trace::ByteSource::open_file(path));
}

lib::Result<FileChecksum> SessionFiles::checksum(std::string_view file) const {
    return checksum_of(open(file));
}

// --- the words for enumerators in manifests and on the screen -------------------------------------------------------

namespace {

// The first name is `unknown`, which is also used for any other number.
template <typename Enum, std::size_t Count>
std::string_view name_in(const std::array<std::string_view, Count>& names, Enum value) {
    const auto index = static_cast<std::size_t>(value);
    return names[index < Count ? index : 0];
}

} // namespace

std::string_view clock_mode_name(tracer::ClockMode mode) {
    return name_in(std::to_array<std::string_view>({"unknown", "emulated", "icount", "hardware"}), mode);
}

std::string_view tsc_source_name(tracer::TscSource source) {
    return name_in(std::to_array<std::string_view>({"unknown", "pit", "pm_timer", "hpet", "cpuid"}), source);
}

std::string_view run_result_name(tracer::RunResult result) {
    return name_in(std::to_array<std::string_view>({"unknown", "completed", "failed", "panicked"}), result);
}

std::string_view chunk_mode_name(std::uint8_t flags) {
    constexpr std::uint8_t kModeMask = 0x0C; // S.Ha.R.K.: cyclic 00, jump to next 04, stop 08
    switch (flags & kModeMask) {
    case 0x00:
        return "cyclic";
    case 0x04:
        return "jump";
    default:
        return "stop";
    }
}

std::string encoding_name(const tracer::ChunkBegin& description) {
    if (description.encoding == tracer::Encoding::records) {
        return "records";
    }
    return "compact " + std::string(layout_name(description.layout));
}

std::string_view layout_name(std::uint8_t layout) {
    return tracer::compact::is_layout(layout) ? tracer::compact::kLayoutRows[layout].name : "?";
}

bool is_chunk_file_name(std::string_view name) {
    std::size_t digits = 0;
    while (digits < name.size() && name[digits] >= '0' && name[digits] <= '9') {
        ++digits;
    }
    const std::string_view rest = name.substr(digits);
    return digits >= 1 && digits <= 9 && (rest == "trace.dat" || rest == "TRACE.DAT");
}

} // namespace host::formats::dat
