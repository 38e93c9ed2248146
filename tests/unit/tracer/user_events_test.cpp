// SPDX-License-Identifier: MIT
// Tests the registry that any context may append to, and the records of typed and formatted events.
#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/sinks.hpp"
#include "tracer/trace_printf.hpp"
#include "tracer/typed_event.hpp"

#include <functional>
#include <thread>

namespace user_events_test {

using tests::TracerFixture;
using tracer::EventDeclaration;
using tracer::FormatFault;
using tracer::Record;

// An entry that simulates an interrupt while it is being copied into the list.
struct Interruptible {
    int value = 0;
    std::function<void()> interrupt{};

    Interruptible() = default;
    Interruptible(const Interruptible&) = default;

    explicit Interruptible(int number, std::function<void()> during = {})
        : value(number)
        , interrupt(std::move(during)) {}

    Interruptible& operator=(const Interruptible& other) {
        if (other.interrupt) {
            other.interrupt();
        }
        value = other.value;
        return *this;
    }

    ~Interruptible() = default;

    friend bool operator==(const Interruptible& a, const Interruptible& b) { return a.value == b.value; }

    // Of three kinds: what differs is in one chain.
    [[nodiscard]] std::uint64_t hash() const { return static_cast<std::uint64_t>(value % 3) << 62; }
};

using List = tracer::AppendOnlyList<Interruptible>;

// A list with its memory.
struct ListOf {
    explicit ListOf(std::size_t capacity)
        : entries(capacity)
        , numbers(3 * capacity)
        , list({.entries = entries,
                .order = std::span(numbers).first(capacity),
                .next = std::span(numbers).subspan(capacity, capacity),
                .buckets = std::span(numbers).last(capacity)}) {}

