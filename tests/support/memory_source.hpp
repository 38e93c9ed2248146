// SPDX-License-Identifier: MIT
// Bytes as a source that readers can position.
#pragma once

#include "host/trace/byte_source.hpp"

#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <span>

namespace support {

inline std::shared_ptr<host::trace::ByteSource> source_of(std::span<const std::byte> bytes) {
    auto spool = host::trace::Spool::create();
    EXPECT_TRUE(spool.ok() && spool.value().append(bytes).ok());
    return spool.value().take();
}

} // namespace support
