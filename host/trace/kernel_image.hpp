// SPDX-License-Identifier: MIT
// What only the image of the kernel knows about the numbers in its records: the formats of trace_printf (section
// .trace_formats, where a format's number is its offset), and which function an instruction belongs to (symbol table).
// A reader takes them from the image that ran or from formats.json, the copy that a session keeps. Both name the image
// by its build id, and so does the trace: those of another image are never used. An image is input like any other:
// nothing in it is trusted.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace host::trace {

inline constexpr std::string_view kFormatsName = "formats.json";

struct Function {
    std::uint64_t address = 0;
    std::uint64_t size_bytes = 0; // 0: not known; it extends to the next one
    std::string name;             // as in the source: demangled, unless that would be too long; not escaped
};

class KernelImage {
  public:
    // From an ELF image.
    [[nodiscard]] static lib::Result<KernelImage, Refusal> from_image(const std::string& path);

    // From formats.json.
    [[nodiscard]] static lib::Result<KernelImage, Refusal> parse(std::string_view text_untrusted);
    [[nodiscard]] static lib::Result<KernelImage, Refusal> load(const std::string& path);

    [[nodiscard]] std::string to_json_text() const;

    // The image that all of this belongs to: the first eight bytes of its build id; 0: it has none.
    [[nodiscard]] std::uint64_t image_id() const { return m_image_id; }

    // Null if there is no format of this number.
    [[nodiscard]] const std::string* format(std::uint32_t id) const;

    [[nodiscard]] const std::map<std::uint32_t, std::string>& formats() const { return m_formats; }

    // Null if the address is in no function.
    [[nodiscard]] const Function* function_at(std::uint64_t address) const;

    // By address, none twice.
    [[nodiscard]] const std::vector<Function>& functions() const { return m_functions; }

  private:
    [[nodiscard]] lib::Result<void, Refusal> read_image(std::string_view image_untrusted);
    void set_functions(std::vector<Function> functions);

    std::uint64_t m_image_id = 0;
    std::map<std::uint32_t, std::string> m_formats;
    std::vector<Function> m_functions;
};

// Names of C++ functions as the source has them. A name that could become too long stays mangled, and so does every
// name once all of them together have cost too much: a mangled name may refer back to parts of itself, so each few
// letters can double its length, and the library cannot be stopped once it has begun.
//
// How long the name may become, in letters of which each means a word at most; saturates.
[[nodiscard]] std::uint64_t demangled_estimate(std::string_view mangled_untrusted);

class Demangler {
  public:
    // As it is if it is no mangled name, or one that is refused.
    [[nodiscard]] std::string name(std::string_view mangled_untrusted);

  private:
    static constexpr std::uint64_t kBudget = 16 * 1024 * 1024; // of estimates; this kernel's names take 1.2 million

    std::uint64_t m_left = kBudget;
};

} // namespace host::trace
