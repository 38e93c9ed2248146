// SPDX-License-Identifier: MIT
// Defines the meanings of the types of tlog records. Three tables are in use: the MPI library's with nine pairs and
// nine single events, its later form with fifteen pairs (10 to 39, no single events), and the OpenMP runtime's in the
// older layout.
#pragma once

#include "foreign/tlog/record.hpp"

#include <cstdint>
#include <string_view>

namespace host::formats::tlog {

enum class Table : std::uint8_t {
    nine_pairs,    // 10..27 IN (even) and OUT (odd), 31..39 single
    fifteen_pairs, // 10..39 IN (even) and OUT (odd)
    openmp,
};

enum class Role : std::uint8_t {
    undefined, // an unused slot
    start,     // first of each process
    end,       // last of each process
    enter,     // opens a pair
    leave,     // closes it
    single,
    unknown, // in no table
};

struct Kind {
    Role role = Role::unknown;
    std::string_view name; // static; empty if unknown

    // Returns the type that begins the pair which `type` ends. Types of a pair are neighbours in all tables.
    [[nodiscard]] static constexpr std::uint8_t opener(std::uint8_t type) {
        return static_cast<std::uint8_t>(type - 1);
    }
};

[[nodiscard]] Kind kind_of(Table table, std::uint8_t type);

// Returns whether only the table with fifteen pairs has this type.
[[nodiscard]] constexpr bool needs_fifteen_pairs(std::uint8_t type) {
    return type >= 28 && type <= 30;
}

// These types are those of the current layout.
inline constexpr std::uint8_t kStart = 1;
inline constexpr std::uint8_t kEnd = 2;
inline constexpr std::uint8_t kFirstPair = 10;
inline constexpr std::uint8_t kPairs = 9;
inline constexpr std::uint8_t kFirstSingle = 31;

} // namespace host::formats::tlog
