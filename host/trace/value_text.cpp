// SPDX-License-Identifier: MIT
#include "host/trace/value_text.hpp"

#include "host/text/escape.hpp"
#include "host/trace/kernel_image.hpp"
#include "host/trace/names.hpp"
#include "lib/endian.hpp"
#include "tracer/names/format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace host::trace {

void append_digits(fmt::memory_buffer& out, tracer::Unit unit, std::uint32_t value) {
    const auto to = std::back_inserter(out);
    const tracer::UnitWords& words = tracer::words_of(unit);
    if (words.low_bits != 0) {
        fmt::format_to(to, "{}/{}", words.high_part(value), words.low_part(value));
    } else if (is_hexadecimal(unit)) {
        fmt::format_to(to, "0x{:x}", value);
    } else {
        fmt::format_to(to, "{}", value);
    }
}

std::string meaning_of(const Event& event, tracer::Unit unit, std::uint32_t value) {
    if (unit == tracer::Unit::wait) {
        return wait_text(*event.names, value);
    }
    if (unit == tracer::Unit::code) {
        return place_of(event.image, value);
    }
    const tracer::UnitWords& words = tracer::words_of(unit);
    if (words.words.empty()) {
        return text::escaped(event.names->find(unit, value));
    }
    std::string text(tracer::word_for(words.words, words.high_part(value)));
    if (!words.low.empty()) {
        text += fmt::format(", {}", tracer::word_for(words.low, words.low_part(value)));
    }
    return text;
}

void append_digits_and_meaning(fmt::memory_buffer& out, const Event& event, tracer::Unit unit, std::uint32_t value) {
    append_digits(out, unit, value);
    if (const std::string meaning = meaning_of(event, unit, value); !meaning.empty()) {
        fmt::format_to(std::back_inserter(out), " ({})", meaning);
    }
}

std::string wait_text(const Names& names, std::uint32_t wait) {
    const tracer::UnitWords& words = tracer::words_of(tracer::Unit::wait);
    const std::optional<lib::WaitKind> kind = tracer::wait_kind(wait);
    std::string text(kind ? word(*kind) : std::string_view());
    const tracer::Unit object = kind ? tracer::object_of(*kind) : tracer::Unit::none;
    if (object != tracer::Unit::none) {
        text += fmt::format(" {}", name_or_number(names, object, words.low_part(wait)));
    }
    return text;
}

std::string name_or_number(const Names& names, tracer::Unit unit, std::uint32_t number) {
    const std::string_view name = names.find(unit, number);
    return name.empty() ? fmt::format("#{}", number) : text::escaped(name);
}

std::string place_of(const KernelImage* image, std::uint64_t address) {
    const Function* const function = image != nullptr ? image->function_at(address) : nullptr;
    if (function == nullptr) {
        return {};
    }
    const std::uint64_t offset = address - function->address;
    return offset == 0 ? text::escaped(function->name)
                       : fmt::format("{}+0x{:x}", text::escaped(function->name), offset);
}

// --- events of the user ----------------------------------------------------------------------------------------------

namespace {

using tracer::FieldType;

__extension__ using Wide = unsigned __int128;

bool read_value(lib::ByteReader& reader, FieldValue& value) {
    if (value.type == FieldType::text) {
        const auto bytes = reader.take(reader.le<std::uint8_t>());
        value.text = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
        return !reader.failed();
    }
    const std::size_t size = tracer::field_bytes(value.type);
    if (size == 0) {
        return false;
    }
    const auto bytes = reader.take(size);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        value.bits |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
    }
    return !reader.failed() && (value.type != FieldType::boolean || value.bits <= 1);
}

// Returns raw / 2^bits exactly, without trailing zeros.
std::string fixed_text(const FieldValue& value) {
    const bool negative = tracer::is_signed_field(value.type) && value.as_signed() < 0;
    const std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(value.as_signed()) : value.bits;
    const unsigned bits = value.fraction_bits;
    const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    std::uint64_t rest = magnitude & mask;
    std::string text =
        fmt::format("{}{}{}", negative ? "-" : "", bits >= 64 ? 0 : magnitude >> bits, rest != 0 ? "." : "");
    while (rest != 0) {
        const Wide next = Wide{rest} * 10;
        text += static_cast<char>('0' + static_cast<unsigned>(next >> bits));
        rest = static_cast<std::uint64_t>(next) & mask;
    }
    return text;
}

