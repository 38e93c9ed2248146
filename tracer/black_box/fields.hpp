// SPDX-License-Identifier: MIT
// Where the fields of the black box's tables are in this build's types. Host-safe.
#pragma once

#include "tracer/black_box/descriptor.hpp"
#include "tracer/chunk/chunk_store.hpp"
#include "tracer/names/names.hpp"

namespace tracer::black_box {

inline constexpr ChunkFields kChunkFields{
    .control = offsetof(Chunk, control),
    .size_bytes = offsetof(Chunk, size_bytes),
    .emergency_bytes = offsetof(Chunk, emergency_bytes),
    .uses = offsetof(Chunk, uses),
    .number = offsetof(Chunk, number),
    .flags = offsetof(Chunk, flags),
    .exists = offsetof(Chunk, exists),
    .compressed = offsetof(Chunk, compressed) + offsetof(CompressedArea, present),
    .stream_bytes = offsetof(Chunk, compressed) + offsetof(CompressedArea, stream_bytes),
    .written = offsetof(Chunk, compressed) + offsetof(CompressedArea, counts) + offsetof(ChunkCounts, written),
    .overwritten = offsetof(Chunk, compressed) + offsetof(CompressedArea, counts) + offsetof(ChunkCounts, overwritten)};

inline constexpr NameFields kNameFields{.kind = offsetof(NameEntry, kind),
                                        .id = offsetof(NameEntry, id),
                                        .pid = offsetof(NameEntry, pid),
                                        .characters = offsetof(NameEntry, name) + offsetof(Name, characters),
                                        .size = offsetof(NameEntry, name) + offsetof(Name, size),
                                        .level = offsetof(NameEntry, parameters) + offsetof(TaskParameters, level),
                                        .times = offsetof(NameEntry, parameters) + offsetof(TaskParameters, wcet_ns)};
static_assert(offsetof(TaskParameters, offset_ns) == offsetof(TaskParameters, wcet_ns) + 4 * sizeof(std::uint64_t));
static_assert(sizeof(Chunk::exists) == 1 && sizeof(CompressedArea::present) == 1);
static_assert(offsetof(ChunkCounts, tracer_made) == 8 && offsetof(ChunkCounts, overwritten) == 16);

inline constexpr DeclarationFields kDeclarationFields{.bytes = offsetof(EncodedDeclaration, bytes),
                                                      .size = offsetof(EncodedDeclaration, size)};

} // namespace tracer::black_box
