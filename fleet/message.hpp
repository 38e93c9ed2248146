// SPDX-License-Identifier: MIT
// What travels from a recorder to a store: chunks, byte for byte as the machine sent them, and after the last one the
// session's manifest. No connection is in here: an Outlet publishes messages, a Source takes them.
//
//   subject   REMORA.<site>.<node>
//   headers   Nats-Msg-Id       <boot id>/<cpu>/<chunk>/<generation>, or <boot id>/session
//             Remora-Kind       chunk or session
//             Remora-Started    when the session began, seconds since 1970 (UTC)
//   body      the file of the chunk; or manifest.json
//
// A chunk number is used again in a run that streams, so the generation is part of the id: without it the server would
// take the second use for a duplicate of the first.
#pragma once

#include "host/formats/dat/segment.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace host::fleet {

// Whose trace it is. Each: 1 to 63 characters of A-Z a-z 0-9 _ and -, which are safe in subjects, paths and SQL.
struct NodeName {
    std::string site;
    std::string node;

    friend auto operator<=>(const NodeName&, const NodeName&) = default;
};

[[nodiscard]] bool is_name(std::string_view text_untrusted);

// Any text as a name: what is not allowed becomes -, what is too long is cut. Never empty.
[[nodiscard]] std::string name_of(std::string_view text_untrusted);

// 16 hexadecimal digits, as everywhere else.
[[nodiscard]] std::string boot_text(std::uint64_t boot_id);

// The greatest time at which a session can begin, as the tables store it.
inline constexpr std::uint64_t kStartedMax = 0xFFFF'FFFF;

enum class MessageKind : std::uint8_t { chunk, session };

struct Message {
    NodeName from;
    MessageKind kind = MessageKind::chunk;
    std::string id;
    std::int64_t started_s = 0; // since 1970
    std::string body;

    // Of a message that a Source gave; 0 before.
    std::uint64_t sequence = 0;   // in its stream, from 1 on
    std::uint64_t deliveries = 0; // this one included
    std::uint64_t handle = 0;     // of the Source
};

[[nodiscard]] std::string chunk_message_id(const formats::dat::ChunkKey& key);
[[nodiscard]] std::string session_message_id(std::uint64_t boot_id);

// Nothing: it is not an id of a chunk in its one spelling.
[[nodiscard]] std::optional<formats::dat::ChunkKey> chunk_key_of(std::string_view id_untrusted);

// Nothing: it is not an id of a session in its one spelling.
[[nodiscard]] std::optional<std::uint64_t> session_boot_of(std::string_view id_untrusted);

inline constexpr std::string_view kStream = "REMORA";          // subjects REMORA.>
inline constexpr std::string_view kDeadStream = "REMORA_DEAD"; // subjects REMORA_DEAD.>
inline constexpr std::string_view kConsumer = "load";          // durable, shared by all loaders into one store
inline constexpr std::string_view kIdHeader = "Nats-Msg-Id";
inline constexpr std::string_view kKindHeader = "Remora-Kind";
inline constexpr std::string_view kStartedHeader = "Remora-Started";
inline constexpr std::string_view kReasonHeader = "Remora-Reason"; // of a dead letter

[[nodiscard]] std::string_view kind_name(MessageKind kind);

// REMORA.<site>.<node>.
[[nodiscard]] std::string subject_of(const NodeName& from);
[[nodiscard]] std::string dead_subject_of(const NodeName& from);
// Nothing: another form.
[[nodiscard]] std::optional<NodeName> node_of_subject(std::string_view subject_untrusted);

// What comes with a body.
struct MessageHead {
    std::string_view subject;
    std::string_view id;
    std::string_view kind;
    std::string_view started;
};

// A message without its body; or what is wrong with its head.
[[nodiscard]] lib::Result<Message, trace::Refusal> message_of(const MessageHead& head_untrusted);

} // namespace host::fleet
