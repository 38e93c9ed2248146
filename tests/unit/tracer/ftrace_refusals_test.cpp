// SPDX-License-Identifier: MIT
// Tests every bad argument of every published function: -1, the reason with name, argument and value, and no change in
// anything that a caller can observe and everything that the record path uses.
#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/sinks.hpp"

#include <functional>
#include <string_view>

namespace ftrace_refusals_test {

using tests::TracerFixture;

constexpr FTrace_flags kFree = FTRACE_CHUNK_FLAG_FREE;
constexpr FTrace_flags kStop = FTRACE_CHUNK_FLAG_STOP;

// The state that a refused call must not change.
struct Snapshot {
    std::vector<std::vector<std::uint64_t>> chunks;
    std::vector<std::uint64_t> cpu;
    std::vector<std::byte> arena;

    friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

class FTraceRefusals : public testing::Test {
  protected:
    void SetUp() override {
        m_current = FTrace_chunk_create(64, 32, kFree | kStop);
        m_linked = FTrace_chunk_create(64, 0, kFree | FTRACE_CHUNK_FLAG_JTN);
        m_kept = FTrace_chunk_create(64, 0, kFree | FTRACE_CHUNK_FLAG_NODEL);
        m_busy = FTrace_chunk_create(64, 0, kFree | kStop);
        m_free = FTrace_chunk_create(64, 0, kFree);
        ASSERT_TRUE(m_fixture.tracer().exporter.attach(m_sink, tracer::SinkTime::after_exit).ok());
        ASSERT_EQ(FTrace_actual_chunk_select(m_busy), 0);
        ASSERT_EQ(FTrace_enable(), 0);
        TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, 1);
        ASSERT_EQ(FTrace_chunk_link(m_current, m_linked), 0);
        ASSERT_EQ(FTrace_actual_chunk_select(m_current), 0);
        FTrace_disk_writer(FTrace_get_chunk_table()[m_busy]); // queued for a sink that works after the exit
        TRACER_LOGEVENT(FTrace_EVT_ipoint, 2, 2);
    }

    Snapshot snapshot() {
        Snapshot snapshot;
        for (const tracer::Chunk& chunk : m_fixture.tracer().store.slots()) {
            const tracer::ChunkControl& control = chunk.control;
            snapshot.chunks.push_back({control.word, control.limit, control.mode, control.emergency_word,
                                       control.emergency_limit, reinterpret_cast<std::uintptr_t>(control.data),
                                       reinterpret_cast<std::uintptr_t>(control.next), chunk.size_bytes,
                                       chunk.emergency_bytes, chunk.uses, chunk.flags, chunk.exists ? 1U : 0U,
                                       chunk.busy ? 1U : 0U, chunk.carried ? 1U : 0U});
        }
        const tracer::CpuTrace& cpu = m_fixture.tracer().cpu;
        snapshot.cpu = {
            reinterpret_cast<std::uintptr_t>(cpu.active),  cpu.dropped_bytes, cpu.refused_bytes, cpu.mask, cpu.filter,
            reinterpret_cast<std::uintptr_t>(cpu.selected)};
        snapshot.arena.assign(m_fixture.arena().begin(), m_fixture.arena().end());
        return snapshot;
    }

    void refused(const std::function<int()>& call, std::string_view function, std::string_view argument,
                 long long value) {
        SCOPED_TRACE(std::string(function) + " " + std::string(argument) + " " + std::to_string(value));
        m_fixture.tracer().last_error = {};
        const Snapshot before = snapshot();
        EXPECT_EQ(call(), -1);
        EXPECT_TRUE(snapshot() == before) << "something was changed";
        const FTrace_Error error = FTrace_last_error();
        ASSERT_NE(error.function, nullptr);
        EXPECT_EQ(error.function, function);
        EXPECT_EQ(error.argument == nullptr ? "" : error.argument, argument);
        EXPECT_EQ(error.value, value);
        EXPECT_NE(error.text, nullptr);
    }

