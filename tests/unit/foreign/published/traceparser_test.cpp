// SPDX-License-Identifier: MIT
// Tests libtraceparser: registration, what callbacks are given, what get_info answers, error codes; over .kev files and
// over our own traces. Checklist 10.
#include "foreign/published/traceparser.h"

#include "tests/support/kev_builder.hpp"

#include <cerrno>
#include <gmock/gmock.h>
#include <stdexcept>

namespace host::compat {

namespace {

using support::ChunkBuilder;
using support::KevBuilder;
using support::KevKeys;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Call {
    unsigned header = 0;
    unsigned time = 0;
    std::vector<unsigned> words{};
    std::uint64_t ticks = 0;
    unsigned now_class = 0;
    unsigned now_event = 0;
    unsigned previous_class = 0;
    unsigned previous_event = 0;
    int previous_return = 0;
};

struct Calls {
    std::vector<Call> list;
    int result = 0;

    [[nodiscard]] std::vector<unsigned> first_words() const {
        std::vector<unsigned> found;
        for (const Call& call : list) {
            found.push_back(call.words.empty() ? 0 : call.words.front());
        }
        return found;
    }
};

unsigned info(traceparser_state* state, info_modes_t mode) {
    return *static_cast<unsigned*>(traceparser_get_info(state, mode, nullptr));
}

int remember(traceparser_state* state, void* user, unsigned header, unsigned time, unsigned* words, unsigned n) {
    auto& calls = *static_cast<Calls*>(user);
    calls.list.push_back(
        {header,
         time,
         {words, words + n},
         traceparser_get_ticks(state),
         info(state, _TRACEPARSER_INFO_NOW_CALLBACK_CLASS),
         info(state, _TRACEPARSER_INFO_NOW_CALLBACK_EVENT),
         info(state, _TRACEPARSER_INFO_PREV_CALLBACK_CLASS),
         info(state, _TRACEPARSER_INFO_PREV_CALLBACK_EVENT),
         *static_cast<int*>(traceparser_get_info(state, _TRACEPARSER_INFO_PREV_CALLBACK_RETURN, nullptr))});
    return calls.result;
}

class Traceparser : public testing::Test {
  protected:
    Traceparser()
        : m_state(traceparser_init(nullptr)) {}

    ~Traceparser() override { traceparser_destroy(&m_state); }

    int parse(const support::Bytes& bytes, void* user = nullptr) {
        return traceparser(m_state, user, m_directory.write("trace", bytes).c_str());
    }

    int parse(const KevKeys& keys) {
        KevBuilder file(keys);
        file.time(0, 0x1000).user(0, 0x1000, 1);
        return parse(file.bytes);
    }

    static KevBuilder sample() {
        KevBuilder file;
        file.time(0, 0x5'0000'1000).slot('S', 0, 4, 1, 0x1001, 1, 2).slot('S', 0, 3, 1, 0x1002, 32, 0);
        file.slot('S', 0, 2, 128 + 11, 0x1003, 7, 8)
            .slot('B', 0, 4, 320, 0x1004, 9, 2)
            .slot('S', 1, 4, 26 + 2, 0x1005, 3, 4);
        file.slot('E', 0, 4, 320, 0x1004, 0x4142, 0).slot('S', 0, 7, 11, 0x1006, 5, 6).slot('S', 0, 5, 8, 0x1007, 1, 1);
        file.slot('S', 0, 3, 1, 0x1008, 33, 0).slot('S', 0, 6, 9, 0x1009, 77, 0).slot('E', 0, 6, 10, 0x100A, 78, 0);
        return file;
    }

