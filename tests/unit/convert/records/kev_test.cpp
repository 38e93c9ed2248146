// SPDX-License-Identifier: MIT
// Tests our traces as .kev files and back: what is written (slots, stamps, buffers, header), and that nothing changes
// on the way there and back.
#include "convert/kev/kev.hpp"

#include "foreign/kev/event_names.hpp"
#include "foreign/kev/header.hpp"
#include "host/formats/trace.hpp"
#include "host/trace/json.hpp"
#include "tests/support/host_command_line.hpp"
#include "tests/support/kev_builder.hpp"
#include "tests/support/packed_archives.hpp"

#include <gmock/gmock.h>
#include <map>
#include <random>
#include <set>
#include <tuple>

namespace host::convert::records {

namespace {

using formats::kev::Slot;
using support::Bytes;
using support::ChunkBuilder;
using testing::HasSubstr;

constexpr std::uint64_t kTurn = std::uint64_t{1} << 32;

// Everything of an event that must survive.
struct Kept {
    std::uint64_t ticks = 0;
    std::uint8_t code = 0;
    std::uint16_t cpu = 0;
    std::uint16_t par1 = 0;
    std::uint32_t par2 = 0;
    std::vector<std::byte> payload{};
    trace::EventState state = trace::EventState::ok;
    bool has_row = false;

    friend bool operator==(const Kept&, const Kept&) = default;

    friend std::ostream& operator<<(std::ostream& out, const Kept& kept) {
        return out << "{" << kept.ticks << " code " << unsigned{kept.code} << " cpu " << kept.cpu << " " << kept.par1
                   << " " << kept.par2 << " +" << kept.payload.size() << " " << state_name(kept.state) << "}";
    }
};

class KevConverting : public support::CommandLine {
  protected:
    std::vector<Kept> events_of(const std::string& path) {
        std::vector<Kept> kept;
        trace::Diagnostics diagnostics([this](std::string_view line) { m_lines += std::string(line) + '\n'; });
        const auto trace = formats::Trace::open(path, {}, diagnostics);
        EXPECT_TRUE(trace.ok());
        if (!trace) {
            return kept;
        }
        trace.value()->for_each([&](const trace::Event& event) {
            if (!event.metadata) {
                kept.push_back({event.ticks.value,
                                event.code,
                                event.cpu,
                                event.par1,
                                event.par2,
                                {event.payload.begin(), event.payload.end()},
                                event.state,
                                event.row != nullptr});
            }
        });
        m_facts = trace.value()->facts();
        return kept;
    }

    static constexpr int kAny = -1; // clean, or damaged

    std::string to_kev(const std::string& path, int code = 0) {
        const std::string output = path + ".kev";
        const int found = remora({"convert", path, "--to", "kev", "-o", output});
        EXPECT_TRUE(found == code || (code == kAny && (found == 0 || found == 2))) << found << ' ' << m_err;
        return output;
    }

    // The slots of a file as they are there, from the published layout.
    std::vector<Slot> slots_of(const std::string& path) {
        const std::string text = support::read_text(path);
        const auto end = formats::kev::find_header_end(text);
        EXPECT_TRUE(end.has_value());
        const auto bytes = std::as_bytes(std::span(text)).subspan(end.value_or(text.size()));
        EXPECT_EQ(bytes.size() % 16, 0U);
        std::vector<Slot> slots;
        for (std::size_t at = 0; at + 16 <= bytes.size(); at += 16) {
            slots.push_back(formats::kev::decode_slot(bytes.subspan(at), formats::kev::ByteOrder::little));
        }
        return slots;
    }

