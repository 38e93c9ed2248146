// SPDX-License-Identifier: MIT
// Defines the routines that g++ and its headers call implicitly in freestanding code. The kernel compiles them with
// -fno-tree-loop-distribute-patterns, or the loops would become calls to themselves. Memory is moved by words in
// registers: an emulator executes each step of `rep movs` as one instruction and takes as long for a byte as for a
// word. Context: any.
#include <array>
#include <cstddef>
#include <cstdint>

namespace {

using Word = std::uint64_t;
using Block = std::array<Word, 4>;

template <typename T>
T load(const unsigned char* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof(value)); // the size is constant, so it is expanded in place
    return value;
}

// Reads everything before it writes, so that target and source may overlap.
template <typename T>
void move(unsigned char* to, const unsigned char* from) {
    const T value = load<T>(from);
    __builtin_memcpy(to, &value, sizeof(value));
}

} // namespace

extern "C" {

void* memcpy(void* target, const void* source, std::size_t count);
void* memmove(void* target, const void* source, std::size_t count);
void* memset(void* target, int value, std::size_t count);
int memcmp(const void* left, const void* right, std::size_t count);
void* memchr(const void* memory, int value, std::size_t count);
std::size_t strlen(const char* text);

void* memcpy(void* target, const void* source, std::size_t count) {
    auto* to = static_cast<unsigned char*>(target);
    const auto* from = static_cast<const unsigned char*>(source);
    for (; count >= sizeof(Block); count -= sizeof(Block), to += sizeof(Block), from += sizeof(Block)) {
        move<Block>(to, from);
    }
    for (; count >= sizeof(Word); count -= sizeof(Word), to += sizeof(Word), from += sizeof(Word)) {
        move<Word>(to, from);
    }
    for (; count > 0; --count) {
        *to++ = *from++;
    }
    return target;
}

void* memmove(void* target, const void* source, std::size_t count) {
    auto* const to = static_cast<unsigned char*>(target);
    const auto* const from = static_cast<const unsigned char*>(source);
    if (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from) >= count) {
        return memcpy(target, source, count); // memcpy goes forwards: what is overwritten has been read
    }
    for (; count >= sizeof(Word); count -= sizeof(Word)) {
        move<Word>(to + count - sizeof(Word), from + count - sizeof(Word));
    }
    while (count-- > 0) {
        to[count] = from[count];
    }
    return target;
}

void* memset(void* target, int value, std::size_t count) {
    const auto byte = static_cast<unsigned char>(value);
    const Word word = 0x0101'0101'0101'0101 * Word{byte};
    const Block block{word, word, word, word};
    auto* to = static_cast<unsigned char*>(target);
    for (; count >= sizeof(Block); count -= sizeof(Block), to += sizeof(Block)) {
        __builtin_memcpy(to, &block, sizeof(block));
    }
    for (; count > 0; --count) {
        *to++ = byte;
    }
    return target;
}

int memcmp(const void* left, const void* right, std::size_t count) {
    const auto* a = static_cast<const unsigned char*>(left);
    const auto* b = static_cast<const unsigned char*>(right);
    for (; count >= sizeof(Word) && load<Word>(a) == load<Word>(b); count -= sizeof(Word)) {
        a += sizeof(Word);
        b += sizeof(Word);
    }
    for (; count > 0; --count, ++a, ++b) {
        if (*a != *b) {
            return *a < *b ? -1 : 1;
        }
    }
    return 0;
}

void* memchr(const void* memory, int value, std::size_t count) {
    const auto* const bytes = static_cast<const unsigned char*>(memory);
    for (std::size_t i = 0; i < count; ++i) {
        if (bytes[i] == static_cast<unsigned char>(value)) {
            return const_cast<unsigned char*>(bytes + i);
        }
    }
    return nullptr;
}

std::size_t strlen(const char* text) {
    std::size_t length = 0;
    while (text[length] != '\0') {
        ++length;
    }
    return length;
}

} // extern "C"
