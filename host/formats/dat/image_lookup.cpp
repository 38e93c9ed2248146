// SPDX-License-Identifier: MIT
// Where an image is looked for, and what is reported where there is none.
#include "host/formats/dat/record_stream.hpp"

#include "host/text/format.hpp"
#include "host/trace/names.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace host::formats::dat {

namespace {

constexpr const char* kPlaces = "REMORA_KERNELS"; // an environment variable
constexpr std::string_view kBuildPlace = "build/kernel";

// A formatted event whose text is not in the trace itself: the kernel exports only those that fit into a preamble.
bool lacks_text(const trace::Event& event) {
    return event.is(trace::kCodeOf<"formatted_event">) &&
           !event.names->formats().contains(lib::ByteReader(event.payload).le<std::uint32_t>());
}

} // namespace

bool ImageLookup::load(const trace::OpenOptions& options, const std::string& directory, const Manifest* manifest) {
    m_searched = !options.find_kernel;
    if (!options.kernel.empty()) {
        m_file = options.kernel;
        auto image = trace::KernelImage::from_image(options.kernel);
        if (!image) {
            m_diagnostics.report("E-IO", {.file = options.kernel}, image.error().text);
            m_diagnostics.unusable_input();
            return false;
        }
        m_image = std::move(image.value());
        return true;
    }
    if (manifest == nullptr || !manifest->formats) {
        return true;
    }
    m_file = directory + '/' + std::string(trace::kFormatsName);
    const auto checksum = checksum_file(m_file);
    auto image = trace::KernelImage::load(m_file);
    if (!image) {
        report_once(image.error().text);
    } else if (!checksum || checksum.value().crc32c != manifest->formats->crc32c) {
        report_once("its checksum is not that of the manifest: not used");
    } else {
        m_image = std::move(image.value());
    }
    return true;
}

bool ImageLookup::found_at(const std::string& place, std::uint64_t image_id) {
    for (const std::string& path : {place, place + "/kernel.elf", place + '/' + std::string(trace::kFormatsName)}) {
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(path, ignored)) {
            continue;
        }
        auto image = path.ends_with(".json") ? trace::KernelImage::load(path) : trace::KernelImage::from_image(path);
        if (image && image.value().image_id() == image_id) {
            m_image = std::move(image.value());
            m_file = path;
            return true;
        }
    }
    return false;
}

void ImageLookup::search(std::uint64_t image_id, const std::string& trace_file) {
    // A chunk in a container (a machine's memory, a capture, a ramdisk) is named after it: beside that.
    std::filesystem::path folder = std::filesystem::path(trace_file).parent_path();
    for (std::error_code ignored; std::filesystem::is_regular_file(folder, ignored);) {
        folder = folder.parent_path();
    }
    const std::string beside = folder.string();
    const char* const named = std::getenv(kPlaces); // NOLINT(concurrency-mt-unsafe): no thread changes it
    std::string places =
        fmt::format("{}:{}:{}", beside.empty() ? "." : beside, named != nullptr ? named : "", kBuildPlace);
    for (std::size_t at = 0; at <= places.size();) {
        const std::size_t end = std::min(places.find(':', at), places.size());
        if (end != at && found_at(places.substr(at, end - at), image_id)) {
            return;
        }
        at = end + 1;
    }
}

void ImageLookup::report_once(std::string_view text) {
    if (!std::exchange(m_reported, true)) {
        m_diagnostics.report("W-FORMATS", {.file = m_file}, text);
    }
}

const trace::KernelImage* ImageLookup::find(const trace::Event& event, const trace::TraceFacts& facts) {
    const std::uint64_t ran = facts.build ? facts.build->image_id : 0;
    const bool formatted = lacks_text(event);
    if (!m_image && ran != 0 && formatted && !std::exchange(m_searched, true)) {
        search(ran, facts.chunks[event.source].file);
    }
    const bool known = m_image && ran != 0 && ran == m_image->image_id();
    if (!m_image && formatted) {
        if (m_file.empty()) {
            m_file = facts.chunks[event.source].file;
        }
        report_once(fmt::format("trace_printf events are shown by number: their texts are in the kernel image{}; name "
                                "it with --kernel kernel.elf, or store it beside the trace or in a directory of {}",
                                ran != 0 ? fmt::format(" with the build id {:016x}", ran) : "", kPlaces));
    } else if (m_image && !known && (ran != 0 || formatted)) {
        report_once(fmt::format("not used: the trace comes from another image (build id {:016x}, this is {:016x}); "
                                "trace_printf events are shown by number, instructions by address",
                                ran, m_image->image_id()));
    }
    return known ? &*m_image : nullptr;
}

} // namespace host::formats::dat