    std::vector<Interruptible> entries;
    std::vector<std::uint16_t> numbers;
    List list;
};

std::vector<int> values(const List& list) {
    std::vector<int> found;
    for (std::size_t i = 0; i < list.size(); ++i) {
        found.push_back(list.entry(i).value);
    }
    return found;
}

TEST(AppendOnlyList, IsWholeAtEveryMomentOfAnInterruptedAddition) {
    ListOf memory(8);
    List& list = memory.list;
    EXPECT_EQ(list.add(Interruptible(1)), 0U);
    std::vector<int> seen;
    const std::size_t outer = list.add(Interruptible(2, [&] {
        EXPECT_EQ(list.add(Interruptible(3, [&] { EXPECT_EQ(list.add(Interruptible(4)), 1U); })), 2U);
        seen = values(list);
    }));
    EXPECT_EQ(seen, (std::vector<int>{1, 4, 3})) << "the interrupt's entry is present, the unfinished one is not";
    EXPECT_EQ(outer, 3U);
    EXPECT_EQ(values(list), (std::vector<int>{1, 4, 3, 2}));
    EXPECT_EQ(list.add(Interruptible(4)), 1U) << "known already";
}

TEST(AppendOnlyList, CountsWhatHasNoRoomAndKeepsTheRest) {
    ListOf memory(2);
    List& list = memory.list;
    EXPECT_EQ(list.add(Interruptible(1)), 0U);
    EXPECT_EQ(list.add(Interruptible(2, [&] { EXPECT_EQ(list.add(Interruptible(3)), list.kNone); })), 1U);
    EXPECT_EQ(list.add(Interruptible(4)), list.kNone);
    EXPECT_EQ(list.add(Interruptible(2)), 1U);
    EXPECT_EQ(list.lost(), 2U);
    EXPECT_EQ(values(list), (std::vector<int>{1, 2}));
}

TEST(AppendOnlyList, LosesNothingToConcurrentAdditions) {
    constexpr int kEach = 400;
    constexpr int kThreads = 4;
    ListOf memory(kEach * kThreads);
    List* const list = &memory.list;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([list, thread] {
            for (int i = 0; i < kEach; ++i) {
                list->add(Interruptible(1 + thread * kEach + i));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::vector<int> found = values(*list);
    std::ranges::sort(found);
    ASSERT_EQ(found.size(), static_cast<std::size_t>(kEach * kThreads));
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i], static_cast<int>(i + 1));
        EXPECT_EQ(list->entry(list->add(Interruptible(found[i]))).value, found[i]) << "in its chain";
    }
    EXPECT_EQ(list->size(), found.size()) << "each is known";
}

TEST(NameRegistry, KnowsEachNameOnceWhenItIsFull) {
    tests::TracerFixture fixture;
    tracer::NameRegistry& names = fixture.names();
    for (int round = 0; round < 2; ++round) {
        for (std::uint16_t i = 0; i < tracer::black_box::Sizes{}.names; ++i) {
            names.add_task(i, 7, "task", {.level = 1});
        }
        EXPECT_EQ(names.size(), tracer::black_box::Sizes{}.names);
        EXPECT_EQ(names.lost(), 0U);
    }
    names.add_task(0, 7, "task", {.level = 2});
    EXPECT_EQ(names.lost(), 1U) << "the same number, with other parameters";
}

TEST(NameRegistry, ListsWhatWasGivenAndLeavesTheRestEmpty) {
    tests::TracerFixture fixture;
    tracer::NameRegistry& names = fixture.names();
    names.add_name(tracer::NameKind::mutex, 7, "bus");
    names.add_task(9, 4711, "idle", {.context = 1, .level = 5});
    ASSERT_EQ(names.size(), 2U);
    EXPECT_EQ(
        names.entry(0),
        (tracer::NameEntry{
            .kind = tracer::NameKind::mutex, .id = 7, .pid = 0, .name = std::string_view("bus"), .parameters = {}}));
    EXPECT_EQ(names.entry(1), (tracer::NameEntry{.kind = tracer::NameKind::task,
                                                 .id = 9,
                                                 .pid = 4711,
                                                 .name = std::string_view("idle"),
                                                 .parameters = {.context = 9, .level = 5}}));
}

TEST(EventDeclarationTest, IsSensibleOnlyWithFieldsThatThereAre) {
    using tracer::FieldType;
    const auto sensible = [](const tracer::FieldDeclaration& field) {
        EventDeclaration declaration{.name = std::string_view("output"), .field_count = 1};
        declaration.items[0] = field;
        return declaration.is_sensible();
    };
    const tracer::Name name = std::string_view("gain");
    EXPECT_TRUE(sensible({.type = FieldType::u8, .name = name}));
    EXPECT_TRUE(sensible({.type = FieldType::text, .detail = 255, .name = name}));
    EXPECT_FALSE(sensible({.type = FieldType::none, .name = name}));
    EXPECT_FALSE(sensible({.type = static_cast<FieldType>(tracer::kFieldTypes), .name = name}));
    EXPECT_FALSE(sensible({.type = FieldType::u8}));
    EXPECT_TRUE(sensible({.type = FieldType::u16, .detail = 16, .name = name}));
    EXPECT_FALSE(sensible({.type = FieldType::u16, .detail = 17, .name = name})) << "more binary places than bits";
    EventDeclaration declaration{.name = std::string_view("output"), .field_count = tracer::kFieldsMax};
    declaration.items.fill({.type = FieldType::boolean, .name = name});
    EXPECT_TRUE(declaration.is_sensible());
    declaration.field_count = tracer::kFieldsMax + 1;
    EXPECT_FALSE(declaration.is_sensible());
    EXPECT_FALSE(EventDeclaration{}.is_sensible()) << "it has no name";
}

std::vector<Record> records_of(const tracer::Chunk& chunk) {
    std::vector<Record> records;
    const auto contents = tracer::ChunkStore::contents(chunk);
    for (const auto part : {contents.older, contents.newer}) {
        for (std::size_t at = 0; at < part.size(); at += 16) {
            records.push_back(tracer::decode_record(part.subspan(at, 16)));
        }
    }
    return records;
}

std::vector<std::byte> payload_of(const std::vector<Record>& records) {
    std::vector<std::byte> bytes;
    for (const Record& record : records) {
        EXPECT_EQ(record.stamp(), records.front().stamp());
        const auto piece = tracer::slot_payload(record);
        bytes.insert(bytes.end(), piece.begin(), piece.end());
    }
    return bytes;
}

TEST(TypedEventTest, IsRecordedAsItsDeclarationSays) {
    TracerFixture fixture;
    tracer::Chunk& chunk = fixture.chunk(16, 0, tracer::kFlagStop);
    fixture.select_and_enable(chunk);
    tracer::TypedEvent<std::int32_t, tracer::Fixed<std::uint16_t, 8>, tracer::Text<5>> output{
        "control_output", {{"error", "mrad"}, {"gain"}, {"mode"}}};
    output.log(-5, {0x180}, "automatic");
    fixture.tracer().control.disable();
    const auto bytes = payload_of(records_of(chunk));
    lib::ByteReader reader(bytes);
    EXPECT_EQ(reader.le<std::uint16_t>(), 2 + 2 + 4 + 2 + 1 + 5);
    EXPECT_EQ(reader.le<std::uint16_t>(), output.id());
    EXPECT_EQ(reader.le<std::uint32_t>(), 0xFFFF'FFFBU);
    EXPECT_EQ(reader.le<std::uint16_t>(), 0x180U);
    EXPECT_EQ(reader.le<std::uint8_t>(), 5U);
    const auto text = reader.take(5);
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(text.data()), 5), "auto~");
    ASSERT_EQ(fixture.names().declarations(), 1U);
    const auto declared = tracer::decode_payload<EventDeclaration>(fixture.names().declaration(output.id()).view());
    ASSERT_TRUE(declared.ok());
    EXPECT_TRUE(declared.value().is_sensible());
    EXPECT_EQ(declared.value().id, output.id());
    EXPECT_EQ(declared.value().name.view(), "control_output");
    EXPECT_EQ(declared.value().items[0].unit.view(), "mrad");
    EXPECT_EQ(declared.value().items[1].detail, 8U);
}

