// SPDX-License-Identifier: MIT
// Reads four sections of an ELF64 file, and JSON. Sources: System V ABI, "Object Files", and the GNU build-id note.
#include "host/trace/kernel_image.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/json.hpp"
#include "host/trace/program_output.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <filesystem>
#include <memory>
#include <optional>

namespace host::trace {

// --- demangler -------------------------------------------------------------------------------------------------------

// Source: Itanium C++ ABI, chapter 5.1 "External Names (a.k.a. Mangling)".

namespace {

constexpr std::size_t kMangledMax = 512;
constexpr std::uint64_t kEstimateMax = 1024 * 1024; // this kernel's longest is a third of it

// Returns the length of a reference such as S_ or T1A_ at the beginning, or 0. A part of an identifier may look the
// same; then the estimate is too high.
std::size_t reference_length(std::string_view text) {
    if (!text.starts_with('S') && !text.starts_with('T')) {
        return 0;
    }
    const std::size_t end = text.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1);
    return end != std::string_view::npos && text[end] == '_' ? end + 1 : 0;
}

// Returns whether a part may be repeated for each element of a parameter pack. The letters sp in std::span are not a
// pack expansion.
bool may_expand_packs(std::string_view mangled) {
    if (mangled.find("Dp") != std::string_view::npos) {
        return true;
    }
    for (std::size_t at = mangled.find("sp"); at != std::string_view::npos; at = mangled.find("sp", at + 1)) {
        if (at == 0 || !mangled.substr(at - 1).starts_with("4span")) {
            return true;
        }
    }
    return false;
}

} // namespace

// A reference means at most everything before it. Adjacent references do not refer to each other, because whatever
// can be referred to ends with another letter.
std::uint64_t demangled_estimate(std::string_view mangled_untrusted) {
    constexpr std::uint64_t kFull = std::uint64_t{1} << 48; // multiplied by a length, it still fits
    std::uint64_t all = 0;
    std::uint64_t referable = 0;
    for (std::size_t at = 0; at < mangled_untrusted.size() && all < kFull;) {
        if (const std::size_t length = reference_length(mangled_untrusted.substr(at)); length != 0) {
            all += referable;
            at += length;
        } else {
            referable = ++all;
            ++at;
        }
    }
    const std::uint64_t elements = may_expand_packs(mangled_untrusted) ? mangled_untrusted.size() : 1;
    return all < kFull ? all * elements : kFull;
}

std::string Demangler::name(std::string_view mangled_untrusted) {
    std::string mangled(mangled_untrusted);
    if (!mangled.starts_with("_Z") || mangled.size() > kMangledMax) {
        return mangled;
    }
    const std::uint64_t estimate = demangled_estimate(mangled);
    if (estimate > kEstimateMax || estimate > m_left) {
        return mangled;
    }
    m_left -= estimate; // also if demangling fails, because that takes as long
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                                      &std::free);
    return status == 0 && text != nullptr ? std::string(text.get()) : mangled;
}

namespace {

constexpr std::string_view kFormat = "remora-formats";
constexpr std::uint32_t kVersion = 1;
constexpr std::string_view kMagic = "RFMT1"; // the section begins with this, see linker.ld
constexpr std::size_t kFirstFormat = 8;

// Reads little-endian words of a file at any offset; nothing beyond its end.
class Image {
  public:
    explicit Image(std::string_view bytes)
        : m_bytes(bytes) {}

    template <typename T>
    [[nodiscard]] std::optional<T> at(std::uint64_t offset) const {
        const auto bytes = range(offset, sizeof(T));
        if (!bytes) {
            return std::nullopt;
        }
        return lib::load_le<T>(std::as_bytes(std::span(*bytes)));
    }

    [[nodiscard]] std::optional<std::string_view> range(std::uint64_t offset, std::uint64_t size) const {
        if (offset > m_bytes.size() || size > m_bytes.size() - offset) {
            return std::nullopt;
        }
        return m_bytes.substr(offset, size);
    }

