// SPDX-License-Identifier: MIT
// The table first, then the manifest that names it.
#include "host/collector/session_formats.hpp"

#include "lib/crc32c.hpp"

#include <fmt/format.h>
#include <span>

namespace host::collector {

bool store_formats(const trace::KernelImage& formats, const std::string& directory, trace::Manifest& manifest,
                   std::string& why) {
    const std::uint64_t ran = manifest.build ? manifest.build->image_id : 0;
    if (ran == 0 || ran != formats.image_id()) {
        why = ran == 0 ? std::string("the session does not tell which image sent it")
                       : fmt::format("the session comes from another image (build id {:016x}, this is {:016x})", ran,
                                     formats.image_id());
        return false;
    }
    const std::string text = formats.to_json_text();
    trace::Manifest with = manifest;
    with.formats = trace::ManifestFormats{formats.image_id(), lib::crc32c(std::as_bytes(std::span(text)))};
    for (const auto& saved :
         {trace::save_text(text, directory, trace::kFormatsName), trace::save_manifest(with, directory)}) {
        if (!saved) {
            why = error_name(saved.error());
            return false;
        }
    }
    manifest = std::move(with);
    return true;
}

} // namespace host::collector