TEST(TracePrintfTest, RecordsNumberAndArguments) {
    TracerFixture fixture;
    tracer::Chunk& chunk = fixture.chunk(16, 0, tracer::kFlagStop);
    fixture.select_and_enable(chunk);
    tracer::trace_printf<"speed %d of %u">(std::int16_t{-2}, std::uint8_t{7});
    fixture.tracer().control.disable();
    const auto bytes = payload_of(records_of(chunk));
    lib::ByteReader reader(bytes);
    EXPECT_EQ(reader.le<std::uint16_t>(), 2 + 4 + 1 + 2 + 1 + 1);
    EXPECT_EQ(reader.le<std::uint32_t>(), tracer::detail::format_id<"speed %d of %u">());
    EXPECT_NE(tracer::detail::format_id<"speed %d of %u">(), tracer::detail::format_id<"speed %d of %d">());
    EXPECT_EQ(reader.le<std::uint8_t>(), 6U);
    EXPECT_EQ(reader.le<std::uint16_t>(), 0xFFFEU);
    EXPECT_EQ(reader.le<std::uint8_t>(), 1U);
    EXPECT_EQ(reader.le<std::uint8_t>(), 7U);
}

TEST(FormatCheck, NamesWhatIsWrong) {
    constexpr std::array kOne{tracer::FieldType::i32};
    constexpr std::array kText{tracer::FieldType::text};
    const auto with_one = [&kOne](std::string_view format) { return tracer::check_format(format, kOne.data(), 1); };
    EXPECT_EQ(with_one("a %d"), FormatFault::none);
    EXPECT_EQ(with_one("a %-+05.3d %%"), FormatFault::none);
    EXPECT_EQ(with_one("a"), FormatFault::too_many_arguments);
    EXPECT_EQ(with_one("%d %d"), FormatFault::too_few_arguments);
    EXPECT_EQ(with_one("%u"), FormatFault::u_needs_unsigned);
    EXPECT_EQ(with_one("%s"), FormatFault::s_needs_text);
    EXPECT_EQ(with_one("%x"), FormatFault::none);
    for (const std::string_view malformed : {"%", "%l", "%ld", "%*d", "%256d", "%.256d", "%5%", "%q"}) {
        EXPECT_EQ(with_one(malformed), FormatFault::malformed) << malformed;
    }
    EXPECT_EQ(tracer::check_format("%d", kText.data(), 1), FormatFault::d_needs_signed);
}

