// SPDX-License-Identifier: MIT
// Packs contents and assembles the pages. The parts of the pages are in the program, as the assembler copied them from
// host/report/page/; the scripts of the page are one script, in the order of this list.
#include "host/report/frame.hpp"

#include "host/report/document.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nettle/base64.h>
#include <nettle/sha2.h>
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
    .incbin "host/report/page/run.js"
    .incbin "host/report/page/view.js"
    .incbin "host/report/page/paint.js"
    .incbin "host/report/page/paint_task.js"
    .incbin "host/report/page/paint_lanes.js"
    .incbin "host/report/page/rows.js"
    .incbin "host/report/page/surface.js"
    .incbin "host/report/page/timeline.js"
    .incbin "host/report/page/statistics.js"
    .incbin "host/report/page/crash.js"
    .incbin "host/report/page/head.js"
    .incbin "host/report/page/legend.js"
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
    std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
    base64_encode_raw(text.data(), bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
    return text;
}

std::array<std::byte, 32> sha256(std::string_view text) {
    sha256_ctx context{};
    std::array<std::byte, SHA256_DIGEST_SIZE> digest{};
    sha256_init(&context);
    sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
    sha256_digest(&context, digest.size(), reinterpret_cast<std::uint8_t*>(digest.data()));
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
