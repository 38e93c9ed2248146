// SPDX-License-Identifier: MIT
#include "host/report/packing.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <string_view>
#include <zlib.h>

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
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data())); // zlib only reads there
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

} // namespace host::report
