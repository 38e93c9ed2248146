// SPDX-License-Identifier: MIT
#include "fleet/message.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/list.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace host::fleet {

namespace {

constexpr std::size_t kNameMax = 63;

bool is_name_character(char character) {
    return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z') ||
           (character >= '0' && character <= '9') || character == '_' || character == '-';
}

constexpr std::array<std::string_view, 3> kKindNames = {"chunk", "formats", "session"}; // in the order of MessageKind

std::optional<std::uint64_t> boot_of(std::string_view id_untrusted, std::string (*id_of)(std::uint64_t boot_id)) {
    const auto boot = text::number_of<std::uint64_t>(id_untrusted.substr(0, id_untrusted.find('/')), 16);
    return boot && id_of(*boot) == id_untrusted ? boot : std::nullopt;
}

bool is_id_of(MessageKind kind, std::string_view id_untrusted) {
    return kind == MessageKind::chunk     ? chunk_key_of(id_untrusted).has_value()
           : kind == MessageKind::formats ? formats_boot_of(id_untrusted).has_value()
                                          : session_boot_of(id_untrusted).has_value();
}

} // namespace

bool is_name(std::string_view text_untrusted) {
    return !text_untrusted.empty() && text_untrusted.size() <= kNameMax &&
           std::ranges::all_of(text_untrusted, is_name_character);
}

std::string name_of(std::string_view text_untrusted) {
    std::string name(text_untrusted.substr(0, kNameMax));
    std::ranges::replace_if(
        name, [](char character) { return !is_name_character(character); }, '-');
    return name.empty() ? "-" : name;
}

std::string boot_text(std::uint64_t boot_id) {
    return fmt::format("{:016x}", boot_id);
}

std::string chunk_message_id(const formats::dat::ChunkKey& key) {
    return fmt::format("{:016x}/{}/{}/{}", key.boot_id, key.cpu, key.chunk, key.generation);
}

std::string session_message_id(std::uint64_t boot_id) {
    return fmt::format("{:016x}/session", boot_id);
}

std::string formats_message_id(std::uint64_t boot_id) {
    return fmt::format("{:016x}/formats", boot_id);
}

std::optional<formats::dat::ChunkKey> chunk_key_of(std::string_view id_untrusted) {
    std::string_view rest = id_untrusted;
    const auto boot = text::number_of<std::uint64_t>(text::take_until(rest, "/"), 16);
    const auto cpu = text::number_of<std::uint16_t>(text::take_until(rest, "/"));
    const auto chunk = text::number_of<std::uint16_t>(text::take_until(rest, "/"));
    const auto generation = text::number_of<std::uint32_t>(rest);
    if (!boot || !cpu || !chunk || !generation) {
        return std::nullopt;
    }
    const formats::dat::ChunkKey key{.boot_id = *boot, .cpu = *cpu, .chunk = *chunk, .generation = *generation};
    return chunk_message_id(key) == id_untrusted ? std::optional(key) : std::nullopt;
}

std::optional<std::uint64_t> session_boot_of(std::string_view id_untrusted) {
    return boot_of(id_untrusted, session_message_id);
}

std::optional<std::uint64_t> formats_boot_of(std::string_view id_untrusted) {
    return boot_of(id_untrusted, formats_message_id);
}

std::string_view kind_name(MessageKind kind) {
    return kKindNames[static_cast<std::size_t>(kind)];
}

std::string subject_of(const NodeName& from) {
    return fmt::format("{}.{}.{}", kStream, from.site, from.node);
}

std::string dead_subject_of(const NodeName& from) {
    return fmt::format("{}.{}.{}", kDeadStream, from.site, from.node);
}

std::optional<NodeName> node_of_subject(std::string_view subject_untrusted) {
    const std::vector<std::string_view> parts = text::split(subject_untrusted, ".");
    if (parts.size() != 3 || parts[0] != kStream || !is_name(parts[1]) || !is_name(parts[2])) {
        return std::nullopt;
    }
    return NodeName{.site = std::string(parts[1]), .node = std::string(parts[2])};
}

lib::Result<Message, trace::Refusal> message_of(const MessageHead& head_untrusted) {
    const auto from = node_of_subject(head_untrusted.subject);
    if (!from) {
        return trace::Refusal{fmt::format("subject \"{}\" is not of the form {}.SITE.NODE",
                                          text::escaped(head_untrusted.subject), kStream)};
    }
    Message message;
    message.from = *from;
    message.id = head_untrusted.id;
    const auto* const kind = std::ranges::find(kKindNames, head_untrusted.kind);
    if (kind == kKindNames.end()) {
        return trace::Refusal{fmt::format("{} \"{}\" is neither chunk nor session nor formats", kKindHeader,
                                          text::escaped(head_untrusted.kind))};
    }
    message.kind = static_cast<MessageKind>(kind - kKindNames.begin());
    if (!is_id_of(message.kind, message.id)) {
        return trace::Refusal{fmt::format("{} \"{}\" is not the id of a {}", kIdHeader, text::escaped(message.id),
                                          kind_name(message.kind))};
    }
    const auto started = text::number_of<std::uint32_t>(head_untrusted.started);
    static_assert(kStartedMax == std::numeric_limits<std::uint32_t>::max());
    if (!started || fmt::format("{}", *started) != head_untrusted.started) {
        return trace::Refusal{fmt::format("{} \"{}\" is no number of seconds since 1970", kStartedHeader,
                                          text::escaped(head_untrusted.started))};
    }
    message.started_s = *started;
    return message;
}

} // namespace host::fleet
