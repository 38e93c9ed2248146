// SPDX-License-Identifier: MIT
#include "host/report/packing.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <new>
#include <string_view>
#include <zlib.h>

namespace host::report {

namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kRounds = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
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

// The state begins with the fractions of the square roots of the first eight primes.
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

} // namespace host::report
