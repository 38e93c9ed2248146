// SPDX-License-Identifier: MIT
// Makes of a chunk that was copied out of memory what the machine would have exported: the preamble, written by the
// same code, and the records. So the reader of exported chunks reads it.
#pragma once

#include "host/formats/memory/black_box.hpp"
#include "host/formats/memory/chunk_copy.hpp"
#include "host/trace/diagnostics.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace host::formats::memory {

class ChunkImage {
  public:
    // box outlives it.
    explicit ChunkImage(const BlackBox& box)
        : m_box(box) {}

    ChunkImage(const ChunkImage&) = delete;
    ChunkImage& operator=(const ChunkImage&) = delete;

    // Reads the names and declarations that the memory holds now. Must be called after the copy that they explain.
    void refresh();

    // The preamble of a copy that has records or misses some; valid until the next call. What is missing is announced,
    // and empty slots are in its place: of a whole chunk as many, of a part one, because a pipe may end a chunk early.
    // Precondition: a copy that misses records is not compact. Unless `whole`, of a copy that is a part of
    // its chunk: only entries after those that earlier calls wrote, and a generation that counts the parts.
    [[nodiscard]] std::span<const std::byte> preamble(const ChunkCopy& copy, bool whole);

    // The beginning of a preamble, with another boot id than that of the memory: its reader knows that the machine was
    // started anew. Valid until the next call.
    [[nodiscard]] std::span<const std::byte> of_another_run();

    // What is wrong with the tables of names; empty if nothing is.
    [[nodiscard]] const std::string& fault() const { return m_fault; }

  private:
    const BlackBox& m_box;
    std::vector<tracer::NameEntry> m_names;
    std::vector<tracer::EncodedDeclaration> m_declarations;
    std::vector<std::byte> m_formats;
    std::size_t m_names_written = 0;
    std::size_t m_declarations_written = 0;
    std::uint32_t m_parts = 0;
    bool m_begun = false;
    bool m_other_run = false;
    std::string m_fault;
    std::vector<std::byte> m_buffer;
};

} // namespace host::formats::memory