    // Returns the contents of a section, by its name.
    [[nodiscard]] std::optional<std::string_view> section(std::string_view name) const {
        const auto header = header_of(name);
        return header ? contents_at(*header) : std::nullopt;
    }

    // Returns the address at which a section of this name is loaded; 0: it is not loaded.
    [[nodiscard]] std::uint64_t address_of(std::string_view name) const {
        const auto header = header_of(name);
        return header ? at<std::uint64_t>(*header + 0x10).value_or(0) : 0;
    }

    [[nodiscard]] bool is_executable(std::uint64_t section) const {
        constexpr std::uint64_t kInstructions = 0x4; // SHF_EXECINSTR
        const auto count = at<std::uint16_t>(0x3C);
        const auto header = section_header(section);
        const auto flags = header && section < count.value_or(0) ? at<std::uint64_t>(*header + 0x08) : std::nullopt;
        return (flags.value_or(0) & kInstructions) != 0;
    }

  private:
    [[nodiscard]] std::optional<std::uint64_t> header_of(std::string_view name) const {
        const auto count = at<std::uint16_t>(0x3C);
        const auto names_index = at<std::uint16_t>(0x3E);
        const auto names = names_index ? contents(*names_index) : std::nullopt;
        for (std::uint64_t index = 0; names && index < count.value_or(0); ++index) {
            const auto header = section_header(index);
            const auto name_at = header ? at<std::uint32_t>(*header) : std::nullopt;
            if (name_at && *name_at < names->size() && names->substr(*name_at).starts_with(name) &&
                names->substr(*name_at).substr(name.size()).starts_with('\0')) {
                return header;
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<std::uint64_t> section_header(std::uint64_t index) const {
        const auto table = at<std::uint64_t>(0x28);
        const auto entry_bytes = at<std::uint16_t>(0x3A);
        if (!table || !entry_bytes || *entry_bytes < 0x40) {
            return std::nullopt;
        }
        return *table + index * *entry_bytes;
    }

    [[nodiscard]] std::optional<std::string_view> contents(std::uint64_t index) const {
        const auto header = section_header(index);
        return header ? contents_at(*header) : std::nullopt;
    }

    [[nodiscard]] std::optional<std::string_view> contents_at(std::uint64_t header) const {
        const auto offset = at<std::uint64_t>(header + 0x18);
        const auto size = at<std::uint64_t>(header + 0x20);
        return offset && size ? range(*offset, *size) : std::nullopt;
    }

    std::string_view m_bytes;
};

constexpr std::size_t kTextMax = 4096; // of a format or of the name of a function

// These limits bound the memory: in a small file many symbols may share one long name. This kernel has 1200 names of 60
// KB.
constexpr std::size_t kEntriesMax = 256 * 1024;
constexpr std::size_t kNameBytesMax = 16 * 1024 * 1024;

// Returns the text that ends at a zero byte or at the end of the section; nothing if it is too long.
std::optional<std::string_view> text_at(std::string_view section, std::size_t at) {
    const std::string_view rest = section.substr(at, kTextMax + 1);
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    return end <= kTextMax ? std::optional(rest.substr(0, end)) : std::nullopt;
}

Refusal too_long(std::string_view what, std::uint64_t number, std::size_t bytes, std::string_view remedy) {
    return Refusal{
        fmt::format("the {} {} has a text of {} bytes, more than {}: {}", what, number, bytes, kTextMax, remedy)};
}

// Returns the functions and the labels of assembler code.
lib::Result<std::vector<Function>, Refusal> functions_of(const Image& image) {
    constexpr std::size_t kEntryBytes = 24;
    constexpr std::uint8_t kNoType = 0;
    constexpr std::uint8_t kFunctionType = 2;
    std::vector<Function> functions;
    Demangler demangler;
    std::size_t name_bytes = 0;
    const auto symbols = image.section(".symtab");
    const auto names = image.section(".strtab");
    if (!symbols || !names) {
        return functions;
    }
    const Image table(*symbols);
    for (std::size_t at = 0; at + kEntryBytes <= symbols->size(); at += kEntryBytes) {
        const auto name_at = table.at<std::uint32_t>(at).value_or(0);
        const unsigned type = table.at<std::uint8_t>(at + 4).value_or(0) & 0x0FU;
        const auto section = table.at<std::uint16_t>(at + 6).value_or(0);
        const bool code = type == kFunctionType || (type == kNoType && image.is_executable(section));
        if (!code || name_at >= names->size()) {
            continue;
        }
        const auto name = text_at(*names, name_at);
        if (!name || name->empty() || name->starts_with(".L")) {
            continue;
        }
        std::string demangled = demangler.name(*name);
        functions.push_back({table.at<std::uint64_t>(at + 8).value_or(0), table.at<std::uint64_t>(at + 16).value_or(0),
                             demangled.size() <= kTextMax ? std::move(demangled) : std::string(*name)});
        name_bytes += functions.back().name.size();
        if (functions.size() > kEntriesMax || name_bytes > kNameBytesMax) {
            return Refusal{"its functions, or their names, are more than any kernel has"};
        }
    }
    return functions;
}

} // namespace

// If an address has several names, the one with the greatest size is kept.
void KernelImage::set_functions(std::vector<Function> functions) {
    std::ranges::stable_sort(functions, [](const Function& one, const Function& other) {
        return one.address != other.address ? one.address < other.address : one.size_bytes > other.size_bytes;
    });
    functions.erase(
        std::unique(functions.begin(), functions.end(),
                    [](const Function& one, const Function& other) { return one.address == other.address; }),
        functions.end());
    m_functions = std::move(functions);
}

lib::Result<void, Refusal> KernelImage::read_image(std::string_view image_untrusted, const std::string& path) {
    constexpr std::string_view kElf64Little = "\x7f"
                                              "ELF\x02\x01";
    if (!image_untrusted.starts_with(kElf64Little)) {
        return Refusal{"it is no 64-bit ELF image"};
    }
    const Image image(image_untrusted);
    const auto formats = image.section(".trace_formats");
    if (!formats || !formats->starts_with(kMagic)) {
        return Refusal{
            "it has no section .trace_formats: it is no image of this kernel, or its sections were stripped"};
    }
    if (const auto note = image.section(".note.gnu.build-id"); note && note->size() >= 24) {
        m_image_id = Image(*note).at<std::uint64_t>(16).value_or(0);
    }
    // A format's number is its address, which is its offset if the section is not loaded. The compiler aligns longer
    // texts, so there are zero bytes between them.
    const std::uint64_t base = image.address_of(".trace_formats");
    for (std::size_t at = kFirstFormat; at < formats->size();) {
        const std::size_t end = std::min(formats->find('\0', at), formats->size());
        if (end - at > kTextMax) {
            return too_long("format", at, end - at, "shorten it, or split it in two");
        }
        if (end > at) {
            m_formats.emplace(static_cast<std::uint32_t>(base + at), formats->substr(at, end - at));
        }
        if (m_formats.size() > kEntriesMax) {
            return Refusal{"its formats are more than any kernel has"};
        }
        at = end + 1;
    }
    auto functions = functions_of(image);
    if (!functions) {
        return functions.error();
    }
    set_functions(std::move(functions.value()));
    m_file_of_lines = image.section(".debug_line") ? path : "";
    return {};
}

lib::Result<KernelImage, Refusal> KernelImage::from_image(const std::string& path) {
    const auto image = read_file(path, kFileBytesMax);
    if (!image) {
        return Refusal{image.error().text};
    }
    KernelImage table;
    if (const auto read = table.read_image(image.value(), path); !read) {
        return read.error();
    }
    return table;
}

lib::Result<KernelImage, Refusal> KernelImage::load(const std::string& path) {
    const auto text = read_file(path, kFileBytesMax);
    if (!text) {
        return Refusal{text.error().text};
    }
    return parse(text.value());
}

lib::Result<KernelImage, Refusal> KernelImage::parse(std::string_view text_untrusted) {
    constexpr std::string_view kRemedy = "name the image that ran with --kernel kernel.elf";
    try {
        const Json json = Json::parse(text_untrusted);
        if (json.at("format") != kFormat) {
            return Refusal{"it is no table of formats"};
        }
        if (json.at("version").get<std::uint32_t>() > kVersion) {
            return Refusal{"it was written by a newer version"};
        }
        KernelImage table;
        const auto image = json.at("image").get<std::string>();
        const auto image_id = text::number_of<std::uint64_t>(image, 16);
        if (!image_id) {
            return Refusal{"image is no hexadecimal number"};
        }
        table.m_image_id = *image_id;
        for (const Json& entry : json.at("formats")) {
            const auto id = entry.at("id").get<std::uint32_t>();
            const auto& text = entry.at("text").get_ref<const std::string&>();
            if (text.size() > kTextMax) {
                return too_long("format", id, text.size(), kRemedy);
            }
            table.m_formats.emplace(id, text);
        }
        std::vector<Function> functions;
        for (const Json& entry : json.value("functions", Json::array())) { // older copies have no functions
            const auto& name = entry.at("name").get_ref<const std::string&>();
            if (name.size() > kTextMax) {
                return too_long("function", functions.size(), name.size(), kRemedy);
            }
            functions.push_back(
                {entry.at("address").get<std::uint64_t>(), entry.at("size").get<std::uint64_t>(), name});
        }
        table.set_functions(std::move(functions));
        return table;
    } catch (const Json::exception& exception) {
        return Refusal{text::escaped(exception.what())};
    }
}

std::string KernelImage::to_json_text() const {
    Json json;
    json["format"] = kFormat;
    json["version"] = kVersion;
    json["image"] = fmt::format("{:016x}", m_image_id);
    json["formats"] = Json::array();
    for (const auto& [id, text] : m_formats) {
        json["formats"].push_back({{"id", id}, {"text", text}});
    }
    json["functions"] = Json::array();
    for (const Function& function : m_functions) {
        json["functions"].push_back(
            {{"address", function.address}, {"size", function.size_bytes}, {"name", function.name}});
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

const std::string* KernelImage::format(std::uint32_t id) const {
    const auto found = m_formats.find(id);
    return found != m_formats.end() ? &found->second : nullptr;
}

std::vector<std::string> KernelImage::lines_at(std::span<const std::uint64_t> addresses) const {
    constexpr ProgramLimits kLimits{.processor_s = 10, .output_bytes = std::size_t{1} << 20};
    std::vector<std::string> lines(addresses.size());
    if (!has_lines()) {
        return lines;
    }
    std::vector<std::string> words = {"addr2line", "-e", m_file_of_lines};
    for (const std::uint64_t address : addresses) {
        words.push_back(fmt::format("0x{:x}", address));
    }
    const auto printed = output_of(words, kLimits);
    std::string_view rest = printed ? std::string_view(printed.value()) : "";
    for (std::string& line : lines) {
        // "./kernel/sync/mutex.cpp:120 (discriminator 3)"; "??:0", or another text without a number: it is not known.
        std::string_view text = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(text.size() + 1, rest.size()));
        text = text.substr(0, text.find(" (discriminator"));
        const std::size_t colon = std::min(text.rfind(':'), text.size());
        if (text::number_of<std::uint64_t>(text.substr(std::min(colon + 1, text.size()))).value_or(0) != 0) {
            line = std::filesystem::path(text).lexically_normal().string();
        }
    }
    return lines;
}

const Function* KernelImage::function_at(std::uint64_t address) const {
    const auto next = std::ranges::upper_bound(m_functions, address, {}, &Function::address);
    if (next == m_functions.begin()) {
        return nullptr;
    }
    const Function& function = *std::prev(next);
    const bool inside = function.size_bytes == 0 || address - function.address < function.size_bytes;
    return inside ? &function : nullptr;
}

} // namespace host::trace
