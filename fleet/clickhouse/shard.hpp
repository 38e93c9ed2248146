// SPDX-License-Identifier: MIT
// Which shard of a cluster has a run. All rows of a run are in one: it is the unit of every question that is not a sum.
#pragma once

#include "fleet/store.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace host::fleet::clickhouse {

// Never to be changed: the rows that are stored already would be in the wrong place (FNV-1a of site/node/boot, its bits
// mixed as the last step of MurmurHash3 does, because the lowest bits of FNV-1a depend on the lowest of the text
// alone).
[[nodiscard]] inline std::size_t shard_of(const Run& run, std::size_t shards) {
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    const auto add = [&hash](std::string_view text) {
        for (const char character : text) {
            hash = (hash ^ static_cast<unsigned char>(character)) * 0x0000'0100'0000'01B3;
        }
    };
    add(run.from.site);
    add("/");
    add(run.from.node);
    add("/");
    add(boot_text(run.boot_id));
    hash = (hash ^ (hash >> 33)) * 0xFF51'AFD7'ED55'8CCD;
    hash = (hash ^ (hash >> 33)) * 0xC4CE'B9FE'1A85'EC53;
    return (hash ^ (hash >> 33)) % shards;
}

} // namespace host::fleet::clickhouse
