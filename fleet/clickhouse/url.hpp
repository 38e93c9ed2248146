// SPDX-License-Identifier: MIT
// Parses clickhouse://[user@]host[:port][,host[:port]...]/database[?cluster=NAME]; clickhouses:// uses TLS. The hosts
// of a cluster are its shards, each with its own part of the runs. Their order decides which shard has a run, so it
// must not change. A password is not part of the URL, because every user of the machine sees a command line.
#pragma once

#include "fleet/clickhouse/client.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet::clickhouse {

inline constexpr std::uint16_t kPort = 8123;
inline constexpr std::uint16_t kTlsPort = 8443;

struct Url {
    bool tls = false;
    std::string user; // empty: none
    std::vector<Endpoint> hosts;
    std::string database; // a name as in SQL: letters, digits, _
    std::string cluster;  // may contain -, too; empty: one host
};

// Refuses a text that is no such URL, and names the part that is wrong.
[[nodiscard]] lib::Result<Url, trace::Refusal> parse_url(std::string_view text_untrusted);

} // namespace host::fleet::clickhouse