    std::string m_lines;
    trace::TraceFacts m_facts;
};

// Equal but for ticks, which the rule for equal stamps may raise; and how often it did.
std::uint64_t expect_same(std::vector<Kept> left, std::vector<Kept> right) {
    EXPECT_EQ(left.size(), right.size());
    std::uint64_t raised = 0;
    std::map<std::uint16_t, std::uint64_t> newest; // as the rule has it
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
        EXPECT_GE(right[i].ticks, left[i].ticks) << i;
        raised += right[i].ticks != left[i].ticks ? 1U : 0U;
        // The first event of a turn, or of a buffer, comes after control events that take its stamp; a wait comes after
        // what it is for.
        const bool first_of_turn =
            left[i].ticks / kTurn != newest[left[i].cpu] / kTurn && right[i].ticks <= left[i].ticks + 4;
        EXPECT_TRUE(right[i].ticks == left[i].ticks || right[i].ticks <= newest[left[i].cpu] + 4 || first_of_turn)
            << i << ": raised without need: " << left[i] << " " << right[i];
        newest[left[i].cpu] = right[i].ticks;
        left[i].ticks = right[i].ticks;
        EXPECT_EQ(left[i], right[i]) << i;
    }
    return raised;
}

// Random events of every row of the table, with every kind of parameter, gaps of up to several turns.
Bytes random_chunk(std::uint32_t seed, bool coarse) {
    std::mt19937 random(seed);
    ChunkBuilder chunk;
    chunk.name("task", 3, "sensor").name("mutex", 2, "bus").name("level", 0, "EDF").build("control", 7);
    std::uint64_t ticks = 1'000'000;
    std::uint64_t long_ticks = 0;
    for (int i = 0; i < 3000; ++i) {
        const tracer::EventRow& row = tracer::kEvents[random() % tracer::kEvents.size()];
        if (row.code == 0 || row.family() == tracer::Family::metadata || row.shape == tracer::Shape::consumed ||
            row.name == "cycles_per_msec" || row.name == "numevents" || row.name == "clock_compensated") {
            continue; // what sets a clock is no random number
        }
        const auto step = random() % 100;
        ticks += step == 0 ? random() * 5ULL : step < 5 ? random() : coarse ? random() % 2 : 10 + random() % 1000;
        if (row.shape == tracer::Shape::combined) {
            if (row.name == "formatted_event") {
                // No two long events of one stamp: their slots would be one event's.
                ticks = std::max(ticks, long_ticks + 1);
                long_ticks = ticks;
                std::vector<std::byte> payload(2 + 5 + random() % 300);
                for (std::byte& byte : payload) {
                    byte = static_cast<std::byte>(random());
                }
                lib::store_le(std::span(payload), static_cast<std::uint16_t>(payload.size()));
                for (const tracer::Record& record : support::combined(row.code, payload, {ticks})) {
                    chunk.raw(record);
                }
            }
            continue;
        }
        const bool small = random() % 2 == 0;
        const auto par1 = static_cast<std::uint16_t>(random() % 4 == 0 ? 0xFFFF : random() % 20);
        std::uint32_t par2 = small ? 0 : static_cast<std::uint32_t>(random());
        if (row.par2.unit == tracer::Unit::wait && !small) {
            par2 = static_cast<std::uint32_t>((random() % 10) << 16 | random() % 3);
        }
        chunk.raw(tracer::make_record(row.code, par1, par2, {ticks}));
    }
    return chunk.bytes();
}

TEST_F(KevConverting, ThereAndBackNothingChanges) {
    for (std::uint32_t seed = 1; seed <= 6; ++seed) {
        const bool coarse = seed % 2 == 0;
        const std::string original = m_directory.write("original.dat", random_chunk(seed, coarse));
        const auto before = events_of(original);
        ASSERT_GT(before.size(), 1000U);
        const auto after = events_of(to_kev(original, kAny)); // random payloads are not all sound
        const std::uint64_t raised = expect_same(before, after);
        EXPECT_EQ(raised != 0, coarse) << raised << " stamps of " << before.size() << " raised";
        EXPECT_EQ(m_facts.names.find(tracer::Unit::context, 3), "sensor");
        EXPECT_EQ(m_facts.names.find(tracer::Unit::mutex, 2), "bus");
        EXPECT_EQ(m_facts.names.find(tracer::Unit::level, 0), "EDF");
        ASSERT_TRUE(m_facts.build.has_value());
        EXPECT_EQ(m_facts.build->application.view(), "control");
        EXPECT_EQ(m_facts.clock.khz, 1'000'000U);
    }
}

TEST_F(KevConverting, DamagedEventsKeepTheirState) {
    ChunkBuilder chunk;
    std::vector<std::byte> payload(40);
    lib::store_le(std::span(payload), std::uint16_t{40});
    const auto cut = support::combined(trace::kCodeOf<"formatted_event">, payload, {100'000});
    const auto beheaded = support::combined(trace::kCodeOf<"formatted_event">, payload, {100'700});
    chunk.event(90'000, "ipoint", 1, 1).raw(cut[0]).event(100'500, "ipoint", 2, 2).raw(beheaded[2]);
    chunk.event(101'000, "ipoint", 3, 3);
    const std::string original = m_directory.write("original.dat", chunk.bytes());
    const auto before = events_of(original);
    const auto after = events_of(to_kev(original, 2));
    EXPECT_EQ(expect_same(before, after), 0U);
    EXPECT_TRUE(std::ranges::any_of(before, [](const Kept& kept) { return kept.state != trace::EventState::ok; }));
}

// Checklist 5, and what the writer promises of its buffers.
TEST_F(KevConverting, StampsRiseAndBuffersAreWhole) {
    for (const bool coarse : {false, true}) {
        const auto slots = slots_of(to_kev(m_directory.write("original.dat", random_chunk(9, coarse)), kAny));
        std::map<unsigned, std::uint64_t> turn;
        std::map<unsigned, std::uint64_t> newest;
        std::uint32_t number = 0;
        std::size_t next_buffer = 0;
        std::uint64_t open_key = 0;
        std::set<unsigned> timed;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const Slot& slot = slots[i];
            if (i == next_buffer) {
                ASSERT_TRUE(slot.is(formats::kev::Class::control, formats::kev::kControlBuffer)) << i;
                EXPECT_EQ(slot.data[0], number++ % 2048);
                EXPECT_LT(slot.data[1], 1024U);
                next_buffer = i + 1 + slot.data[1];
                EXPECT_EQ(open_key, 0U) << "an event spans two buffers";
                timed.clear();
                continue;
            }
            const bool time = slot.is(formats::kev::Class::control, formats::kev::kControlTime);
            if (time) {
                turn[slot.cpu()] = slot.data[0];
                timed.insert(slot.cpu());
            }
            EXPECT_TRUE(timed.contains(slot.cpu())) << "an event before its processor's TIME in this buffer";
            const bool continues = slot.kind() == formats::kev::Kind::middle || slot.kind() == formats::kev::Kind::end;
            const std::uint64_t ticks = turn[slot.cpu()] * kTurn + slot.stamp;
            if (continues) {
                EXPECT_EQ(slot.key(), open_key);
                EXPECT_EQ(ticks, newest[slot.cpu()]);
            } else {
                EXPECT_EQ(open_key, 0U);
                EXPECT_TRUE(newest[slot.cpu()] == 0 || ticks > newest[slot.cpu()]) << i;
            }
            newest[slot.cpu()] = ticks;
            open_key =
                slot.kind() == formats::kev::Kind::begin || slot.kind() == formats::kev::Kind::middle ? slot.key() : 0;
        }
        EXPECT_EQ(next_buffer, slots.size());
        EXPECT_GT(number, 2U);
    }
}

// Checklist 2: payloads of 0 to 64 words.
TEST_F(KevConverting, SlotsAreAsManyAsThePayloadNeeds) {
    for (std::size_t words = 0; words <= 64; ++words) {
        const std::string path = m_directory / "words.kev";
        {
            const auto file = OutputFile::create(path);
            ASSERT_TRUE(file.ok());
            KevSlots slots(*file.value());
            std::vector<std::uint32_t> data(words);
            for (std::size_t i = 0; i < words; ++i) {
                data[i] = static_cast<std::uint32_t>(i + 1);
            }
            file.value()->append(formats::kev::kHeaderEnd);
            slots.add(3, 6, 77, 5 * kTurn + 9, data);
            slots.finish();
            ASSERT_TRUE(file.value()->close().ok());
        }
        auto slots = slots_of(path);
        const std::size_t expected = words <= 2 ? 1 : (words + 1) / 2;
        ASSERT_EQ(slots.size(), 2 + expected) << words;
        EXPECT_EQ(slots[1].data[0], 5U) << "TIME";
        for (std::size_t i = 0; i < expected; ++i) {
            const Slot& slot = slots[2 + i];
            EXPECT_EQ(slot.stamp, 9U);
            EXPECT_EQ(slot.header & 0x3FFF'FFFF, 3U << 24 | 6U << 10 | 77U);
            EXPECT_EQ(slot.kind(), expected == 1      ? formats::kev::Kind::simple
                                   : i == 0           ? formats::kev::Kind::begin
                                   : i + 1 < expected ? formats::kev::Kind::middle
                                                      : formats::kev::Kind::end);
            EXPECT_EQ(slot.data[0], 2 * i < words ? 2 * i + 1 : 0);
            EXPECT_EQ(slot.data[1], 2 * i + 1 < words ? 2 * i + 2 : 0);
        }
    }
}

TEST_F(KevConverting, HeaderHasTheDocumentedKeysInTheirOrder) {
    ChunkBuilder chunk;
    chunk.build("a::b TRACE_X::", 7).event(100'000, "ipoint", 1, 2);
    const std::string text = support::read_text(to_kev(m_directory.write("o.dat", chunk.bytes())));
    std::size_t at = 0;
    for (const char* const key :
         {"TRACE_HEADER_BEGIN::TRACE_FILE_NAME::", "TRACE_DATE::", "TRACE_VER_MAJOR::1", "TRACE_VER_MINOR::01",
          "TRACE_LITTLE_ENDIAN::TRUE", "TRACE_ENCODING::16 byte events",
          "TRACE_BOOT_DATE::", "TRACE_CYCLES_PER_SEC::1000000000", "TRACE_CPU_NUM::1", "TRACE_SYSNAME::Remora",
          "TRACE_NODENAME::a:_b TRACE_X:_", "TRACE_SYS_RELEASE::", "TRACE_SYS_VERSION::", "TRACE_MACHINE::x86-64",
          "TRACE_SYSPAGE_LEN::0", "TRACE_DROPPED::0", "TRACE_HEADER_END::"}) {
        const std::size_t found = text.find(key, at);
        ASSERT_NE(found, std::string::npos) << key;
        at = found;
    }
}

// Checklist 8.
TEST_F(KevConverting, NumberOfDroppedRecordsIsInTheFile) {
    ChunkBuilder chunk;
    chunk.event(100'000, "blackout_start").event(200'000, "blackout_end", 0, 7).event(300'000, "blackout_end", 0, 5);
    const std::string output = to_kev(m_directory.write("o.dat", chunk.bytes()));
    EXPECT_THAT(support::read_text(output), HasSubstr("TRACE_DROPPED::12TRACE_"));
    const auto events = events_of(output);
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[1].par2, 7U);
}

TEST_F(KevConverting, SeveralProcessorsKeepTheirOwnTurns) {
    Bytes bytes;
    for (std::uint16_t cpu = 0; cpu < 3; ++cpu) {
        ChunkBuilder chunk(cpu);
        chunk.begin.cpu = cpu;
        for (std::uint64_t i = 0; i < 4000; ++i) {
            chunk.event(kTurn - 100'000 + i * 50 + cpu * 7, "context_switch", static_cast<std::uint16_t>(i % 9));
        }
        const Bytes part = chunk.bytes();
        bytes.insert(bytes.end(), part.begin(), part.end());
    }
    const std::string original = m_directory.write("o.dat", bytes);
    // One event of the first processor is exactly where its clock turns, and gives its stamp to TIME.
    EXPECT_EQ(expect_same(events_of(original), events_of(to_kev(original))), 1U);
    EXPECT_EQ(m_lines, "");
}

TEST_F(KevConverting, OurEventsGoAsTheirCounterparts) {
    ChunkBuilder chunk;
    chunk.event(100'000, "interrupt_start", 32).event(100'100, "interrupt_end", 32);
    chunk.event(100'200, "context_switch", 4).event(100'300, "task_activate", 5);
    chunk.event(100'400, "task_block", 6, 8U << 16 | 3).event(100'500, "task_block", 6, 2U << 16);
    chunk.event(100'600, "task_create", 7, 70).event(100'700, "task_end", 7, 70).event(100'800, "context_switch", 7);
    chunk.event(100'900, "context_switch", 4, 1).event(101'000, "user_event_0", 1, 2);
    using formats::kev::ThreadState;
    std::vector<std::tuple<unsigned, unsigned, unsigned, unsigned>> found;
    for (const Slot& slot : slots_of(to_kev(m_directory.write("o.dat", chunk.bytes())))) {
        const bool first = slot.kind() == formats::kev::Kind::simple || slot.kind() == formats::kev::Kind::begin;
        if (first && slot.class_number() != 1) {
            found.emplace_back(slot.class_number(), slot.event(), slot.data[0], slot.data[1]);
        }
    }
    constexpr unsigned kNoPid = 0xFFFF'FFFF;
    EXPECT_THAT(found,
                testing::ElementsAre(std::tuple(4, 320, 70, 8), std::tuple(3, 1, 32, 0), std::tuple(3, 2, 32, 0),
                                     std::tuple(4, 1, kNoPid, 5), std::tuple(4, 2, kNoPid, 6),
                                     std::tuple(6, 0xD2, 6, 8U << 16 | 3), std::tuple(4, 13, kNoPid, 7),
                                     std::tuple(4, 12, kNoPid, 7), std::tuple(4, 24, 70, 8), std::tuple(4, 25, 70, 8),
                                     std::tuple(4, 1, 70, 8), std::tuple(6, 0x15, 4, 1), std::tuple(6, 9, 1, 2)));
}

TEST_F(KevConverting, WaitsHaveAPriorityAndTheirObjectIsInFront) {
    ChunkBuilder chunk;
    chunk.name("level", 1, "EDF").name("level", 4, "CBS").parameters({.context = 6, .level = 4});
    chunk.event(100'400, "task_block", 6, 8U << 16 | 3).event(100'500, "task_block", 5, 1U << 16 | 2);
    const std::string original = m_directory.write("o.dat", chunk.bytes());
    const std::string output = to_kev(original);
    std::vector<std::array<std::uint32_t, 3>> found; // stamp, data
    for (const Slot& slot : slots_of(output)) {
        if (slot.is(formats::kev::Class::user, trace::kCodeOf<"task_block">) ||
            (slot.class_number() == 4 && slot.event() < 24)) {
            found.push_back({slot.stamp, slot.data[0], slot.data[1]});
        }
    }
    using Row = std::array<std::uint32_t, 3>;
    constexpr std::uint32_t kNoPid = 0xFFFF'FFFF;
    // A guest of EDF, by a server; nothing is known of the other.
    EXPECT_THAT(found,
                testing::ElementsAre(Row{100'397, 6, 8U << 16 | 3}, Row{100'400, kNoPid, 7}, Row{100'400, 254, 4},
                                     Row{100'497, 5, 1U << 16 | 2}, Row{100'500, kNoPid, 6}, Row{100'500, 0, 1}));
    EXPECT_EQ(events_of(output), events_of(original));
}

TEST_F(KevConverting, LongEventsBeginWithTheirText) {
    tracer::EventDeclaration declaration{.id = 1, .name = {"control_output"}, .field_count = 1};
    declaration.items[0] = {.type = tracer::FieldType::u16, .name = {"error"}, .unit = {"m\xc2\xb0"}};
    ChunkBuilder chunk;
    chunk.declare(declaration);
    for (const tracer::Record& record : support::combined(
             trace::kCodeOf<"typed_event">,
             std::vector<std::byte>{std::byte{6}, {}, std::byte{1}, {}, std::byte{0xE8}, std::byte{3}}, {100'000})) {
        chunk.raw(record);
    }
    const std::string original = m_directory.write("o.dat", chunk.bytes());
    const std::string output = to_kev(original);
    std::string text;
    for (const Slot& slot : slots_of(output)) {
        if (slot.is(formats::kev::Class::user, trace::kCodeOf<"typed_event">)) {
            for (unsigned i = 0; i < 8; ++i) {
                text.push_back(static_cast<char>(slot.data[i / 4] >> (8 * (i % 4))));
            }
        }
    }
    EXPECT_EQ(text.substr(0, text.find('\0')), "control_output error=1000m??");
    EXPECT_EQ(events_of(output), events_of(original));
}

// Without texts, the object as the third word of a wait.
TEST_F(KevConverting, FilesOfEarlierVersionsAreRead) {
    support::KevBuilder file({.system = "Remora"});
    file.time(0, 1000).slot('B', 0, 4, 17, 1000, 70, 7).slot('E', 0, 4, 17, 1000, 3, 0);
    file.slot('B', 0, 6, trace::kCodeOf<"formatted_event">, 2000, 6, 0x01020304).slot('E', 0, 6, 0x2E, 2000, 0x0605, 0);
    const auto events = events_of(m_directory.write("o.kev", file.bytes));
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].par2, 1U << 16 | 3);
    EXPECT_EQ(events[1].payload.size(), 6U);
    EXPECT_EQ(events[1].state, trace::EventState::ok);
}

class KevJudged : public KevConverting {
  protected:
    // What the command says of the trace, without what names the file and the places in it.
    trace::Json judged(const std::string& command, const std::string& path) {
        EXPECT_EQ(remora({command, path, "--json"}), command == "verify" ? 6 : 0) << m_err;
        trace::Json json = trace::Json::parse(m_out);
        for (const char* const key : {"file", "chunks", "violations"}) {
            json.erase(key);
        }
        return json;
    }
};

TEST_F(KevJudged, AsTheOriginal) {
    const std::string original = m_directory.write("control.dat", support::control_run());
    const std::string output = m_directory / "o.kev";
    ASSERT_EQ(remora({"convert", original, "--to", "kev", "-o", output}), 0) << m_err;
    const trace::Json check = judged("check", original);
    EXPECT_GT(check["total"]["checked"], 1000);
    EXPECT_EQ(judged("check", output), check);
    trace::Json verified = judged("verify", output);
    trace::Json expected = judged("verify", original);
    for (trace::Json* const judgement : {&verified, &expected}) {
        EXPECT_FALSE(judgement->at("account").at("closes").get<bool>()) << "neither has the machine's totals";
        judgement->erase("account"); // counts the records of chunks and of buffers
    }
    EXPECT_EQ(verified, expected);
}

TEST_F(KevJudged, NothingWhereItIsNotKnownWhatIsMissing) {
    ChunkBuilder chunk;
    chunk.event(100'000, "task_schedule", 1, 1).event(100'100, "task_dispatch", 1);
    tracer::ChunkBegin begin = chunk.description();
    begin.records += 5;
    const std::string output = to_kev(m_directory.write("o.dat", chunk.with(begin)), 2);
    EXPECT_THAT(support::read_text(output), HasSubstr("TRACE_UNPLACED::5TRACE_"));
    for (const auto& [command, status] : {std::pair{"check", 0}, {"verify", 6}}) {
        EXPECT_EQ(remora({command, output}), status);
        EXPECT_THAT(m_out, HasSubstr("was converted from a trace that lost records, and does not say where"));
    }
}

TEST_F(KevJudged, AfterAMissingBufferFromTheBeginning) {
    ChunkBuilder chunk;
    for (unsigned i = 0; i < 4000; ++i) {
        chunk.event(100'000 + 100 * i, "ipoint", 1, i);
    }
    const std::string output = to_kev(m_directory.write("o.dat", chunk.bytes()));
    std::string text = support::read_text(output);
    const std::size_t begin = *formats::kev::find_header_end(text);
    text.erase(begin + 16 * KevSlots::kBufferSlots, 16 * KevSlots::kBufferSlots);
    EXPECT_EQ(remora({"check", m_directory.write("cut.kev", std::as_bytes(std::span(text)))}), 2);
    EXPECT_THAT(m_out, HasSubstr("records are missing in"));
}

TEST_F(KevConverting, NamesOfAnotherSystemsTraceAreInTheChunks) {
    support::KevBuilder file;
    file.time(0, 1000).slot('S', 0, 4, 1, 1000, 7, 1).slot('S', 0, 4, 1, 2000, 8, 1);
    const std::string output = m_directory / "o.dat";
    ASSERT_EQ(remora({"convert", m_directory.write("o.kev", file.bytes), "--to", "dat", "-o", output}), 0);
    ASSERT_EQ(remora({"print", output}), 0);
    EXPECT_THAT(m_out, HasSubstr("(pid 7:1)"));
    EXPECT_THAT(m_out, HasSubstr("(pid 8:1)"));
}

TEST_F(KevConverting, AKevFileOfAnotherSystemConvertsToItself) {
    support::KevBuilder file;
    file.time(0, 7 * kTurn).user(0, 7 * kTurn + 5, 1).slot('S', 1, 2, 139, 7, 1, 2).time(1, 7 * kTurn + 7);
    file.slot('B', 0, 4, 320, 9, 1, 2).slot('E', 0, 4, 320, 9, 3, 4);
    const std::string original = m_directory.write("o.kev", file.bytes);
    const auto before = support::read_kev(file.bytes).events;
    const std::string text = support::read_text(to_kev(original));
    EXPECT_EQ(support::read_kev(std::as_bytes(std::span(text))).events, before);
    EXPECT_THAT(text, HasSubstr("TRACE_SYSNAME::converted"));
}

TEST_F(KevConverting, ProcessorsBeyondTheFormatAreRefused) {
    ChunkBuilder chunk;
    chunk.begin.cpu = 64;
    chunk.event(100'000, "ipoint", 1, 2);
    const std::string original = m_directory.write("o.dat", chunk.bytes());
    EXPECT_EQ(remora({"convert", original, "--to", "kev", "-o", m_directory / "o.kev"}), 1);
    EXPECT_THAT(m_err, HasSubstr("processor 64: the format has room for 64"));
}

} // namespace

} // namespace host::convert::records
