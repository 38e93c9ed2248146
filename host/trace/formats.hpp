// SPDX-License-Identifier: MIT
// The formats of trace_printf: number -> text. They never enter the machine, so a reader takes them from the kernel
// image that ran (section .trace_formats, where a format's number is its offset) or from formats.json, the copy that a
// session keeps. Both name the image by its build id, and so does the trace: a table of another image is never used. An
// image is input like any other: nothing in it is trusted.
#pragma once

#include "lib/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace host::trace {

inline constexpr std::string_view kFormatsName = "formats.json";

class FormatTable {
  public:
    // From an ELF image. not_found, refused, io; corrupt, unsupported: `why` tells.
    [[nodiscard]] static lib::Result<FormatTable> from_image(const std::string& path, std::string& why);

    // From formats.json. corrupt, unsupported: `why` tells.
    [[nodiscard]] static lib::Result<FormatTable> parse(std::string_view text_untrusted, std::string& why);
    [[nodiscard]] static lib::Result<FormatTable> load(const std::string& path, std::string& why);

    [[nodiscard]] std::string to_json_text() const;

    // The image that these formats belong to: the first eight bytes of its build id; 0: it has none.
    [[nodiscard]] std::uint64_t image_id() const { return m_image_id; }

    // Null if the table has no such number.
    [[nodiscard]] const std::string* find(std::uint32_t id) const;

    [[nodiscard]] const std::map<std::uint32_t, std::string>& formats() const { return m_formats; }

  private:
    [[nodiscard]] bool read_image(std::string_view image_untrusted, std::string& why);

    std::uint64_t m_image_id = 0;
    std::map<std::uint32_t, std::string> m_formats;
};

} // namespace host::trace