    TracerFixture m_fixture{4096};
    tests::FakeSink m_sink;
    int m_current = -1;
    int m_linked = -1;
    int m_kept = -1;
    int m_busy = -1;
    int m_free = -1;
};

constexpr int kNoChunk[] = {-1, 256, 255, -2'147'483'647 - 1, 2'147'483'647};

TEST_F(FTraceRefusals, Create) {
    for (const int size : {15, 0, -1, -16, 1000 * 1024 * 1024, 2'147'483'647}) {
        refused([size] { return FTrace_chunk_create(size, 0, kFree); }, "FTrace_chunk_create", "normal_size", size);
    }
    for (const int size : {-1, -16, 1000 * 1024 * 1024, 2'147'483'647}) {
        refused([size] { return FTrace_chunk_create(64, size, kFree); }, "FTrace_chunk_create", "emergency_size", size);
    }
    for (const int flags : {0x0C, 0x0D, 0x02, 0x10, 0x80}) {
        const auto asked = static_cast<FTrace_flags>(flags);
        refused([asked] { return FTrace_chunk_create(64, 0, asked); }, "FTrace_chunk_create", "flags", flags);
    }
    refused([] { return FTrace_chunk_create(8192, 0, kFree); }, "FTrace_chunk_create", "normal_size", 8192);
    EXPECT_EQ(FTrace_chunk_create(16, 0, kFree), 5) << "the next valid call gets the next number";
}

TEST_F(FTraceRefusals, NumbersOfNoChunk) {
    for (const int number : kNoChunk) {
        FTrace_flags flags = 0xA5;
        refused([=] { return FTrace_chunk_delete(number); }, "FTrace_chunk_delete", "number", number);
        refused([=] { return FTrace_set_chunk_flags(number, 0); }, "FTrace_set_chunk_flags", "number", number);
        refused([&] { return FTrace_get_chunk_flags(number, &flags); }, "FTrace_get_chunk_flags", "number", number);
        EXPECT_EQ(flags, 0xA5) << "the caller's flags are not changed either";
        refused([=] { return FTrace_actual_chunk_select(number); }, "FTrace_actual_chunk_select", "number", number);
        refused([=, this] { return FTrace_chunk_link(number, m_free); }, "FTrace_chunk_link", "chunk_A", number);
        refused([=, this] { return FTrace_chunk_link(m_free, number); }, "FTrace_chunk_link", "chunk_B", number);
        refused([=] { return FTrace_compress_chunk(number, kFree); }, "FTrace_compress_chunk", "number", number);
        refused([=] { return FTrace_send_chunk(number, 0, kFree); }, "FTrace_send_chunk", "number", number);
    }
}

TEST_F(FTraceRefusals, Delete) {
    for (const int number : {m_current, m_linked, m_kept, m_busy}) {
        refused([number] { return FTrace_chunk_delete(number); }, "FTrace_chunk_delete", "number", number);
    }
    EXPECT_EQ(FTrace_chunk_delete(m_free), 0);
}

TEST_F(FTraceRefusals, SetFlags) {
    for (const int flags : {0x0C, 0x02, 0x10, 0x80}) {
        const auto asked = static_cast<FTrace_flags>(flags);
        refused([=, this] { return FTrace_set_chunk_flags(m_free, asked); }, "FTrace_set_chunk_flags", "flags", flags);
    }
    refused([this] { return FTrace_set_chunk_flags(m_current, kFree); }, "FTrace_set_chunk_flags", "flags", kFree);
    refused([this] { return FTrace_set_chunk_flags(m_busy, kFree); }, "FTrace_set_chunk_flags", "flags", kFree);
}

TEST_F(FTraceRefusals, GetFlagsIntoNothing) {
    refused([this] { return FTrace_get_chunk_flags(m_free, nullptr); }, "FTrace_get_chunk_flags", "flags", 0);
}

TEST_F(FTraceRefusals, SelectAndLinkWhatIsNotFree) {
    for (const int number : {m_current, m_linked, m_busy}) {
        refused([number] { return FTrace_actual_chunk_select(number); }, "FTrace_actual_chunk_select", "number",
                number);
        refused([=, this] { return FTrace_chunk_link(m_free, number); }, "FTrace_chunk_link", "chunk_B", number);
    }
    refused([this] { return FTrace_chunk_link(m_free, m_free); }, "FTrace_chunk_link", "chunk_B", m_free);
}

TEST_F(FTraceRefusals, FirstChunkWithoutMatch) {
    refused([] { return FTrace_get_first_chunk(FTRACE_CHUNK_FLAG_COMPR); }, "FTrace_get_first_chunk", "flags",
            FTRACE_CHUNK_FLAG_COMPR);
}

TEST_F(FTraceRefusals, Send) {
    refused([this] { return FTrace_send_chunk(m_current, 0, kFree); }, "FTrace_send_chunk", "number", m_current);
    refused([this] { return FTrace_send_chunk(m_busy, 0, kFree); }, "FTrace_send_chunk", "number", m_busy);
    for (const int protocol : {-1, FTRACE_OSD_V2 + 1, 1'000'000}) {
        refused([=, this] { return FTrace_send_chunk(m_current, protocol, kFree); }, "FTrace_send_chunk", "osd_flags",
                protocol);
    }
}

// Says what was asked for, and that it comes too late.
class DecidedSinks final : public tracer::SinkProvider {
  public:
    [[nodiscard]] lib::Result<tracer::ChunkSink*> open_udp(bool, std::string_view, std::string_view) override {
        return lib::Error::not_found;
    }

    [[nodiscard]] lib::Result<void> choose_protocol(tracer::reliable::Protocol protocol) override {
        asked = protocol;
        return answer;
    }

    [[nodiscard]] lib::Result<tracer::ChunkSink*> open_disk(std::string_view) override { return lib::Error::not_found; }

    tracer::reliable::Protocol asked{};
    lib::Error answer = lib::Error::exists;
};

TEST_F(FTraceRefusals, SendByAProtocolThatContradictsTheChunksBefore) {
    using tracer::reliable::Protocol;
    DecidedSinks sinks;
    m_fixture.tracer().sinks = &sinks;
    refused([this] { return FTrace_send_chunk(m_current, FTRACE_OSD_V1, kFree); }, "FTrace_send_chunk", "osd_flags",
            FTRACE_OSD_V1);
    EXPECT_EQ(sinks.asked, Protocol::v1);
    EXPECT_STREQ(FTrace_last_error().text, "a chunk of this run was sent by another protocol");
    sinks.answer = lib::Error::refused;
    refused([this] { return FTrace_send_chunk(m_current, FTRACE_OSD_V2, kFree); }, "FTrace_send_chunk", "osd_flags",
            FTRACE_OSD_V2);
    EXPECT_EQ(sinks.asked, Protocol::v2);
    m_fixture.tracer().sinks = nullptr;
}

TEST_F(FTraceRefusals, FiltersThatAreNone) {
    for (const int family : {0x00, 0x02, 0x0F, 0xEF, 0xFC, 0xFF}) {
        refused([family] { return FTrace_set_filter(static_cast<BYTE>(family), 1), -1; }, "FTrace_set_filter", "family",
                family);
    }
    for (const int status : {-1, 2, 256}) {
        refused([status] { return FTrace_set_filter(FTrace_filter_task, status), -1; }, "FTrace_set_filter", "status",
                status);
    }
}

TEST_F(FTraceRefusals, WritersWithoutWhatTheyNeed) {
    refused([] { return FTrace_disk_writer(nullptr), -1; }, "FTrace_disk_writer", "c", 0);
    FTrace_Chunk made_up{FTRACE_CHUNK_ID, 77, 0, 0, 0, nullptr};
    refused([&] { return FTrace_disk_writer(&made_up), -1; }, "FTrace_disk_writer", "c->number", 77);
    refused([] { return FTrace_init_disk_writer(nullptr, 0, nullptr, nullptr); }, "FTrace_init_disk_writer", "fname",
            0);
    refused([] { return FTrace_init_disk_writer("", 0, nullptr, nullptr); }, "FTrace_init_disk_writer", "fname", 0);
    refused([] { return FTrace_OSD_init_udp(1, nullptr, "1.2.3.4"); }, "FTrace_OSD_init_udp", "l_ip", 0);
    refused([] { return FTrace_OSD_init_udp(1, "1.2.3.4", nullptr); }, "FTrace_OSD_init_udp", "t_ip", 0);
}

TEST(FTraceEmpty, HasNoFirstChunkAndNothingToEnable) {
    TracerFixture empty(64);
    for (int flags = 0; flags < 0x80; ++flags) {
        EXPECT_EQ(FTrace_get_first_chunk(static_cast<FTrace_flags>(flags)), -1);
    }
    EXPECT_EQ(FTrace_enable(), -1);
    for (int i = 0; i < FTRACE_MAX_CHUNK; ++i) {
        EXPECT_EQ(FTrace_get_chunk_table()[i], nullptr);
    }
}

} // namespace ftrace_refusals_test
