// SPDX-License-Identifier: MIT
// The routines that g++ and its headers call implicitly in freestanding code. Kernel only; compiled with
// -fno-tree-loop-distribute-patterns, because otherwise the loops would become calls to themselves. Context: any.
#include <cstddef>
#include <cstdint>

extern "C" {

void* memcpy(void* target, const void* source, std::size_t count);
void* memmove(void* target, const void* source, std::size_t count);
void* memset(void* target, int value, std::size_t count);
int memcmp(const void* left, const void* right, std::size_t count);
void* memchr(const void* memory, int value, std::size_t count);
std::size_t strlen(const char* text);

void* memcpy(void* target, const void* source, std::size_t count) {
    void* to = target;
    asm volatile("rep movsb" : "+D"(to), "+S"(source), "+c"(count) : : "memory");
    return target;
}

void* memmove(void* target, const void* source, std::size_t count) {
    auto* const to = static_cast<unsigned char*>(target);
    const auto* const from = static_cast<const unsigned char*>(source);
    if (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from) >= count) {
        return memcpy(target, source, count);
    }
    for (std::size_t i = count; i-- > 0;) {
        to[i] = from[i];
    }
    return target;
}

void* memset(void* target, int value, std::size_t count) {
    void* to = target;
    asm volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(value) : "memory");
    return target;
}

int memcmp(const void* left, const void* right, std::size_t count) {
    const auto* const a = static_cast<const unsigned char*>(left);
    const auto* const b = static_cast<const unsigned char*>(right);
    for (std::size_t i = 0; i < count; ++i) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
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
