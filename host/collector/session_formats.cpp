// SPDX-License-Identifier: MIT
#include "host/collector/session_formats.hpp"

#include "host/text/format.hpp"
#include "lib/crc32c.hpp"

#include <span>

namespace host::collector {

lib::Result<void, trace::Refusal> store_formats(const trace::KernelImage& formats, const std::string& directory,
                                                formats::dat::Manifest& manifest) {
    const std::uint64_t ran = manifest.build ? manifest.build->image_id : 0;
    if (ran == 0 || ran != formats.image_id()) {
        return trace::Refusal{
            ran == 0 ? std::string("the session does not state which image sent it")
                     : fmt::format("the session comes from another image (build id {:016x}, this is {:016x})", ran,
                                   formats.image_id())};
    }
    const std::string text = formats.to_json_text();
    formats::dat::Manifest with = manifest;
    with.formats = formats::dat::ManifestFormats{formats.image_id(), lib::crc32c(std::as_bytes(std::span(text)))};
    for (const auto& saved : {formats::dat::save_text(text, directory, trace::kFormatsName),
                              formats::dat::save_manifest(with, directory)}) {
        if (!saved) {
            return trace::Refusal{std::string(error_name(saved.error()))};
        }
    }
    manifest = std::move(with);
    return {};
}

} // namespace host::collector
