// SPDX-License-Identifier: MIT
// remora adopt makes a session of a directory of Ntrace.dat files, as the ramdisk's FAT image has them, or as a
// collector left them that was killed. The contents of the manifest are read from the files themselves, and from the
// totals beside them (endtrace.dat), if the ramdisk has them. The files are not changed.
#include "host/cli/command/commands.hpp"

#include "host/analyse/account.hpp"
#include "host/cli/command/trace_input.hpp"
#include "host/collector/session_directory.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/escape.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

namespace host::cli {

namespace {

using trace::ExitStatus;

struct AdoptOptions {
    std::string directory;
    std::string kernel;
    bool force = false;
};

struct Adopted {
    formats::dat::Manifest manifest;
    std::uint64_t events = 0; // records, decoded
};

// Reads one file to its end. Returns false if it could not be read at all.
bool adopt_file(const AdoptOptions& options, const std::string& file, trace::Diagnostics& diagnostics,
                Adopted& adopted) {
    formats::dat::Manifest& manifest = adopted.manifest;
    const std::string path = options.directory + '/' + file;
    const auto checksum = formats::dat::checksum_file(path);
    if (!checksum) {
        diagnostics.report("E-IO", {.file = path}, trace::file_error(checksum.error()));
        return false;
    }
    const auto opened = formats::Trace::open(path, {.kernel = options.kernel}, diagnostics);
    if (!opened) {
        return false;
    }
    opened.value()->for_each([](const trace::Event&) {});
    const trace::TraceFacts& facts = opened.value()->facts();
    auto chunk = formats::dat::ReadChunks(facts).of(path).value_or(formats::dat::ManifestChunk());
    chunk.file = file;
    chunk.bytes = checksum.value().bytes;
    chunk.crc32c = checksum.value().crc32c;
    if (manifest.tsc_khz == 0) {
        manifest.clock_mode = facts.clock.mode;
        manifest.tsc_source = facts.clock.source;
        manifest.tsc_khz = facts.clock.khz;
        manifest.tsc_error_ppm = facts.clock.error_ppm;
    }
    if (manifest.boot_id == 0) {
        manifest.boot_id = facts.boot_id.value_or(0);
    }
    if (facts.build) {
        manifest.build = facts.build;
    }
    manifest.chunks.push_back(std::move(chunk));
    for (const trace::ChunkReport& report : facts.chunks) {
        adopted.events += report.events - std::min(report.events, report.unused);
    }
    return true;
}

// A transfer that was cut off remains incomplete: what the files do not have was never received.
void keep_transfer(const formats::dat::Manifest& old, formats::dat::Manifest& manifest) {
    manifest.started_s = old.started_s;
    if (old.complete || !old.transfer) {
        return;
    }
    manifest.announced = old.announced;
    manifest.transfer = old.transfer;
    manifest.transfer->records = 0;
    for (const formats::dat::ManifestChunk& chunk : manifest.chunks) {
        manifest.transfer->records += chunk.records;
    }
    manifest.reason = old.reason;
}

std::string missing(const formats::dat::Manifest& manifest) {
    std::uint64_t missing_records = 0;
    std::uint64_t number = 0;
    for (const formats::dat::ManifestChunk& chunk : manifest.chunks) {
        missing_records += chunk.missing;
        if (chunk.described && chunk.description.boot_id != manifest.boot_id) {
            return fmt::format("the files are of several runs: {} is of boot {:016x}, the first of {:016x}", chunk.file,
                               chunk.description.boot_id, manifest.boot_id);
        }
        if (std::stoul(chunk.file) != number++) {
            return fmt::format("{}trace.dat is missing", number - 1);
        }
    }
    return missing_records != 0 ? fmt::format("{} records are missing", missing_records) : "";
}

// Takes the totals beside the files, if there are any, and states what is missing.
void adopt_totals(const std::string& directory, Adopted& adopted) {
    formats::dat::Manifest& manifest = adopted.manifest;
    manifest.reason = missing(manifest);
    const auto totals = formats::dat::read_totals(directory);
    if (totals) {
        manifest.announced = totals.value();
    }
    if (!manifest.reason.empty() || (!totals && totals.error() == lib::Error::not_found)) {
        return;
    }
    if (!totals) {
        manifest.reason = fmt::format("{} cannot be read: {}", formats::dat::kTotalsName, error_name(totals.error()));
    } else if (totals.value().chunks != manifest.chunks.size()) {
        manifest.reason =
            fmt::format("the machine wrote {} files, here are {}", totals.value().chunks, manifest.chunks.size());
    } else if (const auto absent = analyse::records_elsewhere(totals.value(), adopted.events); absent != 0) {
        manifest.reason = fmt::format(
            "{} records that the machine kept are not in these files: they left otherwise, or not at all", absent);
    } else if (const auto kept = analyse::records_kept(totals.value()); kept && *kept < adopted.events) {
        manifest.reason = fmt::format("{} is of another run: the machine kept {} records, in these files are {}",
                                      formats::dat::kTotalsName, *kept, adopted.events);
    }
}

lib::Result<std::vector<std::string>, trace::Refusal> files_to_adopt(const std::string& directory) {
    if (std::error_code code;
        std::filesystem::exists(directory, code) && !std::filesystem::is_directory(directory, code)) {
        return trace::Refusal{"not a directory"};
    }
    auto files = formats::dat::list_chunk_files(directory);
    if (!files) {
        return trace::Refusal{std::string(error_name(files.error()))};
    }
    if (files.value().empty()) {
        return trace::Refusal{"no Ntrace.dat files"};
    }
    return std::move(files.value());
}

ExitStatus adopt(const AdoptOptions& options, Context context) {
    const std::string name = text::escaped(options.directory);
    const auto complain = [&](std::string_view text) {
        context.err.print("remora adopt: {}: {}\n", name, text);
        return ExitStatus::usage;
    };
    const auto files = files_to_adopt(options.directory);
    if (!files) {
        return complain(files.error().text);
    }
    const auto locked = collector::SessionDirectory::open(options.directory, collector::OldSession::leave);
    if (!locked) {
        complain(text::escaped(locked.error().text));
        return trace::status_of(locked.error().cause);
    }
    const auto old = formats::dat::load_manifest(options.directory);
    const bool has_manifest = old.ok() || old.error().cause != lib::Error::not_found;
    if (has_manifest && !options.force) {
        return complain("it holds a manifest.json already: --force replaces it");
    }
    std::optional<trace::KernelImage> formats;
    if (!options.kernel.empty()) {
        auto table = trace::KernelImage::from_image(options.kernel);
        if (!table) {
            return complain(fmt::format("--kernel {}: {}", text::escaped(options.kernel), table.error().text));
        }
        formats = std::move(table.value());
    }
    trace::Diagnostics diagnostics(diagnostics_to(context));
    Adopted adopted;
    formats::dat::Manifest& manifest = adopted.manifest;
    manifest.origin = "files";
    for (const std::string& file : files.value()) {
        if (!adopt_file(options, file, diagnostics, adopted)) {
            return complain(fmt::format("{} cannot be read", file));
        }
    }
    diagnostics.finish();
    adopt_totals(options.directory, adopted);
    if (old) {
        keep_transfer(old.value(), manifest);
    }
    manifest.complete = manifest.reason.empty();
    if (const auto saved = formats::dat::save_manifest(manifest, options.directory); !saved) {
        complain(fmt::format("manifest.json cannot be written: {}", error_name(saved.error())));
        return trace::status_of(saved.error());
    }
    bool formats_kept = true;
    if (formats) {
        const auto stored = collector::store_formats(*formats, options.directory, manifest);
        formats_kept = stored.ok();
        if (!formats_kept) {
            complain(
                fmt::format("the formats of {} are not kept: {}", text::escaped(options.kernel), stored.error().text));
        }
    }
    context.out.print("{}: {} files adopted{}{}\n", name, manifest.chunks.size(), manifest.complete ? "" : "; ",
                      manifest.reason);
    return manifest.complete && formats_kept ? diagnostics.exit_status(true) : ExitStatus::damaged;
}

} // namespace

void add_adopt(CommandLine& line, Context context) {
    Command command = line.command("adopt", "make a session of a directory of Ntrace.dat files");
    const auto options = std::make_shared<AdoptOptions>();
    command.option("DIR", options->directory, "directory with 0trace.dat, 1trace.dat, ...").required();
    command.option(
        "--kernel", options->kernel,
        "image of the kernel that wrote the files: keeps its trace_printf formats and function names in the session");
    command.flag("--force", options->force,
                 "replace an existing manifest.json, such as that of a collector that was killed");
    command.footer(examples({"remora adopt out/disk"}));
    command.run([options, context] { return adopt(*options, context); });
}

} // namespace host::cli
