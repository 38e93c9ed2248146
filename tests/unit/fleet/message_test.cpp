// SPDX-License-Identifier: MIT
// Tests ids, subjects and headers: read back, and refused in any other form.
#include "fleet/message.hpp"

#include <gtest/gtest.h>

namespace host::fleet {
namespace message_test {

using formats::dat::ChunkKey;

TEST(MessageId, OfAChunkIsReadBack) {
    for (const ChunkKey& key :
         {ChunkKey{}, ChunkKey{.boot_id = 0xB007, .cpu = 1, .chunk = 2, .generation = 3},
          ChunkKey{.boot_id = ~std::uint64_t{0}, .cpu = 0xFFFF, .chunk = 0xFFFF, .generation = 0xFFFF'FFFF}}) {
        EXPECT_EQ(chunk_key_of(chunk_message_id(key)), key);
    }
}

TEST(MessageId, OfAChunkHasOneSpelling) {
    EXPECT_TRUE(chunk_key_of("000000000000b007/1/2/3").has_value());
    for (const char* const id :
         {"", "000000000000b007", "000000000000b007/1/2", "000000000000b007/1/2/3/", "000000000000b007/1/2/3/4",
          "b007/1/2/3", "000000000000B007/1/2/3", "000000000000b007/01/2/3", "000000000000b007/65536/2/3",
          "000000000000b007/1/65536/3", "000000000000b007/1/2/4294967296", "000000000000b007/1/2/-1",
          "000000000000b007/1//3", " 000000000000b007/1/2/3", "000000000000b007/session"}) {
        EXPECT_FALSE(chunk_key_of(id).has_value()) << id;
    }
}

TEST(MessageId, OfASessionHasOneSpelling) {
    EXPECT_EQ(session_boot_of(session_message_id(0xB007)), 0xB007U);
    for (const char* const id : {"", "session", "b007/session", "000000000000b007/", "000000000000b007/session/",
                                 "000000000000B007/session", "000000000000b007/1/2/3"}) {
        EXPECT_FALSE(session_boot_of(id).has_value()) << id;
    }
}

TEST(MessageId, OfFormatsIsThatOfNoSession) {
    EXPECT_EQ(formats_boot_of(formats_message_id(0xB007)), 0xB007U);
    EXPECT_EQ(formats_boot_of(session_message_id(0xB007)), std::nullopt);
    EXPECT_EQ(session_boot_of(formats_message_id(0xB007)), std::nullopt);
}

TEST(Subject, NamesSiteAndNode) {
    const NodeName from{.site = "lab", .node = "board-7"};
    EXPECT_EQ(node_of_subject(subject_of(from)), from);
    for (const char* const subject : {"", "REMORA", "REMORA.lab", "REMORA.lab.", "REMORA..board", "REMORA.lab.a.b",
                                      "OTHER.lab.board", "REMORA_DEAD.lab.board", "REMORA.lab.a b"}) {
        EXPECT_FALSE(node_of_subject(subject).has_value()) << subject;
    }
}

TEST(MessageHead, IsReadOnlyIfAllOfItIsRight) {
    const MessageHead right{
        .subject = "REMORA.lab.board-7", .id = "000000000000b007/1/2/3", .kind = "chunk", .started = "1700000000"};
    const auto read = message_of(right);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read.value().from, (NodeName{.site = "lab", .node = "board-7"}));
    EXPECT_EQ(read.value().kind, MessageKind::chunk);
    EXPECT_EQ(read.value().started_s, 1'700'000'000);

    const auto refused = [&right](auto change) {
        MessageHead head = right;
        change(head);
        return !message_of(head).ok();
    };
    EXPECT_TRUE(refused([](MessageHead& head) { head.subject = "REMORA.lab"; }));
    for (const MessageKind kind : {MessageKind::formats, MessageKind::session}) {
        EXPECT_TRUE(refused([kind](MessageHead& head) { head.kind = kind_name(kind); })) << "it has the id of a chunk";
        MessageHead head = right;
        head.kind = kind_name(kind);
        const std::string id = kind == MessageKind::formats ? formats_message_id(1) : session_message_id(1);
        head.id = id;
        EXPECT_EQ(message_of(head).value().kind, kind);
    }
    EXPECT_TRUE(refused([](MessageHead& head) { head.kind = "Chunk"; }));
    EXPECT_TRUE(refused([](MessageHead& head) { head.id = "000000000000b007/session"; }));
    for (const char* const started : {"", "-1", "01", "1.5", "4294967296", "1/", "x"}) {
        EXPECT_TRUE(refused([started](MessageHead& head) { head.started = started; })) << started;
    }
}

} // namespace message_test
} // namespace host::fleet
