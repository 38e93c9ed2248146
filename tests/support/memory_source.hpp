// SPDX-License-Identifier: MIT
// Makes bytes a source that readers can position: in a temporary file, or in a file in memory, for tests that make
// thousands.
#pragma once

#include "host/trace/byte_source.hpp"

#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

namespace support {

inline std::shared_ptr<host::trace::ByteSource> source_of(std::span<const std::byte> bytes) {
    auto spool = host::trace::Spool::create();
    EXPECT_TRUE(spool.ok() && spool.value().append(bytes).ok());
    return spool.value().take();
}

inline std::shared_ptr<host::trace::ByteSource> memory_source(std::span<const std::byte> bytes) {
    const int descriptor = ::memfd_create("source", 0);
    EXPECT_EQ(::pwrite(descriptor, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return std::make_shared<host::trace::ByteSource>(descriptor, true, bytes.size());
}

// Does the same, but as a pipe is: without a size, and read once.
inline std::shared_ptr<host::trace::ByteSource> memory_stream(std::span<const std::byte> bytes) {
    const int descriptor = ::memfd_create("stream", 0);
    EXPECT_EQ(::write(descriptor, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(::lseek(descriptor, 0, SEEK_SET), 0);
    return std::make_shared<host::trace::ByteSource>(descriptor, true, std::nullopt);
}

} // namespace support