    support::TemporaryDirectory m_directory;
    traceparser_state* m_state;
    Calls m_calls;
};

TEST_F(Traceparser, CallsWhoWasRegisteredForTheExternalClassAndEvent) {
    Calls ranges;
    ASSERT_EQ(traceparser_cs(m_state, &m_calls, remember, _NTO_TRACE_THREAD, _NTO_TRACE_THRUNNING), 0);
    ASSERT_EQ(traceparser_cs(m_state, &m_calls, remember, _NTO_TRACE_KERCALLEXIT, 11), 0);
    ASSERT_EQ(traceparser_cs(m_state, &m_calls, remember, _NTO_TRACE_PROCESS, _NTO_TRACE_PROCTHREAD_NAME), 0);
    ASSERT_EQ(traceparser_cs(m_state, &m_calls, remember, _NTO_TRACE_COMM, _NTO_TRACE_COMM_ERROR), 0);
    ASSERT_EQ(traceparser_cs(m_state, &m_calls, remember, _NTO_TRACE_INTENTER, 33), 0);
    ASSERT_EQ(
        traceparser_cs_range(m_state, &ranges, remember, _NTO_TRACE_INTENTER, _NTO_TRACE_INTFIRST, _NTO_TRACE_INTLAST),
        0);
    ASSERT_EQ(
        traceparser_cs_range(m_state, &ranges, remember, _NTO_TRACE_VTHREAD, _NTO_TRACE_VTHDEAD, _NTO_TRACE_VTHDESTROY),
        0);
    ASSERT_EQ(traceparser_cs_range(m_state, &ranges, remember, _NTO_TRACE_USER, 0, 1023), 0);
    ASSERT_EQ(parse(sample().bytes), 0) << traceparser_error_text(m_state);
    EXPECT_THAT(m_calls.first_words(), ElementsAre(1, 7, 9, 5, 33));
    EXPECT_THAT(ranges.first_words(), ElementsAre(32, 3, 33, 77)) << "an orphan is not delivered to these";
    EXPECT_EQ(traceparser_damage(m_state), 1U);
    const Call& name = m_calls.list[2];
    EXPECT_THAT(name.words, ElementsAre(9, 2, 0x4142, 0));
    EXPECT_EQ(name.header, 0x4000'1140U) << "the header of the first slot";
    EXPECT_EQ(name.time, 0x1004U);
    EXPECT_EQ(name.ticks, 0x5'0000'1004U);
    EXPECT_EQ(_NTO_TRACE_GETEVENT(name.header), 320U);
    EXPECT_EQ(_NTO_TRACE_GETEVENT_C(name.header), _TRACE_PR_TH_C);
    EXPECT_EQ(_NTO_TRACE_GETCPU(name.header), 0U);
}

TEST_F(Traceparser, StatesTheRunningAndThePreviousCallback) {
    m_calls.result = -7;
    traceparser_cs(m_state, &m_calls, remember, _NTO_TRACE_THREAD, _NTO_TRACE_THRUNNING);
    traceparser_cs(m_state, &m_calls, remember, _NTO_TRACE_KERCALL, 11);
    ASSERT_EQ(parse(sample().bytes), 0);
    ASSERT_EQ(m_calls.list.size(), 2U);
    EXPECT_EQ(m_calls.list[0].previous_class, 0U);
    EXPECT_EQ(m_calls.list[0].now_class, _NTO_TRACE_THREAD);
    EXPECT_EQ(m_calls.list[0].now_event, _NTO_TRACE_THRUNNING);
    EXPECT_EQ(m_calls.list[1].now_class, _NTO_TRACE_KERCALLEXIT);
    EXPECT_EQ(m_calls.list[1].now_event, 11U);
    EXPECT_EQ(m_calls.list[1].previous_class, _NTO_TRACE_THREAD);
    EXPECT_EQ(m_calls.list[1].previous_event, _NTO_TRACE_THRUNNING);
    EXPECT_EQ(m_calls.list[1].previous_return, -7);
}

TEST_F(Traceparser, RefusesUnknownClassesAndEventsAtRegistration) {
    const auto error = [&](unsigned class_number, unsigned event1, unsigned event2) {
        errno = 0;
        const int result = traceparser_cs_range(m_state, nullptr, remember, class_number, event1, event2);
        EXPECT_EQ(result, -1) << class_number << " " << event1;
        EXPECT_EQ(errno, EINVAL);
        return info(m_state, _TRACEPARSER_INFO_ERROR);
    };
    EXPECT_EQ(error(_TRACE_PR_TH_C, 1, 1), 0U) << "an internal class";
    EXPECT_EQ(error(17, 0, 0), 0U);
    EXPECT_EQ(error(_NTO_TRACE_THREAD, 9, 15), 1U) << "states are bits";
    EXPECT_EQ(error(_NTO_TRACE_THREAD, 0x0200'0001, 0xFFFF'FFFF), 1U);
    EXPECT_EQ(error(_NTO_TRACE_PROCESS, 3, 3), 1U);
    EXPECT_EQ(error(_NTO_TRACE_CONTROL, 3, 3), 2U);
    EXPECT_EQ(error(_NTO_TRACE_KERCALLENTER, 128, 128), 3U);
    EXPECT_EQ(error(_NTO_TRACE_INTENTER, 5, 4), 4U);
    EXPECT_EQ(error(_NTO_TRACE_SYSTEM, 0, 0), 5U);
    EXPECT_EQ(error(_NTO_TRACE_USER, 1024, 2000), 6U);
    EXPECT_EQ(error(_NTO_TRACE_COMM, 12, 12), 7U);
    EXPECT_EQ(traceparser_cs(m_state, nullptr, nullptr, _NTO_TRACE_USER, 1), -1);
    EXPECT_EQ(traceparser_cs(nullptr, nullptr, remember, _NTO_TRACE_USER, 1), -1);
    EXPECT_EQ(traceparser_cs(m_state, nullptr, remember, _NTO_TRACE_KERCALLENTER, 9 | _NTO_TRACE_KERCALL64), 0);
}

// A program may name every number that an event can have, in each class.
TEST_F(Traceparser, RegistersForWhatExistsInARange) {
    for (unsigned class_number = _NTO_TRACE_EMPTY; class_number <= _NTO_TRACE_INT_HANDLER_EXIT; ++class_number) {
        EXPECT_EQ(traceparser_cs_range(m_state, nullptr, remember, class_number, 0, 1023), 0) << class_number;
    }
    traceparser_init(m_state);
    ASSERT_EQ(traceparser_cs_range(m_state, &m_calls, remember, _NTO_TRACE_THREAD, 0, 1023), 0);
    ASSERT_EQ(traceparser_cs_range(m_state, &m_calls, remember, _NTO_TRACE_PROCESS, 3, 0xFFFF'FFFF), 0);
    ASSERT_EQ(traceparser_cs_range(m_state, &m_calls, remember, _NTO_TRACE_SYSTEM, 0, _NTO_TRACE_SYS_LAST), 0);
    ASSERT_EQ(traceparser_cs_range(m_state, &m_calls, remember, _NTO_TRACE_KERCALLEXIT, 0, 600), 0);
    ASSERT_EQ(parse(sample().bytes), 0) << traceparser_error_text(m_state);
    EXPECT_THAT(m_calls.first_words(), ElementsAre(1, 7, 9, 1));
}

TEST_F(Traceparser, EachBadHeaderHasItsErrorCode) {
    const auto error = [&](const KevKeys& keys) {
        EXPECT_EQ(parse(keys), -1);
        EXPECT_THAT(traceparser_error_text(m_state), HasSubstr("trace:0x"));
        return info(m_state, _TRACEPARSER_INFO_ERROR);
    };
    EXPECT_EQ(error({.drop = "VER_MAJOR"}), 14U);
    EXPECT_EQ(error({.version_minor = "00"}), 13U);
    EXPECT_EQ(error({.encoding = "x"}), 13U);
    EXPECT_EQ(error({.byte_order = ""}), 11U);
    EXPECT_EQ(error({.drop = "HEADER_END"}), 9U);
    EXPECT_EQ(error({.syspage_bytes = "99"}), 9U);
    EXPECT_EQ(traceparser(m_state, nullptr, (m_directory / "absent").c_str()), -1);
    EXPECT_EQ(info(m_state, _TRACEPARSER_INFO_ERROR), 12U);
    EXPECT_EQ(parse(support::Bytes(64, std::byte{0xEE})), -1);
    EXPECT_EQ(info(m_state, _TRACEPARSER_INFO_ERROR), 9U);
    EXPECT_EQ(traceparser(m_state, nullptr, nullptr), -1);
    EXPECT_EQ(traceparser(nullptr, nullptr, "x"), -1);
    EXPECT_EQ(parse(KevKeys{}), 0) << "the state is good for another file";
}

TEST_F(Traceparser, AnswersWithTheHeaderAndTheSystemPage) {
    KevBuilder file({.byte_order = "BIG", .syspage_bytes = "4", .more = "TRACE_MINE::any text"});
    file.text("PAGE").time(0, 0x1000).user(0, 0x1000, 0x01020304);
    traceparser_cs(m_state, &m_calls, remember, _NTO_TRACE_USER, 9);
    ASSERT_EQ(parse(file.bytes), 0);
    unsigned length = 0;
    EXPECT_STREQ(static_cast<char*>(traceparser_get_info(m_state, _TRACEPARSER_INFO_CYCLES_PER_SEC, &length)),
                 "1000000000");
    EXPECT_EQ(length, 10U);
    EXPECT_EQ(std::string(static_cast<char*>(traceparser_get_info(m_state, _TRACEPARSER_INFO_SYSPAGE, &length)), 4),
              "PAGE");
    EXPECT_EQ(length, 4U);
    EXPECT_EQ(info(m_state, _TRACEPARSER_INFO_ENDIAN_CONV), 1U);
    EXPECT_THAT(m_calls.first_words(), ElementsAre(0x01020304)) << "data is in the byte order of this machine";
    EXPECT_EQ(traceparser_get_info(m_state, _TRACEPARSER_INFO_LITTLE_ENDIAN, nullptr), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_STREQ(traceparser_get_text(m_state, "MINE"), "any text");
    EXPECT_EQ(traceparser_get_text(m_state, "YOURS"), nullptr);
    std::uint64_t rate = 0;
    EXPECT_EQ(traceparser_get_u64(m_state, "CYCLES_PER_SEC", &rate), 0);
    EXPECT_EQ(rate, 1'000'000'000U);
    EXPECT_EQ(traceparser_get_u64(m_state, "MINE", &rate), -1);
    EXPECT_EQ(traceparser_get_info(nullptr, _TRACEPARSER_INFO_ERROR, nullptr), nullptr);
}

TEST_F(Traceparser, EmptyClassIsCalledOnceAfterTheHeader) {
    traceparser_cs(m_state, nullptr, remember, _NTO_TRACE_EMPTY, _NTO_TRACE_EMPTYEVENT);
    ASSERT_EQ(parse(sample().bytes, &m_calls), 0) << "user data of traceparser() for those who gave none";
    ASSERT_EQ(m_calls.list.size(), 1U);
    EXPECT_EQ(m_calls.list[0].header, 0U);
    EXPECT_THAT(m_calls.list[0].words, IsEmpty());
}

TEST_F(Traceparser, ShowsOurOwnTracesAsKev) {
    ChunkBuilder chunk;
    chunk.name("task", 4, "sensor").event(100'000, "interrupt_start", 32).event(200'000, "context_switch", 4);
    chunk.event(300'000, "user_event_0", 1, 2);
    std::vector<std::string> seen;
    const auto keep = [](traceparser_state* /*state*/, void* user, const traceparser_event* event) {
        static_cast<std::vector<std::string>*>(user)->push_back(
            std::string(event->class_label) + ' ' + event->event_label + ' ' + std::to_string(event->time_ns) + ' ' +
            std::to_string(event->word_count));
        return 0;
    };
    traceparser_on_event(m_state, &seen, keep, _NTO_TRACE_THREAD, _NTO_TRACE_THDEAD, _NTO_TRACE_THDESTROY);
    traceparser_on_event(m_state, &seen, keep, _NTO_TRACE_INTENTER, 0, 255);
    traceparser_on_event(m_state, &seen, keep, _NTO_TRACE_USER, 9, 9);
    traceparser_on_event(m_state, &seen, keep, _NTO_TRACE_PROCESS, _NTO_TRACE_PROCTHREAD_NAME,
                         _NTO_TRACE_PROCTHREAD_NAME);
    ASSERT_EQ(parse(chunk.bytes()), 0) << traceparser_error_text(m_state);
    EXPECT_STREQ(traceparser_get_text(m_state, "SYSNAME"), "Remora");
    ASSERT_EQ(seen.size(), 4U);
    EXPECT_THAT(seen[0], HasSubstr("PROCESS PROCTHREAD_NAME"));
    EXPECT_THAT(seen[1], HasSubstr("INT_ENTR INT_ENTR"));
    EXPECT_THAT(seen[2], HasSubstr("THREAD THRUNNING"));
    EXPECT_THAT(seen[3], HasSubstr("USREVENT "));
}

TEST_F(Traceparser, SortsWhenAsked) {
    KevBuilder file;
    file.time(0, 0x1000).time(1, 0x1000).user(0, 0x1010, 1).user(1, 0x1008, 2).user(0, 0x1020, 3).user(1, 0x1015, 4);
    traceparser_cs(m_state, &m_calls, remember, _NTO_TRACE_USER, 9);
    ASSERT_EQ(parse(file.bytes), 0);
    EXPECT_THAT(m_calls.first_words(), ElementsAre(1, 2, 3, 4));
    m_calls.list.clear();
    traceparser_sort(m_state, _TRACEPARSER_SORT);
    ASSERT_EQ(parse(file.bytes), 0);
    EXPECT_THAT(m_calls.first_words(), ElementsAre(2, 1, 4, 3));
}

TEST_F(Traceparser, NothingThrownByACallbackLeaves) {
    traceparser_cs(
        m_state, nullptr,
        [](traceparser_state*, void*, unsigned, unsigned, unsigned*, unsigned) -> int {
            throw std::runtime_error("x");
        },
        _NTO_TRACE_USER, 9);
    EXPECT_EQ(parse(sample().bytes), -1);
    EXPECT_EQ(info(m_state, _TRACEPARSER_INFO_ERROR), 15U);
    EXPECT_EQ(traceparser_init(m_state), m_state);
    EXPECT_EQ(parse(sample().bytes), 0) << "made anew: no callbacks";
}

TEST_F(Traceparser, ACallbackMayRegisterButNotParseOrDestroy) {
    traceparser_cs(
        m_state, &m_calls,
        [](traceparser_state* state, void* user, unsigned, unsigned, unsigned*, unsigned) -> int {
            EXPECT_EQ(traceparser(state, nullptr, "x"), -1);
            traceparser_state* mine = state;
            traceparser_destroy(&mine);
            EXPECT_EQ(mine, state);
            return traceparser_cs(state, user, remember, _NTO_TRACE_USER, 9);
        },
        _NTO_TRACE_THREAD, _NTO_TRACE_THRUNNING);
    ASSERT_EQ(parse(sample().bytes), 0);
    EXPECT_THAT(m_calls.first_words(), ElementsAre(77));
}

TEST_F(Traceparser, WritesToTheDebugStream) {
    EXPECT_EQ(traceparser_debug(m_state, nullptr, 1), -1);
    EXPECT_EQ(traceparser_debug(nullptr, stderr, 1), -1);
    const std::string path = m_directory / "debug";
    std::FILE* const stream = std::fopen(path.c_str(), "w");
    ASSERT_EQ(traceparser_debug(m_state, stream, _TRACEPARSER_DEBUG_ALL), 0);
    EXPECT_EQ(info(m_state, _TRACEPARSER_INFO_DEBUG), _TRACEPARSER_DEBUG_ALL);
    ASSERT_EQ(parse(sample().bytes), 0);
    std::fclose(stream);
    const std::string text = support::read_text(path);
    EXPECT_THAT(text, HasSubstr("TRACE_MACHINE::x86pc\n"));
    EXPECT_THAT(text, HasSubstr("h:0x00001001 t:0x00001001 0x00000001 0x00000002\n"));
    EXPECT_THAT(text, HasSubstr("W-ORPHAN"));
}

} // namespace

} // namespace host::compat