double as_double(const FieldValue& value) {
    return value.type == FieldType::float32 ? std::bit_cast<float>(static_cast<std::uint32_t>(value.bits))
                                            : std::bit_cast<double>(value.bits);
}

// Returns the digits of an integer or a floating-point number without the sign; `sign` receives what precedes them.
std::string digits_of(const tracer::FormatPiece& piece, const FieldValue& value, std::string& sign) {
    const auto positive_sign = [&piece] { return piece.plus ? "+" : piece.space ? " " : ""; };
    switch (piece.letter) {
    case 'd':
    case 'i': {
        const std::int64_t number = value.as_signed();
        sign = number < 0 ? "-" : positive_sign();
        return fmt::format("{}",
                           number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number));
    }
    case 'x':
        sign = piece.alternate && value.bits != 0 ? "0x" : "";
        return fmt::format("{:x}", value.bits);
    case 'X':
        sign = piece.alternate && value.bits != 0 ? "0X" : "";
        return fmt::format("{:X}", value.bits);
    case 'o':
        return fmt::format("{}{:o}", piece.alternate && value.bits != 0 ? "0" : "", value.bits);
    case 'p':
        sign = "0x";
        return fmt::format("{:x}", value.bits);
    case 'f': {
        const double number = as_double(value);
        const bool negative = std::signbit(number);
        sign = negative ? "-" : positive_sign();
        return fmt::format("{:.{}f}", negative ? -number : number, piece.has_precision ? int{piece.precision} : 6);
    }
    default:
        return fmt::format("{}", value.bits);
    }
}

std::string convert(const tracer::FormatPiece& piece, const FieldValue& value) {
    std::string sign;
    std::string body;
    bool zero_fill = false;
    if (piece.letter == 's') {
        body = value.text.substr(0, piece.has_precision ? piece.precision : value.text.size());
    } else if (piece.letter == 'c') {
        body = std::string(1, static_cast<char>(value.bits));
    } else {
        body = digits_of(piece, value, sign);
        if (piece.has_precision && piece.letter != 'f' && body.size() < piece.precision) {
            body.insert(0, piece.precision - body.size(), '0');
        }
        zero_fill = piece.zero && !piece.left && (!piece.has_precision || piece.letter == 'f');
    }
    const std::size_t size = sign.size() + body.size();
    const std::size_t fill = piece.width > size ? piece.width - size : 0;
    if (zero_fill) {
        return sign + std::string(fill, '0') + body;
    }
    return piece.left ? sign + body + std::string(fill, ' ') : std::string(fill, ' ') + sign + body;
}

// Returns the format from the image that ran, else from the trace itself; null if neither has it.
const std::string* format_of(const Event& event, std::uint32_t id) {
    if (const std::string* const format = event.image != nullptr ? event.image->format(id) : nullptr) {
        return format;
    }
    const auto found = event.names->formats().find(id);
    return found != event.names->formats().end() ? &found->second : nullptr;
}

} // namespace

std::int64_t FieldValue::as_signed() const {
    const std::size_t width = 8 * tracer::field_bytes(type);
    if (width == 0 || width == 64 || !tracer::is_signed_field(type)) {
        return static_cast<std::int64_t>(bits);
    }
    return static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
}

bool FieldValues::add(const FieldValue& value) {
    if (m_count == m_values.size()) {
        return false;
    }
    m_values[m_count++] = value;
    return true;
}

