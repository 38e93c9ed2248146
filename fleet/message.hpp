// SPDX-License-Identifier: MIT
// These messages go from a recorder to a store: chunks, byte for byte as the machine sent them, and after the last one
// the texts of trace_printf, if the session has them, and its manifest. An Outlet publishes messages, a Source takes
// them. A loader that does not know the kind formats rejects these messages alone.
//
//   subject   REMORA.<site>.<node>
//   headers   Nats-Msg-Id       <boot id>/<cpu>/<chunk>/<generation>, <boot id>/formats, or <boot id>/session
//             Remora-Kind       chunk, formats or session
//             Remora-Started    when the session began, seconds since 1970 (UTC)
//   body      the file of the chunk; formats.json; or manifest.json
//
// A run that streams reuses chunk numbers, so the generation is part of the id: without it the server would treat the
// second use as a duplicate of the first.
#pragma once

#include "host/formats/dat/segment.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace host::fleet {

// The names identify the machine that recorded a trace. Each has 1 to 63 characters of A-Z a-z 0-9 _ and -, which are
// safe in subjects, paths and SQL.
struct NodeName {
    std::string site;
    std::string node;

    friend auto operator<=>(const NodeName&, const NodeName&) = default;
};

[[nodiscard]] bool is_name(std::string_view text_untrusted);

// Turns any text into a name: other characters become -, a text that is too long is cut. The result is never empty.
[[nodiscard]] std::string name_of(std::string_view text_untrusted);

// Returns the boot id as 16 hexadecimal digits.
[[nodiscard]] std::string boot_text(std::uint64_t boot_id);

// The tables can store no later start of a session, in seconds since 1970.
inline constexpr std::uint64_t kStartedMax = 0xFFFF'FFFF;

// A batch is loaded in this order, because a session in it may list its chunks and need its formats.
enum class MessageKind : std::uint8_t { chunk, formats, session };

inline constexpr std::size_t kFormatsBytesMax = std::size_t{16} << 20; // of the body of `formats`

struct Message {
    NodeName from;
    MessageKind kind = MessageKind::chunk;
    std::string id;
    std::int64_t started_s = 0; // since 1970
    std::string body;

    // These are set in a message that comes from a Source, and 0 in others.
    std::uint64_t sequence = 0;   // in its stream, from 1 on
    std::uint64_t deliveries = 0; // this one included
    std::uint64_t handle = 0;     // of the Source
};

[[nodiscard]] std::string chunk_message_id(const formats::dat::ChunkKey& key);
[[nodiscard]] std::string session_message_id(std::uint64_t boot_id);
[[nodiscard]] std::string formats_message_id(std::uint64_t boot_id);

// Returns nothing if the text is not exactly what chunk_message_id() returns for a key.
[[nodiscard]] std::optional<formats::dat::ChunkKey> chunk_key_of(std::string_view id_untrusted);

// Returns nothing if the text is not exactly what the function above returns for a boot id.
[[nodiscard]] std::optional<std::uint64_t> session_boot_of(std::string_view id_untrusted);
[[nodiscard]] std::optional<std::uint64_t> formats_boot_of(std::string_view id_untrusted);

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
// Returns nothing if the subject has another form.
[[nodiscard]] std::optional<NodeName> node_of_subject(std::string_view subject_untrusted);

// The head has the subject and the headers of a message, which come with its body.
struct MessageHead {
    std::string_view subject;
    std::string_view id;
    std::string_view kind;
    std::string_view started;
};

// Returns the message without its body, or what is wrong with its head.
[[nodiscard]] lib::Result<Message, trace::Refusal> message_of(const MessageHead& head_untrusted);

} // namespace host::fleet
