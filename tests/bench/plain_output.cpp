// SPDX-License-Identifier: MIT
#include "tests/bench/plain_output.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace bench {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} * 1024;
constexpr std::size_t kPieceMax = 1024;
constexpr std::size_t kDigitsMax = 19; // that always fit 64 bits

bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

bool is_letter(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character == '_';
}

void write_all(int descriptor, const char* data, std::size_t size) {
    while (size != 0) {
        const ssize_t count = ::write(descriptor, data, size);
        if (count <= 0) {
            return;
        }
        data += count;
        size -= static_cast<std::size_t>(count);
    }
}

} // namespace

PlainOutput::PlainOutput(const std::string& path) {
    if (std::filesystem::is_directory(path)) {
        return;
    }
    m_sample.resize(std::min<std::uint64_t>(kSampleBytes, std::filesystem::file_size(path)));
    std::ifstream(path, std::ios::binary).read(m_sample.data(), static_cast<std::streamsize>(m_sample.size()));
    const auto is_control = [](char character) { return character >= 0 && character < ' ' && character != '\n'; };
    if (std::ranges::none_of(m_sample, is_control)) {
        cut_text();
    }
}

// Leading zeros, digits after a letter (0x1f, cpu0) and those of numbers above 64 bits are text.
void PlainOutput::cut_text() {
    std::size_t begin = 0;
    for (std::size_t at = 0; at < m_sample.size();) {
        std::size_t end = at;
        while (end < m_sample.size() && is_digit(m_sample[end])) {
            ++end;
        }
        const bool number = end != at && end - at <= kDigitsMax && (m_sample[at] != '0' || end == at + 1) &&
                            (at == 0 || !is_letter(m_sample[at - 1])) &&
                            (end == m_sample.size() || !is_letter(m_sample[end]));
        if (number) {
            Piece piece{.begin = static_cast<std::uint32_t>(begin),
                        .length = static_cast<std::uint16_t>(at - begin),
                        .has_number = true,
                        .number = 0};
            std::from_chars(m_sample.data() + at, m_sample.data() + end, piece.number);
            m_pieces.push_back(piece);
            begin = end;
        }
        at = number ? end : end == at || m_sample[at] != '0' ? std::max(end, at + 1) : at + 1;
        if (at - begin >= kPieceMax) {
            m_pieces.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint16_t>(at - begin), false, 0});
            begin = at;
        }
    }
}

void PlainOutput::write(const std::string& path, std::uint64_t bytes) const {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (descriptor < 0) {
        return;
    }
    is_text() ? write_text(descriptor, bytes) : write_block(descriptor, bytes);
    ::close(descriptor);
}

void PlainOutput::write_block(int descriptor, std::uint64_t bytes) const {
    const std::vector<char> block(kBufferBytes, 'x');
    while (bytes != 0) {
        const std::size_t count = std::min<std::uint64_t>(bytes, block.size());
        write_all(descriptor, block.data(), count);
        bytes -= count;
    }
}

void PlainOutput::write_text(int descriptor, std::uint64_t bytes) const {
    std::vector<char> buffer(kBufferBytes);
    std::size_t used = 0;
    for (std::uint64_t written = 0; written < bytes;) {
        for (const Piece& piece : m_pieces) {
            if (used + piece.length + kDigitsMax > buffer.size()) {
                write_all(descriptor, buffer.data(), used);
                written += used;
                used = 0;
                if (written >= bytes) {
                    return;
                }
            }
            char* at = std::copy_n(m_sample.data() + piece.begin, piece.length, buffer.data() + used);
            if (piece.has_number) {
                at = std::to_chars(at, at + kDigitsMax, piece.number).ptr;
            }
            used = static_cast<std::size_t>(at - buffer.data());
        }
    }
    write_all(descriptor, buffer.data(), used);
}

} // namespace bench
