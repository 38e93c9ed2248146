// SPDX-License-Identifier: MIT
#include "fleet/message.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <charconv>

namespace host::fleet {

namespace {

constexpr std::size_t kNameMax = 63;

bool is_name_character(char character) {
    return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z') ||
           (character >= '0' && character <= '9') || character == '_' || character == '-';
}

// Takes the next number of an id and the slash after it, unless it is the last. Returns nothing if there is no number,
// or if it is above `greatest`.
std::optional<std::uint64_t> take_number(std::string_view& rest, int base, std::uint64_t greatest) {
    const std::string_view text = rest.substr(0, rest.find('/'));
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc{} || end != text.data() + text.size() || number > greatest) {
        return std::nullopt;
    }
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    return number;
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

std::optional<formats::dat::ChunkKey> chunk_key_of(std::string_view id_untrusted) {
    std::string_view rest = id_untrusted;
    const auto boot = take_number(rest, 16, ~std::uint64_t{0});
    const auto cpu = take_number(rest, 10, 0xFFFF);
    const auto chunk = take_number(rest, 10, 0xFFFF);
    const auto generation = take_number(rest, 10, 0xFFFF'FFFF);
    if (!boot || !cpu || !chunk || !generation) {
        return std::nullopt;
    }
    const formats::dat::ChunkKey key{.boot_id = *boot,
                                     .cpu = static_cast<std::uint16_t>(*cpu),
                                     .chunk = static_cast<std::uint16_t>(*chunk),
                                     .generation = static_cast<std::uint32_t>(*generation)};
    return chunk_message_id(key) == id_untrusted ? std::optional(key) : std::nullopt;
}

std::optional<std::uint64_t> session_boot_of(std::string_view id_untrusted) {
    std::string_view rest = id_untrusted;
    const auto boot = take_number(rest, 16, ~std::uint64_t{0});
    return boot && session_message_id(*boot) == id_untrusted ? boot : std::nullopt;
}

std::string_view kind_name(MessageKind kind) {
    return kind == MessageKind::chunk ? "chunk" : "session";
}

std::string subject_of(const NodeName& from) {
    return fmt::format("{}.{}.{}", kStream, from.site, from.node);
}

std::string dead_subject_of(const NodeName& from) {
    return fmt::format("{}.{}.{}", kDeadStream, from.site, from.node);
}

std::optional<NodeName> node_of_subject(std::string_view subject_untrusted) {
    const std::size_t first = subject_untrusted.find('.');
    const std::size_t second = first == std::string_view::npos ? first : subject_untrusted.find('.', first + 1);
    if (second == std::string_view::npos || subject_untrusted.substr(0, first) != kStream) {
        return std::nullopt;
    }
    NodeName from{.site = std::string(subject_untrusted.substr(first + 1, second - first - 1)),
                  .node = std::string(subject_untrusted.substr(second + 1))};
    return is_name(from.site) && is_name(from.node) ? std::optional(std::move(from)) : std::nullopt;
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
    const bool session = head_untrusted.kind == kind_name(MessageKind::session);
    if (!session && head_untrusted.kind != kind_name(MessageKind::chunk)) {
        return trace::Refusal{
            fmt::format("{} \"{}\" is neither chunk nor session", kKindHeader, text::escaped(head_untrusted.kind))};
    }
    message.kind = session ? MessageKind::session : MessageKind::chunk;
    if (session ? !session_boot_of(message.id) : !chunk_key_of(message.id)) {
        return trace::Refusal{fmt::format("{} \"{}\" is not the id of a {}", kIdHeader, text::escaped(message.id),
                                          kind_name(message.kind))};
    }
    std::string_view rest = head_untrusted.started;
    const auto started = take_number(rest, 10, kStartedMax);
    if (!started || !rest.empty() || fmt::format("{}", *started) != head_untrusted.started) {
        return trace::Refusal{fmt::format("{} \"{}\" is no number of seconds since 1970", kStartedHeader,
                                          text::escaped(head_untrusted.started))};
    }
    message.started_s = static_cast<std::int64_t>(*started);
    return message;
}

} // namespace host::fleet
