// SPDX-License-Identifier: MIT
// Itanium C++ ABI, chapter 5.1 "External Names (a.k.a. Mangling)".
#include "host/trace/demangler.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace host::trace {

namespace {

constexpr std::size_t kMangledMax = 512;
constexpr std::uint64_t kEstimateMax = 1024 * 1024; // this kernel's longest is a third of it

// Of a reference at the beginning of the text, S_ or T1A_, its length; 0: there is none. A piece of an identifier may
// look the same: then the estimate is too high.
std::size_t reference_length(std::string_view text) {
    if (!text.starts_with('S') && !text.starts_with('T')) {
        return 0;
    }
    const std::size_t end = text.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1);
    return end != std::string_view::npos && text[end] == '_' ? end + 1 : 0;
}

// Whether something may be said once for each element of a pack. std::span is none.
bool may_expand_packs(std::string_view mangled) {
    if (mangled.find("Dp") != std::string_view::npos) {
        return true;
    }
    for (std::size_t at = mangled.find("sp"); at != std::string_view::npos; at = mangled.find("sp", at + 1)) {
        if (at == 0 || !mangled.substr(at - 1).starts_with("4span")) {
            return true;
        }
    }
    return false;
}

} // namespace

// A reference means at most all that precedes it. References in a row do not refer to each other: what can be referred
// to ends with another letter.
std::uint64_t demangled_estimate(std::string_view mangled_untrusted) {
    constexpr std::uint64_t kFull = std::uint64_t{1} << 48; // times a length there is room
    std::uint64_t all = 0;
    std::uint64_t referable = 0;
    for (std::size_t at = 0; at < mangled_untrusted.size() && all < kFull;) {
        if (const std::size_t length = reference_length(mangled_untrusted.substr(at)); length != 0) {
            all += referable;
            at += length;
        } else {
            referable = ++all;
            ++at;
        }
    }
    const std::uint64_t elements = may_expand_packs(mangled_untrusted) ? mangled_untrusted.size() : 1;
    return all < kFull ? all * elements : kFull;
}

std::string Demangler::name(std::string_view mangled_untrusted) {
    std::string mangled(mangled_untrusted);
    if (!mangled.starts_with("_Z") || mangled.size() > kMangledMax) {
        return mangled;
    }
    const std::uint64_t estimate = demangled_estimate(mangled);
    if (estimate > kEstimateMax || estimate > m_left) {
        return mangled;
    }
    m_left -= estimate; // even if it turns out to be none: that takes as long
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                                      &std::free);
    return status == 0 && text != nullptr ? std::string(text.get()) : mangled;
}

} // namespace host::trace
