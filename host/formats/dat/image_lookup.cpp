// SPDX-License-Identifier: MIT
#include "host/formats/dat/image_lookup.hpp"

#include <fmt/format.h>
#include <utility>

namespace host::formats::dat {

bool ImageLookup::load(const trace::OpenOptions& options, const std::string& directory,
                       const std::optional<Manifest>& manifest) {
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
    if (!manifest || !manifest->formats) {
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

void ImageLookup::report_once(std::string_view text) {
    if (!std::exchange(m_reported, true)) {
        m_diagnostics.report("W-FORMATS", {.file = m_file}, text);
    }
}

const trace::KernelImage* ImageLookup::find(const trace::Event& event, const trace::TraceFacts& facts) {
    const std::uint64_t ran = facts.build ? facts.build->image_id : 0;
    const bool known = m_image && ran != 0 && ran == m_image->image_id();
    const bool formatted = event.is(trace::kCodeOf<"formatted_event">);
    if (!m_image && formatted) {
        if (m_file.empty()) {
            m_file = facts.chunks[event.source].file;
        }
        report_once("trace_printf events are shown by number: their texts are in the kernel image; name it with "
                    "--kernel kernel.elf");
    } else if (m_image && !known && (ran != 0 || formatted)) {
        report_once(fmt::format("not used: the trace comes from another image (build id {:016x}, this is {:016x}); "
                                "trace_printf events are shown by number, instructions by address",
                                ran, m_image->image_id()));
    }
    return known ? &*m_image : nullptr;
}

} // namespace host::formats::dat
