// SPDX-License-Identifier: MIT
// Tests typed and formatted events on the host: what a sound one shows, and that no malformed one passes for sound.
#include "host/trace/json.hpp"
#include "tests/support/host_command.hpp"
#include "tests/support/host_command_line.hpp"
#include "tracer/long_event.hpp"

#include <cstdio>
#include <cstdlib>
#include <gmock/gmock.h>
#include <span>

namespace host::cli {

namespace user_event_test {

using support::Bytes;
using support::ChunkBuilder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using tracer::FieldType;

constexpr std::uint8_t kTyped = tracer::event_code("typed_event");
constexpr std::uint8_t kFormatted = tracer::event_code("formatted_event");

tracer::EventDeclaration control_output() {
    tracer::EventDeclaration declaration{.id = 3, .name = {std::string_view("control_output")}, .field_count = 3};
    declaration.items[0] = {FieldType::i32, 0, {std::string_view("error")}, {std::string_view("mrad")}};
    declaration.items[1] = {FieldType::u16, 8, {std::string_view("gain")}, {}};
    declaration.items[2] = {FieldType::text, 5, {std::string_view("mode")}, {}};
    return declaration;
}

// Bytes after the length word, which is put before them.
Bytes with_length(const std::vector<int>& bytes) {
    const std::size_t size = bytes.size() + 2;
    Bytes payload{static_cast<std::byte>(size & 0xFF), static_cast<std::byte>(size >> 8)};
    for (const int byte : bytes) {
        payload.push_back(static_cast<std::byte>(byte));
    }
    return payload;
}

// error = -5 mrad, gain = 1.5, mode = "auto".
const std::vector<int> kSound = {3, 0, 0xFB, 0xFF, 0xFF, 0xFF, 0x80, 0x01, 4, 'a', 'u', 't', 'o'};

class UserEvents : public support::CommandLine {
  protected:
    static void add(ChunkBuilder& chunk, std::uint8_t code, const Bytes& payload, std::uint64_t ticks = 5'000) {
        for (const tracer::Record& slot : support::combined(code, payload, {ticks})) {
            chunk.raw(slot);
        }
    }

