// SPDX-License-Identifier: MIT
// The published chunk flags with their published values, and how our tracer uses each. Host-safe: chunk_begin also
// contains the mode of the chunk. Source: S.Ha.R.K. user manual, volume V, "Chunk management".
#pragma once

#include <cstdint>

namespace tracer {

using ChunkFlags = std::uint8_t;

inline constexpr ChunkFlags kFlagFree = 0x01;       // may be selected or linked, which empties it
inline constexpr ChunkFlags kFlagFull = 0x02;       // derived: closed, or no room and not cyclic
inline constexpr ChunkFlags kFlagCyclic = 0x00;     // mode: when full, start again at the beginning
inline constexpr ChunkFlags kFlagJumpToNext = 0x04; // mode: when full, continue in the linked chunk
inline constexpr ChunkFlags kFlagStop = 0x08;       // mode: when full, drop and count
inline constexpr ChunkFlags kFlagBusy = 0x10;       // derived: queued for export, not yet carried by all sinks
inline constexpr ChunkFlags kFlagNoDelete = 0x20;   // may not be deleted
inline constexpr ChunkFlags kFlagCompressed = 0x40; // derived: the main area is a compact stream

inline constexpr ChunkFlags kModeMask = kFlagJumpToNext | kFlagStop;
// A caller may pass these only with their present values: they report a state and do not change it.
inline constexpr ChunkFlags kDerivedFlags = kFlagFull | kFlagBusy | kFlagCompressed;
inline constexpr ChunkFlags kValidFlags = 0x7F;

} // namespace tracer
