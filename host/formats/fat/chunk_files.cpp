// SPDX-License-Identifier: MIT
// Finds the files of a trace in the root directory of a volume and copies them out.

#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/formats/fat/volume.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>

namespace host::formats::fat {

namespace {

bool same_name(std::string_view name, std::string_view lower) {
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    return std::ranges::equal(name, lower, same);
}

// Returns N of "Ntrace.dat" in upper or lower case; nothing if it is another name, or if N has leading zeros or more
// than nine digits.
std::optional<std::uint32_t> file_number(std::string_view name) {
    constexpr std::string_view kSuffix = "trace.dat";
    constexpr std::size_t kDigitsMax = 9;
    if (name.size() <= kSuffix.size() || name.size() > kSuffix.size() + kDigitsMax) {
        return std::nullopt;
    }
    const std::string_view digits = name.substr(0, name.size() - kSuffix.size());
    if (!same_name(name.substr(digits.size()), kSuffix) || (digits.size() > 1 && digits[0] == '0')) {
        return std::nullopt;
    }
    std::uint32_t number = 0;
    for (const char digit : digits) {
        if (digit < '0' || digit > '9') {
            return std::nullopt;
        }
        number = number * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    return number;
}

class Importer {
  public:
    Importer(std::string name, trace::Diagnostics& diagnostics, bool strict)
        : m_name(std::move(name))
        , m_diagnostics(diagnostics)
        , m_strict(strict)
        , m_damages(diagnostics.damages()) {}

    [[nodiscard]] lib::Result<void> collect(const std::shared_ptr<trace::ByteSource>& image) {
        Fault fault;
        auto volume = Volume::open(image, fault);
        if (!volume) {
            report(fault);
            return volume.error();
        }
        const auto listed = volume.value().for_each_file([this](const File& file) { take(file); }, fault);
        if (!listed) {
            report(fault); // the files found before are kept
        }
        if (m_left_out != 0) {
            m_diagnostics.report(
                "W-CAP", {.file = m_name},
                fmt::format("{} files beyond {} are left out: copy them off the image", m_left_out, kFilesMax));
        }
        for (const auto& [number, file] : m_files) {
            if (m_strict && m_diagnostics.damages() != m_damages) {
                break;
            }
            if (m_copied > image->size_bytes()) {
                report({file.entry_bytes, fmt::format("{}: the files before it fill the volume, so they share "
                                                      "clusters: it and those after it are left out",
                                                      file.name)});
                break;
            }
            if (const auto copied = copy(volume.value(), file); !copied) {
                return copied;
            }
        }
        if (m_totals_file) {
            read_totals(volume.value());
        }
        if (m_files.empty()) {
            m_diagnostics.report("E-EMPTY", {.file = m_name}, "the root directory has no file Ntrace.dat");
            return lib::Error::corrupt;
        }
        return {};
    }

    [[nodiscard]] const std::vector<trace::NamedSource>& sources() const { return m_sources; }

    [[nodiscard]] const std::optional<tracer::ExportEnd>& totals() const { return m_totals; }

  private:
    void report(const Fault& fault) {
        m_diagnostics.report("E-FAT", {.file = m_name, .offset_bytes = fault.offset_bytes}, fault.text);
    }

    void take(const File& file) {
        const auto number = file_number(file.name);
        if (!number) {
            if (same_name(file.name, dat::kTotalsName)) {
                m_totals_file = file;
            }
            return;
        }
        if (m_files.size() == kFilesMax) {
            ++m_left_out;
        } else if (!m_files.try_emplace(*number, file).second) {
            report({file.entry_bytes, fmt::format("a second file {}: the first is kept", file.name)});
        }
    }

    void read_totals(Volume& volume) {
        std::vector<std::byte> slots;
        Fault fault;
        static_cast<void>(volume.read(
            *m_totals_file,
            [&slots](std::span<const std::byte> bytes) -> lib::Result<void> {
                constexpr std::size_t kBytesMax = tracer::kCombineSlotsMax * tracer::kRecordBytes;
                const auto kept = bytes.first(std::min(bytes.size(), kBytesMax - slots.size()));
                slots.insert(slots.end(), kept.begin(), kept.end());
                return {};
            },
            fault));
        m_totals = dat::read_leading_event<tracer::ExportEnd>(trace::kCodeOf<"export_end">, slots);
        if (!m_totals) {
            report({m_totals_file->entry_bytes, fmt::format("{} holds no totals of a run", m_totals_file->name)});
        }
    }

    // Copies a file; of a damaged one what can be read. The errors are those of writing the copy.
    [[nodiscard]] lib::Result<void> copy(Volume& volume, const File& file) {
        auto spool = trace::Spool::create();
        if (!spool) {
            return failed(spool.error());
        }
        Fault fault;
        std::optional<lib::Error> unwritten;
        const auto read = volume.read(
            file,
            [&](std::span<const std::byte> bytes) -> lib::Result<void> {
                const auto kept = spool.value().append(bytes);
                m_copied += bytes.size();
                if (!kept) {
                    unwritten = kept.error();
                }
                return kept;
            },
            fault);
        if (unwritten) {
            return failed(*unwritten);
        }
        if (!read) {
            report(fault);
        }
        m_sources.push_back({.name = m_name + "/" + file.name, .bytes = spool.value().take(), .keep_open = true});
        return {};
    }

    [[nodiscard]] lib::Error failed(lib::Error error) {
        m_diagnostics.report("E-IO", {.file = m_name},
                             fmt::format("a temporary file (see TMPDIR): {}", error_name(error)));
        m_diagnostics.unusable_input(error);
        return error;
    }

    std::string m_name;
    trace::Diagnostics& m_diagnostics;
    std::map<std::uint32_t, File> m_files;
    std::optional<File> m_totals_file;
    std::optional<tracer::ExportEnd> m_totals;
    std::uint64_t m_left_out = 0;
    std::uint64_t m_copied = 0; // bytes
    bool m_strict;
    std::uint64_t m_damages; // damages that were reported before anything was read
    std::vector<trace::NamedSource> m_sources;
};

} // namespace

lib::Result<std::unique_ptr<dat::RecordStream>> open(const trace::NamedSource& input, const trace::OpenOptions& options,
                                                     trace::Diagnostics& diagnostics) {
    const auto image = trace::ByteSource::positioned(input.bytes);
    if (!image) {
        diagnostics.report("E-IO", {.file = input.name}, error_name(image.error()));
        diagnostics.unusable_input(image.error());
        return image.error();
    }
    Importer importer(input.name, diagnostics, options.strict);
    if (const auto collected = importer.collect(image.value()); !collected) {
        return collected.error();
    }
    auto stream = dat::RecordStream::of_sources(importer.sources(), options, diagnostics);
    if (stream && importer.totals()) {
        stream.value()->note_totals(*importer.totals());
        if (importer.totals()->chunks == importer.sources().size()) {
            stream.value()->note_all_chunks(importer.sources().size());
        }
    }
    return stream;
}

} // namespace host::formats::fat