    std::string file(std::uint8_t code, const Bytes& payload) {
        ChunkBuilder chunk;
        chunk.build("control", 1).declare(control_output());
        add(chunk, code, payload);
        chunk.event(6'000, "ipoint"); // so that something is usable, whatever becomes of the other one
        return m_directory.write("0trace.dat", chunk.bytes());
    }

    int print(std::uint8_t code, const std::vector<int>& bytes) {
        return remora({"print", file(code, with_length(bytes))});
    }
};

TEST_F(UserEvents, AreShownByNameFieldAndUnit) {
    ASSERT_EQ(print(kTyped, kSound), 0) << m_err;
    EXPECT_EQ(m_out, "            0 ns  cpu0  control_output       error=-5 mrad gain=1.5 mode=\"auto\"\n"
                     "         1000 ns  cpu0  ipoint               number=0 par2=0\n");
    const std::string path = m_directory / "0trace.dat";
    ASSERT_EQ(remora({"print", path, "--event", "control_output", "--json"}), 0);
    const auto json = trace::Json::parse(m_out, nullptr, false);
    EXPECT_EQ(json.at("event"), "typed_event");
    EXPECT_EQ(json.at("name"), "control_output");
    EXPECT_EQ(json.at("fields").at("error"), -5);
    EXPECT_EQ(json.at("fields").at("gain"), 1.5);
    EXPECT_EQ(json.at("fields").at("mode"), "auto");
    EXPECT_EQ(json.at("units").at("error"), "mrad");
    ASSERT_EQ(remora({"summary", path}), 0);
    EXPECT_THAT(m_out, HasSubstr("control_output"));
    ASSERT_EQ(remora({"events", path}), 0);
    EXPECT_THAT(m_out, HasSubstr("i32 error (mrad), u16 gain, text mode"));
    EXPECT_EQ(remora({"verify", path}), 6);
    EXPECT_EQ(remora({"print", path, "--event", "control_input"}), 1);
    EXPECT_THAT(m_err, HasSubstr("no event is called control_input"));
}

TEST_F(UserEvents, OfAnUnknownTypeAreDamage) {
    std::vector<int> bytes = kSound;
    bytes[0] = 4;
    EXPECT_EQ(print(kTyped, bytes), 2);
    EXPECT_THAT(m_err, HasSubstr("E-USER typed event 4 is declared nowhere"));
    EXPECT_THAT(m_out, HasSubstr("malformed"));
}

TEST_F(UserEvents, WithFalseSizesAreDamage) {
    std::vector<int> cut = kSound;
    cut.pop_back(); // the text says 4 and has 3
    EXPECT_EQ(print(kTyped, cut), 2);
    EXPECT_THAT(m_err, HasSubstr("its field mode is cut"));
    std::vector<int> too_much = kSound;
    too_much.push_back('!');
    EXPECT_EQ(print(kTyped, too_much), 2);
    EXPECT_THAT(m_err, HasSubstr("1 bytes after its last field"));
    std::vector<int> beyond_bound = kSound;
    beyond_bound[8] = 6; // the declaration allows 5
    beyond_bound.insert(beyond_bound.end(), {'m', 'a'});
    EXPECT_EQ(print(kTyped, beyond_bound), 2);
    EXPECT_EQ(print(kTyped, {3}), 2) << "half a number";
    EXPECT_EQ(print(kFormatted, {8, 0, 0}), 2) << "three quarters of a number";
}

TEST_F(UserEvents, WhoseLengthWordIsFalseAreDamage) {
    for (const int length : {0, 1, 200}) {
        Bytes payload = with_length(kSound);
        payload[0] = static_cast<std::byte>(length);
        EXPECT_EQ(remora({"print", file(kTyped, payload)}), 2) << length;
        EXPECT_THAT(m_err, HasSubstr("E-LEN"));
    }
}

TEST_F(UserEvents, MayTakeOneSlot) {
    tracer::EventDeclaration tick{.id = 1, .name = {std::string_view("tick")}};
    ChunkBuilder chunk;
    chunk.build("control", 1).declare(tick);
    add(chunk, kTyped, with_length({1, 0}));
    EXPECT_EQ(chunk.records(), 1U);
    ASSERT_EQ(remora({"print", m_directory.write("0trace.dat", chunk.bytes())}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("tick"));
}

TEST_F(UserEvents, WithTheLastSlotMissingAreIncomplete) {
    ChunkBuilder chunk;
    chunk.declare(control_output());
    auto slots = support::combined(kTyped, with_length(kSound), {5'000});
    slots.pop_back();
    for (const tracer::Record& slot : slots) {
        chunk.raw(slot);
    }
    chunk.event(6'000, "ipoint");
    EXPECT_EQ(remora({"print", m_directory.write("0trace.dat", chunk.bytes())}), 2);
    EXPECT_THAT(m_err, HasSubstr("E-INCOMPLETE"));
    EXPECT_THAT(m_out, HasSubstr("ipoint"));
}

TEST_F(UserEvents, DeclaredSenselesslyAreNotBelieved) {
    tracer::EventDeclaration wrong = control_output();
    wrong.items[1].type = static_cast<FieldType>(99);
    ChunkBuilder chunk;
    chunk.declare(wrong);
    add(chunk, kTyped, with_length(kSound));
    EXPECT_EQ(remora({"print", m_directory.write("0trace.dat", chunk.bytes())}), 2);
    EXPECT_THAT(m_err, HasSubstr("E-META event_declaration"));
    EXPECT_THAT(m_err, HasSubstr("declared nowhere"));
}

TEST_F(UserEvents, FormattedWithoutATableShowNumberAndArguments) {
    // 8: i16 -2, text "ok"
    ASSERT_EQ(print(kFormatted, {8, 0, 0, 0, 6, 0xFE, 0xFF, 14, 2, 'o', 'k'}), 0);
    EXPECT_THAT(m_out, HasSubstr("format=8 -2 \"ok\""));
    EXPECT_THAT(m_err, HasSubstr("W-FORMATS"));
    EXPECT_THAT(m_err, HasSubstr("--kernel kernel.elf"));
}

// 8: i16 -2, text "ok"
const std::vector<int> kFormattedSound = {8, 0, 0, 0, 6, 0xFE, 0xFF, 14, 2, 'o', 'k'};

TEST_F(UserEvents, FormattedShowTheTextsThatTheTraceHasInItself) {
    ChunkBuilder chunk;
    chunk.build("control", 1, 0xABCD).format(8, "speed %+4d, %s").format(24, "other");
    add(chunk, kFormatted, with_length(kFormattedSound));
    const std::string path = m_directory.write("0trace.dat", chunk.bytes());
    for (const char* const form : {"dat", "kev"}) {
        const std::string output = m_directory / (std::string("again.") + form);
        ASSERT_EQ(remora({"convert", path, "--to", form, "-o", output}), 0) << m_err;
        for (const std::string& trace : {path, output}) {
            ASSERT_EQ(remora({"print", trace}), 0);
            EXPECT_THAT(m_out, HasSubstr("speed   -2, ok"));
            EXPECT_EQ(m_err, "");
        }
    }
}

// A chunk in a container is named after it: volume.img/0trace.dat.
TEST_F(UserEvents, FormattedFindTheImageBesideTheVolumeThatHoldsThem) {
    ChunkBuilder chunk;
    chunk.build("control", 1, 0xABCD);
    add(chunk, kFormatted, with_length(kFormattedSound));
    const std::string file = m_directory.write("file", chunk.bytes());
    const std::string volume = m_directory / "volume.img";
    const auto made = test::run_command("mformat -C -i " + volume + " -f 1440 :: && mcopy -i " + volume + " " + file +
                                        " ::0trace.dat");
    ASSERT_EQ(made.exit_code, 0) << made.output;
    const std::string_view texts =
        R"({"format":"remora-formats","version":1,"formats":[{"id":8,"text":"go %d %s"}],"image":"abcd"})";
    m_directory.write("formats.json", std::as_bytes(std::span(texts)));
    ASSERT_EQ(remora({"print", volume}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("go -2 ok"));
    EXPECT_EQ(m_err, "");
}

TEST_F(UserEvents, FormattedFindTheImageOfTheirBuildId) {
    ChunkBuilder chunk;
    chunk.build("control", 1, 0xABCD);
    add(chunk, kFormatted, with_length(kFormattedSound));
    const std::string path = m_directory.write("0trace.dat", chunk.bytes());
    const auto copy_of = [](std::string_view image) {
        return R"({"format":"remora-formats","version":1,"formats":[{"id":8,"text":"go %d %s"}],"image":")" +
               std::string(image) + "\"}";
    };
    const auto store = [&](const std::string& text, const char* name) {
        return m_directory.write(name, std::as_bytes(std::span(text)));
    };
    store(copy_of("abce"), "formats.json");
    ASSERT_EQ(remora({"print", path}), 0);
    EXPECT_THAT(m_out, HasSubstr("format=8 -2"));
    EXPECT_THAT(m_err, HasSubstr("in the kernel image with the build id 000000000000abcd; name it with --kernel "
                                 "kernel.elf, or store it beside the trace or in a directory of REMORA_KERNELS"));
    const std::string elsewhere = store(copy_of("abcd"), "kept.json");
    ::setenv("REMORA_KERNELS", ("/nowhere:" + elsewhere).c_str(), 1);
    ASSERT_EQ(remora({"print", path}), 0);
    ::unsetenv("REMORA_KERNELS");
    EXPECT_THAT(m_out, HasSubstr("go -2 ok"));
    EXPECT_EQ(m_err, "");
    store(copy_of("abcd"), "formats.json");
    for (const char* const question : {"select parameters from events where ticks between 1 and 100000",
                                       "select parameters from events"}) { // a search, and a walk over everything
        ASSERT_EQ(remora({"sql", path, question}), 0);
        EXPECT_THAT(m_out, HasSubstr("go -2 ok")) << question;
        EXPECT_EQ(m_err, "") << question;
    }
    ASSERT_EQ(remora({"print", path}), 0);
    EXPECT_THAT(m_out, HasSubstr("go -2 ok"));
    const std::string copy = m_directory / "copy.kev"; // has the texts in itself, for whoever has no image
    ASSERT_EQ(remora({"convert", path, "--to", "kev", "-o", copy}), 0) << m_err;
    ASSERT_EQ(std::remove((m_directory / "formats.json").c_str()), 0);
    ASSERT_EQ(remora({"print", copy}), 0);
    EXPECT_THAT(m_out, HasSubstr("go -2 ok"));
    EXPECT_EQ(m_err, "");
}

// The kernel exports only the texts that fit.
TEST_F(UserEvents, FormattedFindTheTextThatTheTraceOrTheImageLacks) {
    ChunkBuilder chunk;
    chunk.build("control", 1, 0xABCD).format(24, "short");
    add(chunk, kFormatted, with_length({24, 0, 0, 0}));
    add(chunk, kFormatted, with_length(kFormattedSound), 6'000);
    const std::string path = m_directory.write("0trace.dat", chunk.bytes());
    ASSERT_EQ(remora({"print", path}), 0);
    EXPECT_THAT(m_out, AllOf(HasSubstr("short"), HasSubstr("format=8 -2")));
    EXPECT_THAT(m_err, HasSubstr("in the kernel image with the build id 000000000000abcd"));
    const std::string_view copy =
        R"({"format":"remora-formats","version":1,"formats":[{"id":8,"text":"go %d %s"}],"image":"abcd"})";
    m_directory.write("formats.json", std::as_bytes(std::span(copy)));
    ASSERT_EQ(remora({"print", path}), 0);
    EXPECT_THAT(m_out, AllOf(HasSubstr("short"), HasSubstr("go -2 ok")));
    EXPECT_EQ(m_err, "");
}

TEST_F(UserEvents, FormattedWithUnknownTypesOrTooManyArgumentsAreDamage) {
    EXPECT_EQ(print(kFormatted, {8, 0, 0, 0, 99, 1}), 2);
    EXPECT_THAT(m_err, HasSubstr("argument 1 is cut, of no known type"));
    std::vector<int> seventeen = {8, 0, 0, 0};
    for (int i = 0; i < 17; ++i) {
        seventeen.insert(seventeen.end(), {1, 7});
    }
    EXPECT_EQ(print(kFormatted, seventeen), 2);
    EXPECT_EQ(print(kFormatted, {8, 0, 0, 0, 14, 200, 'x'}), 2) << "a text that does not end";
    EXPECT_EQ(print(kFormatted, {8, 0, 0, 0, 9, 2}), 2) << "a bool of 2";
}

TEST_F(UserEvents, NeighbouringNamesAreNotGluedTogether) {
    // The slots between the first half of one name and the second half of the next are lost: same kind, same slots.
    const auto first = support::metadata("task_name", tracer::NameOf{1, std::string_view("first-name")}, {5'000});
    const auto second = support::metadata("task_name", tracer::NameOf{2, std::string_view("second-nam")}, {5'001});
    ASSERT_EQ(first.size(), second.size());
    ChunkBuilder chunk;
    for (std::size_t i = 0; i < first.size(); ++i) {
        chunk.raw(i < first.size() / 2 ? first[i] : second[i]);
    }
    chunk.event(6'000, "ipoint");
    EXPECT_EQ(remora({"print", m_directory.write("0trace.dat", chunk.bytes()), "--all"}), 2);
    EXPECT_THAT(m_err, HasSubstr("E-MIX"));
}

} // namespace user_event_test

} // namespace host::cli