TEST(FormatCheck, KnowsTheTypesOfEachConversion) {
    using tracer::FieldType;
    const std::vector<FieldType> all_unsigned = {FieldType::u8, FieldType::u16, FieldType::u32, FieldType::u64};
    const std::vector<FieldType> all_signed = {FieldType::i8, FieldType::i16, FieldType::i32, FieldType::i64};
    std::vector<FieldType> integers = all_unsigned;
    integers.insert(integers.end(), all_signed.begin(), all_signed.end());
    std::vector<FieldType> counts = all_unsigned;
    counts.push_back(FieldType::boolean);
    const std::vector<std::pair<std::string_view, std::vector<FieldType>>> rows = {
        {"di", all_signed},
        {"u", counts},
        {"xXo", integers},
        {"c", {FieldType::character}},
        {"s", {FieldType::text}},
        {"p", {FieldType::pointer}},
        {"f", {FieldType::float32, FieldType::float64}},
        {"ge%", {}},
    };
    for (const auto& [letters, types] : rows) {
        for (const char letter : letters) {
            for (std::size_t type = 0; type <= tracer::kFieldTypes; ++type) {
                const auto field = static_cast<FieldType>(type);
                EXPECT_EQ(tracer::conversion_takes(letter, field), std::ranges::count(types, field) == 1)
                    << letter << ' ' << type;
            }
        }
    }
}

TEST(FormatReaderTest, SplitsAFormat) {
    tracer::FormatReader reader("at %-+ 0#12.345s%%%7d, %.x");
    const auto literal = [&reader](std::string_view text) {
        const tracer::FormatPiece piece = reader.next();
        EXPECT_EQ(piece.kind, tracer::Conversion::literal);
        EXPECT_EQ(piece.text, text);
    };
    literal("at ");
    const tracer::FormatPiece full = reader.next();
    EXPECT_EQ(full.kind, tracer::Conversion::malformed) << "a precision over 255";
    EXPECT_EQ(full.text, "%-+ 0#12.345s");
    EXPECT_EQ(full.letter, 's');
    EXPECT_TRUE(full.left && full.plus && full.space && full.zero && full.alternate && full.has_precision);
    EXPECT_EQ(full.width, 12);
    EXPECT_EQ(full.precision, tracer::kFormatWidthMax);
    const tracer::FormatPiece percent = reader.next();
    EXPECT_EQ(percent.kind, tracer::Conversion::percent);
    EXPECT_EQ(percent.text, "%%");
    const tracer::FormatPiece plain = reader.next();
    EXPECT_EQ(plain.kind, tracer::Conversion::value);
    EXPECT_EQ(plain.text, "%7d");
    EXPECT_EQ(plain.letter, 'd');
    EXPECT_FALSE(plain.left || plain.plus || plain.space || plain.zero || plain.alternate || plain.has_precision);
    EXPECT_EQ(plain.width, 7);
    literal(", ");
    const tracer::FormatPiece last = reader.next();
    EXPECT_EQ(last.kind, tracer::Conversion::value);
    EXPECT_TRUE(last.has_precision);
    EXPECT_EQ(last.precision, 0);
    EXPECT_EQ(last.text, "%.x");
    EXPECT_EQ(reader.next().kind, tracer::Conversion::none);
    tracer::FormatReader widest("%255.255u");
    const tracer::FormatPiece wide = widest.next();
    EXPECT_EQ(wide.kind, tracer::Conversion::value);
    EXPECT_EQ(wide.width, 255);
    EXPECT_EQ(wide.precision, 255);
}

} // namespace user_events_test
