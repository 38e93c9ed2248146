// SPDX-License-Identifier: MIT
// Which kernel image the numbers in a trace are looked up in: the one that the user names, else the copy that a session
// keeps, else the first that is found with the build id of the trace: a kernel.elf or formats.json beside the trace, in
// a directory of the environment variable REMORA_KERNELS (or a file there, all separated by colons), in build/kernel.
// An image other than the one that ran is never used.
#pragma once

#include "host/formats/dat/manifest.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/kernel_image.hpp"
#include "host/trace/open_options.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace host::formats::dat {

class ImageLookup {
  public:
    // diagnostics outlive the look-up.
    explicit ImageLookup(trace::Diagnostics& diagnostics)
        : m_diagnostics(diagnostics) {}

    // directory, manifest: of a session; else empty and null. False, with E-IO: the image that the user named cannot be
    // read. A session's own copy that is damaged costs the texts and names only: W-FORMATS.
    [[nodiscard]] bool load(const trace::OpenOptions& options, const std::string& directory, const Manifest* manifest);

    [[nodiscard]] std::optional<trace::KernelImage>& image() { return m_image; }

    // The image of this event, null if there is none that ran; reports once why not.
    [[nodiscard]] const trace::KernelImage* find(const trace::Event& event, const trace::TraceFacts& facts);

  private:
    void report_once(std::string_view text);

    // True if `place`, or a file in it, is the image.
    [[nodiscard]] bool found_at(const std::string& place, std::uint64_t image_id);
    void search(std::uint64_t image_id, const std::string& trace_file);

    trace::Diagnostics& m_diagnostics;
    std::optional<trace::KernelImage> m_image;
    std::string m_file;
    bool m_reported = false;
    bool m_searched = false; // or is not to be
};

} // namespace host::formats::dat
