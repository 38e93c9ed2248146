// SPDX-License-Identifier: MIT
// Tests the text of each type of value, and of each conversion of a format: as printf writes them.
#include "host/trace/names.hpp"
#include "host/trace/value_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::trace {

namespace {

using testing::ElementsAre;
using tracer::FieldType;

FieldValue value(FieldType type, std::uint64_t bits) {
    return {.type = type, .bits = bits, .text = {}};
}

FieldValue words(std::string_view text) {
    return {.type = FieldType::text, .text = text};
}

FieldValue real(double number) {
    return value(FieldType::float64, std::bit_cast<std::uint64_t>(number));
}

std::string fixed(FieldType type, std::uint8_t fraction_bits, std::uint64_t bits) {
    return value_text({.type = type, .fraction_bits = fraction_bits, .bits = bits, .text = {}});
}

std::string shown(std::string_view format, const FieldValue& argument) {
    return render(format, {&argument, 1}).value_or("nothing");
}

TEST(ValueOfField, IsWrittenByItsType) {
    EXPECT_EQ(value_text(value(FieldType::u8, 255)), "255");
    EXPECT_EQ(value_text(value(FieldType::u64, std::numeric_limits<std::uint64_t>::max())), "18446744073709551615");
    EXPECT_EQ(value_text(value(FieldType::i8, 0x80)), "-128");
    EXPECT_EQ(value_text(value(FieldType::i8, 0x7F)), "127");
    EXPECT_EQ(value_text(value(FieldType::i16, 0xFFFF)), "-1");
    EXPECT_EQ(value_text(value(FieldType::i32, 0xFFFF'FFFE)), "-2");
    EXPECT_EQ(value_text(value(FieldType::i64, ~std::uint64_t{0})), "-1");
    EXPECT_EQ(value_text(value(FieldType::boolean, 0)), "false");
    EXPECT_EQ(value_text(value(FieldType::boolean, 1)), "true");
    EXPECT_EQ(value_text(value(FieldType::character, 'x')), "x");
    EXPECT_EQ(value_text(value(FieldType::pointer, 0xABC)), "0xabc");
    EXPECT_EQ(value_text(value(FieldType::float32, std::bit_cast<std::uint32_t>(-1.5F))), "-1.5");
    EXPECT_EQ(value_text(real(0.25)), "0.25");
    EXPECT_EQ(value_text(words("as it\x1b is")), "as it\x1b is");
}

TEST(ValueOfField, WithAFractionIsExact) {
    EXPECT_EQ(fixed(FieldType::u16, 8, 0x0180), "1.5");
    EXPECT_EQ(fixed(FieldType::u16, 8, 0x0300), "3");
    EXPECT_EQ(fixed(FieldType::u16, 8, 0x0001), "0.00390625");
    EXPECT_EQ(fixed(FieldType::i16, 8, 0xFF80), "-0.5");
    EXPECT_EQ(fixed(FieldType::i16, 8, 0x0080), "0.5");
    EXPECT_EQ(fixed(FieldType::i64, 1, 0x8000'0000'0000'0001), "-4611686018427387903.5");
    EXPECT_EQ(fixed(FieldType::u64, 64, 0x8000'0000'0000'0000), "0.5");
    EXPECT_EQ(fixed(FieldType::u64, 64, 0xC000'0000'0000'0000), "0.75");
    EXPECT_EQ(fixed(FieldType::u64, 63, 0xC000'0000'0000'0000), "1.5");
    EXPECT_EQ(fixed(FieldType::i64, 64, 0x8000'0000'0000'0000), "-0.5");
}

TEST(FormattedValue, HasTheSignThatItsFlagsAskFor) {
    const FieldValue seven = value(FieldType::i32, 7);
    const FieldValue less = value(FieldType::i32, 0xFFFF'FFF9);
    EXPECT_EQ(shown("%+d", seven), "+7");
    EXPECT_EQ(shown("% d", seven), " 7");
    EXPECT_EQ(shown("% +i", seven), "+7");
    EXPECT_EQ(shown("%+d", less), "-7");
    EXPECT_EQ(shown("%i", less), "-7");
    EXPECT_EQ(shown("%+d", value(FieldType::i32, 0)), "+0");
    EXPECT_EQ(shown("%d", value(FieldType::i64, std::uint64_t{1} << 63)), "-9223372036854775808");
    EXPECT_EQ(shown("%u", value(FieldType::u32, 7)), "7");
    EXPECT_EQ(shown("%u", value(FieldType::boolean, 1)), "1");
}

TEST(FormattedValue, InOtherBasesHasItsPrefixUnlessItIsZero) {
    const FieldValue number = value(FieldType::u32, 0xBE);
    const FieldValue zero = value(FieldType::u32, 0);
    EXPECT_EQ(shown("%x %%", number), "be %");
    EXPECT_EQ(shown("%#x", number), "0xbe");
    EXPECT_EQ(shown("%#x", zero), "0");
    EXPECT_EQ(shown("%X", number), "BE");
    EXPECT_EQ(shown("%#X", number), "0XBE");
    EXPECT_EQ(shown("%#X", zero), "0");
    EXPECT_EQ(shown("%o", number), "276");
    EXPECT_EQ(shown("%#o", number), "0276");
    EXPECT_EQ(shown("%#o", zero), "0");
    EXPECT_EQ(shown("%p", value(FieldType::pointer, 0)), "0x0");
    EXPECT_EQ(shown("%p", value(FieldType::pointer, 0xAB)), "0xab");
    EXPECT_EQ(shown("[%#06x]", number), "[0x00be]");
}

TEST(FormattedValue, FillsItsWidthOnTheSideThatItsFlagsSay) {
    const FieldValue number = value(FieldType::u32, 42);
    EXPECT_EQ(shown("[%2u]", number), "[42]");
    EXPECT_EQ(shown("[%1u]", number), "[42]");
    EXPECT_EQ(shown("[%4u]", number), "[  42]");
    EXPECT_EQ(shown("[%-4u]", number), "[42  ]");
    EXPECT_EQ(shown("[%04u]", number), "[0042]");
    EXPECT_EQ(shown("[%-04u]", number), "[42  ]") << "the left side has no zeros";
    EXPECT_EQ(shown("[%+5d]", value(FieldType::i32, 42)), "[  +42]");
    EXPECT_EQ(shown("[%-+5d]", value(FieldType::i32, 42)), "[+42  ]");
    EXPECT_EQ(shown("[%+05d]", value(FieldType::i32, 42)), "[+0042]");
    EXPECT_EQ(shown("[%05s]", words("ab")), "[   ab]") << "texts are not filled with zeros";
    EXPECT_EQ(shown("[%-5s]", words("ab")), "[ab   ]");
    EXPECT_EQ(shown("[%3c]", value(FieldType::character, 'x')), "[  x]");
}

TEST(FormattedValue, HasAsManyDigitsAsItsPrecision) {
    const FieldValue number = value(FieldType::u32, 42);
    EXPECT_EQ(shown("%.1u", number), "42");
    EXPECT_EQ(shown("%.2u", number), "42");
    EXPECT_EQ(shown("%.4u", number), "0042");
    EXPECT_EQ(shown("[%06.3u]", number), "[   042]") << "a precision rules out zeros before it";
    EXPECT_EQ(shown("%.2s", words("abc")), "ab");
    EXPECT_EQ(shown("%.9s", words("abc")), "abc");
    EXPECT_EQ(shown("%.0s", words("abc")), "");
}

TEST(FormattedValue, OfAFloatHasSixDecimalsOrItsPrecision) {
    EXPECT_EQ(shown("%f", real(0.5)), "0.500000");
    EXPECT_EQ(shown("%.0f", real(2.0)), "2");
    EXPECT_EQ(shown("%.3f", real(-0.25)), "-0.250");
    EXPECT_EQ(shown("%+.1f", real(0.5)), "+0.5");
    EXPECT_EQ(shown("% .1f", real(0.5)), " 0.5");
    EXPECT_EQ(shown("%.1f", real(-0.0)), "-0.0");
    EXPECT_EQ(shown("[%07.2f]", real(-1.5)), "[-001.50]") << "here zeros fill despite the precision";
    EXPECT_EQ(shown("%.2f", value(FieldType::float32, std::bit_cast<std::uint32_t>(1.25F))), "1.25");
}

TEST(FormattedValue, TakesItsArgumentsInOrder) {
    const std::vector<FieldValue> arguments = {value(FieldType::u8, 1), words("two"), value(FieldType::i8, 0xFD)};
    EXPECT_EQ(render("a %u b %s%% %d.", arguments), "a 1 b two% -3.");
    EXPECT_EQ(render("%s %u %d", arguments), std::nullopt);
    EXPECT_EQ(render("text", {}), "text");
}

TEST(FormattedValue, WithoutItsConversionIsRefused) {
    const FieldValue number = value(FieldType::i16, 0xFFFE);
    EXPECT_EQ(shown("[%5d]", number), "[   -2]");
    EXPECT_EQ(shown("[%05d]", number), "[-0002]");
    EXPECT_EQ(shown("%.3d%%", number), "-002%");
    EXPECT_EQ(shown("%x", number), "fffe");
    for (const std::string_view format : {"%u", "%f", "%s", "%d %d", "none"}) {
        EXPECT_EQ(shown(format, number), "nothing") << format;
    }
    EXPECT_EQ(shown("%d", real(0.5)), "nothing");
}

TEST(FieldsOfAnEvent, AreAtMostSixteen) {
    FieldValues values;
    for (std::size_t i = 0; i < tracer::kFieldsMax; ++i) {
        EXPECT_TRUE(values.add(value(FieldType::u8, i)));
    }
    EXPECT_FALSE(values.add(value(FieldType::u8, 99)));
    ASSERT_EQ(values.values().size(), tracer::kFieldsMax);
    EXPECT_EQ(values.values().back().bits, tracer::kFieldsMax - 1);
}

class Payloads : public testing::Test {
  protected:
    Payloads() {
        tracer::EventDeclaration declaration{.id = 3, .name = {std::string_view("control")}, .field_count = 3};
        declaration.items[0] = {FieldType::i32, 0, {std::string_view("error")}, {}};
        declaration.items[1] = {FieldType::u16, 8, {std::string_view("gain")}, {}};
        declaration.items[2] = {FieldType::text, 5, {std::string_view("mode")}, {}};
        m_names.declare(declaration);
        m_event.names = &m_names;
    }

    // The texts of the fields, or why there are none.
    std::vector<std::string> typed(const std::vector<std::uint8_t>& payload) {
        m_event.payload = std::as_bytes(std::span(payload));
        const auto view = view_typed(m_event);
        return view ? texts(view.value().fields) : std::vector{view.error().text};
    }

    std::vector<std::string> formatted(const std::vector<std::uint8_t>& payload) {
        m_event.payload = std::as_bytes(std::span(payload));
        const auto view = view_formatted(m_event);
        return view ? texts(view.value().arguments) : std::vector{view.error().text};
    }

  private:
    static std::vector<std::string> texts(const FieldValues& values) {
        std::vector<std::string> result;
        for (const FieldValue& one : values.values()) {
            result.push_back(value_text(one));
        }
        return result;
    }

    Names m_names;
    Event m_event;
};

TEST_F(Payloads, OfTypedEventsFitTheirDeclarationExactly) {
    EXPECT_THAT(typed({3, 0, 0xFB, 0xFF, 0xFF, 0xFF, 0x80, 0x01, 4, 'a', 'u', 't', 'o'}),
                ElementsAre("-5", "1.5", "auto"));
    EXPECT_THAT(typed({3, 0, 1, 2, 3, 4, 0, 0, 5, 'f', 'i', 'v', 'e', '5'}), ElementsAre("67305985", "0", "five5"));
    EXPECT_THAT(typed({3, 0, 1, 2, 3, 4, 0, 0, 0}), ElementsAre("67305985", "0", ""));
    EXPECT_THAT(typed({3}), ElementsAre("a typed event without a number"));
    EXPECT_THAT(typed({4, 0}), ElementsAre("typed event 4 is declared nowhere"));
    EXPECT_THAT(typed({0xFF, 0xFF}), ElementsAre("a typed event that could not be declared: the machine's list of "
                                                 "declarations was full"));
    EXPECT_THAT(typed({3, 0, 1, 2, 3}),
                ElementsAre("typed event 3: its field error is cut or holds what its type cannot"));
    EXPECT_THAT(typed({3, 0, 1, 2, 3, 4, 0, 0, 6, 's', 'i', 'x', 's', 'i', 'x'}),
                ElementsAre("typed event 3: its field mode is cut or holds what its type cannot"));
    EXPECT_THAT(typed({3, 0, 1, 2, 3, 4, 0, 0, 2, 's'}),
                ElementsAre("typed event 3: its field mode is cut or holds what its type cannot"));
    EXPECT_THAT(typed({3, 0, 1, 2, 3, 4, 0, 0, 0, 7, 7}), ElementsAre("typed event 3: 2 bytes after its last field"));
}

TEST_F(Payloads, OfFormattedEventsSayTheTypesOfTheirArguments) {
    EXPECT_THAT(formatted({8, 0, 0, 0, 6, 0xFE, 0xFF, 14, 2, 'o', 'k', 9, 1}), ElementsAre("-2", "ok", "true"));
    EXPECT_THAT(formatted({8, 0, 0, 0, 4, 1, 2, 3, 4, 5, 6, 7, 8}), ElementsAre("578437695752307201"));
    EXPECT_TRUE(formatted({8, 0, 0, 0}).empty());
    EXPECT_THAT(formatted({8, 0, 0}), ElementsAre("a formatted event without a number"));
    const std::string_view refused = "is cut, of no known type, or one too many";
    EXPECT_THAT(formatted({8, 0, 0, 0, 9, 2}), ElementsAre(fmt::format("formatted event 8: argument 1 {}", refused)));
    EXPECT_THAT(formatted({8, 1, 0, 0, 1, 7, 99}),
                ElementsAre(fmt::format("formatted event 264: argument 2 {}", refused)));
    EXPECT_THAT(formatted({8, 0, 0, 0, 2, 1}), ElementsAre(fmt::format("formatted event 8: argument 1 {}", refused)));
    std::vector<std::uint8_t> many = {8, 0, 0, 0};
    for (std::size_t i = 0; i < tracer::kFieldsMax; ++i) {
        many.insert(many.end(), {1, 7});
    }
    EXPECT_EQ(formatted(many).size(), tracer::kFieldsMax);
    many.insert(many.end(), {1, 7});
    EXPECT_THAT(formatted(many), ElementsAre(fmt::format("formatted event 8: argument 17 {}", refused)));
}

TEST(UserEventNames, AreThoseOfDeclarationsAndFormatsElseNumbers) {
    Names names;
    names.declare({.id = 3, .name = {std::string_view("control")}});
    names.set_format(8, "speed");
    const auto name_of = [&](std::string_view kind, const std::vector<std::uint8_t>& payload) {
        Event event;
        event.row = tracer::find_event(kind);
        event.code = event.row->code;
        event.names = &names;
        event.payload = std::as_bytes(std::span(payload));
        return user_event_name(event);
    };
    EXPECT_EQ(name_of("typed_event", {3, 0}), "control");
    EXPECT_EQ(name_of("typed_event", {4, 0}), "typed_event");
    EXPECT_EQ(name_of("formatted_event", {8, 0, 0, 0}), "speed");
    EXPECT_EQ(name_of("formatted_event", {9, 1, 0, 0}), "format 265");
    EXPECT_EQ(name_of("formatted_event", {9}), "formatted_event");
}

} // namespace

} // namespace host::trace
