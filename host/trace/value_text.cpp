// SPDX-License-Identifier: MIT
#include "host/trace/value_text.hpp"

#include "host/text/escape.hpp"
#include "host/trace/kernel_image.hpp"

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

} // namespace host::trace