lib::Result<TypedEventView, Refusal> view_typed(const Event& event) {
    lib::ByteReader reader(event.payload);
    TypedEventView view;
    view.id = reader.le<std::uint16_t>();
    if (reader.failed()) {
        return Refusal{"a typed event without a number"};
    }
    view.declaration = event.names->declaration(view.id);
    if (view.declaration == nullptr) {
        return Refusal{view.id == tracer::kUndeclared
                           ? "a typed event that could not be declared: the machine's list of declarations was full"
                           : fmt::format("typed event {} is declared nowhere", view.id)};
    }
    for (const tracer::FieldDeclaration& field :
         std::span(view.declaration->items).first(view.declaration->field_count)) {
        const bool integer = tracer::is_integer_field(field.type);
        FieldValue value{.type = field.type, .fraction_bits = integer ? field.detail : std::uint8_t{0}, .text = {}};
        if (!read_value(reader, value) || (value.type == FieldType::text && value.text.size() > field.detail)) {
            return Refusal{fmt::format("typed event {}: its field {} is cut or holds what its type cannot", view.id,
                                       field.name.view())};
        }
        view.fields.add(value);
    }
    if (reader.remaining() != 0) {
        return Refusal{fmt::format("typed event {}: {} bytes after its last field", view.id, reader.remaining())};
    }
    return view;
}

lib::Result<FormattedEventView, Refusal> view_formatted(const Event& event) {
    lib::ByteReader reader(event.payload);
    FormattedEventView view;
    view.id = reader.le<std::uint32_t>();
    if (reader.failed()) {
        return Refusal{"a formatted event without a number"};
    }
    while (reader.remaining() != 0) {
        FieldValue value;
        value.type = static_cast<FieldType>(reader.le<std::uint8_t>());
        if (!read_value(reader, value) || !view.arguments.add(value)) {
            return Refusal{fmt::format("formatted event {}: argument {} is cut, of no known type, or one too many",
                                       view.id, view.arguments.values().size() + 1)};
        }
    }
    return view;
}

std::string value_text(const FieldValue& value) {
    if (value.fraction_bits != 0) {
        return fixed_text(value);
    }
    switch (value.type) {
    case FieldType::u8:
    case FieldType::u16:
    case FieldType::u32:
    case FieldType::u64:
    case FieldType::none:
        break;
    case FieldType::i8:
    case FieldType::i16:
    case FieldType::i32:
    case FieldType::i64:
        return fmt::format("{}", value.as_signed());
    case FieldType::boolean:
        return fmt::format("{}", value.bits != 0);
    case FieldType::character:
        return {static_cast<char>(value.bits)};
    case FieldType::pointer:
        return fmt::format("0x{:x}", value.bits);
    case FieldType::float32:
        return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(value.bits)));
    case FieldType::float64:
        return fmt::format("{}", std::bit_cast<double>(value.bits));
    case FieldType::text:
        return std::string(value.text);
    }
    return fmt::format("{}", value.bits);
}

std::optional<std::string> render(std::string_view format, std::span<const FieldValue> arguments) {
    std::array<FieldType, tracer::kFieldsMax> types{};
    std::ranges::transform(arguments, types.begin(), [](const FieldValue& value) { return value.type; });
    if (tracer::check_format(format, types.data(), arguments.size()) != tracer::FormatFault::none) {
        return std::nullopt;
    }
    std::string text;
    std::size_t used = 0;
    tracer::FormatReader reader(format);
    for (tracer::FormatPiece piece = reader.next(); piece.kind != tracer::Conversion::none; piece = reader.next()) {
        if (piece.kind == tracer::Conversion::literal) {
            text += piece.text;
        } else if (piece.kind == tracer::Conversion::percent) {
            text += '%';
        } else {
            text += convert(piece, arguments[used++]);
        }
    }
    return text;
}

std::optional<std::string> rendered(const Event& event, const FormattedEventView& view) {
    const std::string* const format = format_of(event, view.id);
    return format != nullptr ? render(*format, view.arguments.values()) : std::nullopt;
}

std::string user_event_name(const Event& event) {
    if (event.is(kCodeOf<"typed_event">)) {
        const auto view = view_typed(event);
        return view ? std::string(view->declaration->name.view()) : "typed_event";
    }
    const auto view = view_formatted(event);
    if (!view) {
        return "formatted_event";
    }
    const std::string* const format = format_of(event, view->id);
    return format != nullptr ? *format : fmt::format("format {}", view->id);
}

} // namespace host::trace
