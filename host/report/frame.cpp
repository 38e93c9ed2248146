// SPDX-License-Identifier: MIT
// Packs contents and assembles the pages. The parts of the pages are in the program, as the assembler copied them from
// host/report/page/; the scripts of the page are one script, in the order of this list.
#include "host/report/frame.hpp"

#include "host/report/document.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <new>
#include <string_view>
#include <utility>
#include <zlib.h>

asm(R"(
    .pushsection .rodata
report_style_begin:
    .incbin "host/report/page/page.css"
report_style_end:
report_d3_begin:
    .incbin "d3.min.js"
report_d3_end:
report_page_begin:
    .incbin "host/report/page/page.html"
report_page_end:
report_script_begin:
    .incbin "host/report/page/common.js"
    .incbin "host/report/page/trace.js"
    .incbin "host/report/page/view.js"
    .incbin "host/report/page/paint.js"
    .incbin "host/report/page/paint_task.js"
    .incbin "host/report/page/paint_lanes.js"
    .incbin "host/report/page/rows.js"
    .incbin "host/report/page/surface.js"
    .incbin "host/report/page/timeline.js"
    .incbin "host/report/page/statistics.js"
    .incbin "host/report/page/side.js"
    .incbin "host/report/page/input.js"
    .incbin "host/report/page/compare.js"
    .incbin "host/report/page/compare_panel.js"
    .incbin "host/report/page/live.js"
    .incbin "host/report/page/main.js"
report_script_end:
    .popsection
)");
// NOLINTBEGIN(readability-identifier-naming): labels of the assembler
extern "C" {
extern const char report_style_begin[];
extern const char report_style_end[];
extern const char report_d3_begin[];
extern const char report_d3_end[];
extern const char report_page_begin[];
extern const char report_page_end[];
extern const char report_script_begin[];
extern const char report_script_end[];
}

// NOLINTEND(readability-identifier-naming)

namespace host::report {

namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kRounds = 64;

// These are the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, kRounds> kConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<std::uint32_t, 8>;

// The initial state has the fractional parts of the square roots of the first eight primes.
constexpr State kBegin = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

std::uint32_t big_endian(const char* bytes) {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) {
        word = word << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return word;
}

void take_block(State& state, const char* block) {
    std::array<std::uint32_t, kRounds> words{};
    for (std::size_t i = 0; i < kRounds; ++i) {
        if (i < kBlockBytes / 4) {
            words[i] = big_endian(block + 4 * i);
            continue;
        }
        const std::uint32_t low = words[i - 15];
        const std::uint32_t high = words[i - 2];
        words[i] = words[i - 16] + words[i - 7] + (std::rotr(low, 7) ^ std::rotr(low, 18) ^ low >> 3) +
                   (std::rotr(high, 17) ^ std::rotr(high, 19) ^ high >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < kRounds; ++i) {
        const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                                    kConstants[i] + words[i];
        const std::uint32_t second =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    const State added = {a, b, c, d, e, f, g, h};
    std::ranges::transform(state, added, state.begin(), std::plus());
}

} // namespace

std::vector<std::byte> deflated(std::span<const std::byte> bytes) {
    constexpr int kRawWindowBits = -15;
    constexpr int kMemoryLevel = 9;
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRawWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        throw std::bad_alloc();
    }
    std::vector<std::byte> out;
    std::vector<std::byte> piece(std::size_t{1} << 16);
    int status = Z_OK;
    while (status == Z_OK) {
        const std::size_t taken = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
        if (stream.avail_in == 0) {
            stream.next_in =
                reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data())); // zlib only reads these bytes
            stream.avail_in = static_cast<uInt>(taken);
            bytes = bytes.subspan(taken);
        }
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        status = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
        out.insert(out.end(), piece.begin(), piece.end() - static_cast<std::ptrdiff_t>(stream.avail_out));
    }
    deflateEnd(&stream);
    return out;
}

std::string base64(std::span<const std::byte> bytes) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t word = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            word = word << 8 | (i < count ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            text += i <= count ? kDigits[(word >> (18 - 6 * i)) & 0x3F] : '=';
        }
    }
    return text;
}

std::array<std::byte, 32> sha256(std::string_view text) {
    State state = kBegin;
    std::string padded(text);
    padded += '\x80';
    while (padded.size() % kBlockBytes != kBlockBytes - sizeof(std::uint64_t)) {
        padded += '\0';
    }
    for (int shift = 56; shift >= 0; shift -= 8) {
        padded += static_cast<char>(8 * std::uint64_t{text.size()} >> shift);
    }
    for (std::size_t at = 0; at < padded.size(); at += kBlockBytes) {
        take_block(state, padded.data() + at);
    }
    std::array<std::byte, 32> digest{};
    for (std::size_t i = 0; i < digest.size(); ++i) {
        digest[i] = static_cast<std::byte>(state[i / 4] >> (24 - 8 * (i % 4)));
    }
    return digest;
}

// --- pages -----------------------------------------------------------------------------------------------------------

namespace {

std::string hash_of(std::string_view script) {
    return fmt::format("'sha256-{}'", base64(sha256(script)));
}

std::string style_of(const Frame& frame) {
    return std::string(report_style_begin, report_style_end).append(frame.style);
}

std::string_view d3() {
    return {report_d3_begin, report_d3_end};
}

Frame frame_of_run() {
    return {
        .page = {report_page_begin, report_page_end}, .style = {}, .script = {report_script_begin, report_script_end}};
}

} // namespace

std::string packed_block(std::string_view name, std::span<const std::byte> bytes) {
    return fmt::format("<script type=\"application/x-remora-trace\" class=\"{}\">{}</script>\n", name,
                       base64(deflated(bytes)));
}

std::string policy_of(const Frame& frame, std::string_view more) {
    return fmt::format("default-src 'none'; script-src {} {}; style-src {}; {}base-uri 'none'; form-action 'none'; "
                       "require-trusted-types-for 'script'",
                       hash_of(d3()), hash_of(frame.script), hash_of(style_of(frame)), more);
}

std::string framed(const Frame& frame, std::string_view policy, std::string_view data) {
    const std::string style = style_of(frame);
    const std::array<std::pair<std::string_view, std::string_view>, 5> parts = {
        {{"@POLICY@", policy}, {"@STYLE@", style}, {"@D3@", d3()}, {"@DATA@", data}, {"@SCRIPT@", frame.script}}};
    // Inserted parts are not searched for marks.
    std::string_view rest = frame.page;
    std::string page;
    for (const auto& [mark, part] : parts) {
        const std::size_t at = rest.find(mark);
        page += rest.substr(0, at);
        page += part;
        rest.remove_prefix(at + mark.size());
    }
    page += rest;
    return page;
}

std::string page(std::span<const std::vector<std::byte>> contents, std::span<const std::byte> comparison) {
    std::string data;
    for (const std::vector<std::byte>& trace : contents) {
        data += packed_block("trace", trace);
    }
    if (!comparison.empty()) {
        data += packed_block("comparison", comparison);
    }
    return framed(frame_of_run(), policy_of(frame_of_run()), data);
}

LivePage live_page() {
    const std::string policy = policy_of(frame_of_run(), "connect-src 'self'; ");
    return {.html = framed(frame_of_run(), policy, ""), .policy = policy};
}

} // namespace host::report
