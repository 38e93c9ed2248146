// SPDX-License-Identifier: MIT
// Two sections of an ELF64 file, and JSON. ELF: System V ABI, "Object Files", and the GNU build-id note.
#include "host/trace/formats.hpp"

#include "host/trace/byte_source.hpp"
#include "host/trace/escape.hpp"
#include "host/trace/json.hpp"
#include "lib/endian.hpp"

#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace host::trace {

namespace {

constexpr std::string_view kFormat = "remora-formats";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kFileBytesMax = 256 * 1024 * 1024;
constexpr std::string_view kMagic = "RFMT1"; // at the beginning of the section, see linker.ld
constexpr std::size_t kFirstFormat = 8;

// A file of a sensible size, whole.
lib::Result<std::string> read_file(const std::string& path, std::string& why) {
    const auto source = ByteSource::open(path);
    if (!source) {
        why = error_name(source.error());
        return source.error();
    }
    if (!source.value()->seekable() || source.value()->size_bytes() > kFileBytesMax) {
        why = "it is no regular file of a sensible size";
        return lib::Error::unsupported;
    }
    std::string text(source.value()->size_bytes(), '\0');
    const auto count = source.value()->read(0, std::as_writable_bytes(std::span(text)));
    if (!count) {
        why = error_name(count.error());
        return count.error();
    }
    text.resize(count.value());
    return text;
}

// Little-endian words of a file at any offset; nothing beyond its end.
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

    // The contents of a section, by its name.
    [[nodiscard]] std::optional<std::string_view> section(std::string_view name) const {
        const auto table = at<std::uint64_t>(0x28);
        const auto entry_bytes = at<std::uint16_t>(0x3A);
        const auto count = at<std::uint16_t>(0x3C);
        const auto names_index = at<std::uint16_t>(0x3E);
        if (!table || !entry_bytes || !count || !names_index || *entry_bytes < 0x40) {
            return std::nullopt;
        }
        const auto header = [&](std::uint64_t index) { return *table + index * *entry_bytes; };
        const auto contents = [&](std::uint64_t index) -> std::optional<std::string_view> {
            const auto offset = at<std::uint64_t>(header(index) + 0x18);
            const auto size = at<std::uint64_t>(header(index) + 0x20);
            return offset && size ? range(*offset, *size) : std::nullopt;
        };
        const auto names = contents(*names_index);
        for (std::uint64_t index = 0; names && index < *count; ++index) {
            const auto name_at = at<std::uint32_t>(header(index));
            if (name_at && *name_at < names->size() && names->substr(*name_at).starts_with(name) &&
                names->substr(*name_at).substr(name.size()).starts_with('\0')) {
                return contents(index);
            }
        }
        return std::nullopt;
    }

  private:
    std::string_view m_bytes;
};

} // namespace

bool FormatTable::read_image(std::string_view image_untrusted, std::string& why) {
    constexpr std::string_view kElf64Little = "\x7f"
                                              "ELF\x02\x01";
    if (!image_untrusted.starts_with(kElf64Little)) {
        why = "it is no 64-bit ELF image";
        return false;
    }
    const Image image(image_untrusted);
    const auto formats = image.section(".trace_formats");
    if (!formats || !formats->starts_with(kMagic)) {
        why = "it has no section .trace_formats: it is no image of this kernel, or its sections were stripped";
        return false;
    }
    if (const auto note = image.section(".note.gnu.build-id"); note && note->size() >= 24) {
        m_image_id = Image(*note).at<std::uint64_t>(16).value_or(0);
    }
    // The compiler aligns longer texts, so zeros lie between them.
    for (std::size_t at = kFirstFormat; at < formats->size();) {
        const std::size_t end = std::min(formats->find('\0', at), formats->size());
        if (end > at) {
            m_formats.emplace(static_cast<std::uint32_t>(at), formats->substr(at, end - at));
        }
        at = end + 1;
    }
    return true;
}

lib::Result<FormatTable> FormatTable::from_image(const std::string& path, std::string& why) {
    const auto image = read_file(path, why);
    if (!image) {
        return image.error();
    }
    FormatTable table;
    if (!table.read_image(image.value(), why)) {
        return lib::Error::corrupt;
    }
    return table;
}

lib::Result<FormatTable> FormatTable::load(const std::string& path, std::string& why) {
    const auto text = read_file(path, why);
    if (!text) {
        return text.error();
    }
    return parse(text.value(), why);
}

lib::Result<FormatTable> FormatTable::parse(std::string_view text_untrusted, std::string& why) {
    try {
        const Json json = Json::parse(text_untrusted);
        if (json.at("format") != kFormat) {
            why = "it is no table of formats";
            return lib::Error::corrupt;
        }
        if (json.at("version").get<std::uint32_t>() > kVersion) {
            why = "it was written by a newer version";
            return lib::Error::unsupported;
        }
        FormatTable table;
        const auto image = json.at("image").get<std::string>();
        const auto [end, error] = std::from_chars(image.data(), image.data() + image.size(), table.m_image_id, 16);
        if (error != std::errc{} || end != image.data() + image.size()) {
            why = "image is no hexadecimal number";
            return lib::Error::corrupt;
        }
        for (const Json& entry : json.at("formats")) {
            table.m_formats.emplace(entry.at("id").get<std::uint32_t>(), entry.at("text").get<std::string>());
        }
        return table;
    } catch (const Json::exception& exception) {
        why = escaped(exception.what());
        return lib::Error::corrupt;
    }
}

std::string FormatTable::to_json_text() const {
    Json json;
    json["format"] = kFormat;
    json["version"] = kVersion;
    json["image"] = fmt::format("{:016x}", m_image_id);
    json["formats"] = Json::array();
    for (const auto& [id, text] : m_formats) {
        json["formats"].push_back({{"id", id}, {"text", text}});
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

const std::string* FormatTable::find(std::uint32_t id) const {
    const auto found = m_formats.find(id);
    return found != m_formats.end() ? &found->second : nullptr;
}

} // namespace host::trace
