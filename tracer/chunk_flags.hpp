// SPDX-License-Identifier: MIT
// The published chunk flags, with their published values, and what our tracer makes of each. Host-safe: the mode of a
// chunk also stands in its chunk_begin record. Source: S.Ha.R.K. user manual, volume V, "Chunk management".
#pragma once

#include <cstdint>

namespace tracer {

using ChunkFlags = std::uint8_t;

inline constexpr ChunkFlags kFlagFree = 0x01;       // may be selected or linked, which empties it
inline constexpr ChunkFlags kFlagFull = 0x02;       // derived: closed, or no room and not cyclic
inline constexpr ChunkFlags kFlagCyclic = 0x00;     // mode: when full, start again at the beginning
inline constexpr ChunkFlags kFlagJumpToNext = 0x04; // mode: when full, go on in the linked chunk
inline constexpr ChunkFlags kFlagStop = 0x08;       // mode: when full, drop and count
inline constexpr ChunkFlags kFlagBusy = 0x10;       // derived: handed to an exporter, not yet carried away
inline constexpr ChunkFlags kFlagNoDelete = 0x20;   // may not be deleted
inline constexpr ChunkFlags kFlagCompressed = 0x40; // derived: the main area is a compact stream

inline constexpr ChunkFlags kModeMask = kFlagJumpToNext | kFlagStop;
// A caller may hand these in only as they are: they describe, they do not command.
inline constexpr ChunkFlags kDerivedFlags = kFlagFull | kFlagBusy | kFlagCompressed;
inline constexpr ChunkFlags kValidFlags = 0x7F;

} // namespace tracer
