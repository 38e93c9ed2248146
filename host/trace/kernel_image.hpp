// SPDX-License-Identifier: MIT
// Reads what only the image of the kernel knows about the numbers in its records: the formats of trace_printf (section
// .trace_formats, where a format's number is its offset), and the functions that instructions belong to (symbol table).
// A reader takes them from the image that ran or from formats.json, the copy that a session keeps. Both name the image
// by its build id, and so does the trace: those of another image are never used. Nothing in an image is trusted.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::trace {

inline constexpr std::string_view kFormatsName = "formats.json";

struct Function {
    std::uint64_t address = 0;
    std::uint64_t size_bytes = 0; // 0: not known; it extends to the next function
    std::string name;             // demangled, unless that would be too long; not escaped
};

class KernelImage {
  public:
    static constexpr std::size_t kFileBytesMax = 256 * 1024 * 1024; // of an image or a formats.json

    // Reads an ELF image.
    [[nodiscard]] static lib::Result<KernelImage, Refusal> from_image(const std::string& path);

    // Reads formats.json.
    [[nodiscard]] static lib::Result<KernelImage, Refusal> parse(std::string_view text_untrusted);
    [[nodiscard]] static lib::Result<KernelImage, Refusal> load(const std::string& path);

    [[nodiscard]] std::string to_json_text() const;

    // Returns the id of the image: the first eight bytes of its build id; 0 if it has none.
    [[nodiscard]] std::uint64_t image_id() const { return m_image_id; }

    // Returns null if there is no format of this number.
    [[nodiscard]] const std::string* format(std::uint32_t id) const;

    [[nodiscard]] const std::map<std::uint32_t, std::string>& formats() const { return m_formats; }

    // Returns null if the address is in no function.
    [[nodiscard]] const Function* function_at(std::uint64_t address) const;

    // Returns for each instruction the line of the source that it comes from, "kernel/sync/mutex.cpp:120"; empty if it
    // is not known, which is always so of formats.json. Not escaped. The image is read again, by addr2line of binutils.
    [[nodiscard]] std::vector<std::string> lines_at(std::span<const std::uint64_t> addresses) const;

    // Returns whether lines_at() may know anything.
    [[nodiscard]] bool has_lines() const { return !m_file_of_lines.empty(); }

    // The functions are in the order of their addresses, each address once.
    [[nodiscard]] const std::vector<Function>& functions() const { return m_functions; }

  private:
    [[nodiscard]] lib::Result<void, Refusal> read_image(std::string_view image_untrusted, const std::string& path);
    void set_functions(std::vector<Function> functions);

    std::uint64_t m_image_id = 0;
    std::map<std::uint32_t, std::string> m_formats;
    std::vector<Function> m_functions;
    std::string m_file_of_lines; // the image, if it has lines
};

// Estimates how long a demangled name may become, in letters of which each means at most one word; saturates. A
// mangled name may refer back to parts of itself, so each few letters can double its length, and the library cannot be
// stopped once it has begun.
[[nodiscard]] std::uint64_t demangled_estimate(std::string_view mangled_untrusted);

class Demangler {
  public:
    // Returns the name as the source has it. A name is returned unchanged if it is not mangled, if it could become too
    // long, or if the names so far have used up the budget.
    [[nodiscard]] std::string name(std::string_view mangled_untrusted);

  private:
    static constexpr std::uint64_t kBudget =
        16 * 1024 * 1024; // sum of the estimates; this kernel's names take 1.2 million

    std::uint64_t m_left = kBudget;
};

} // namespace host::trace
