// SPDX-License-Identifier: MIT
// clickhouse://[user@]host[:port][,host[:port]...]/database[?cluster=NAME]. clickhouses: over TLS. The hosts of a
// cluster are its shards, each with its own part of the runs; their order decides which has which, so it must not
// change. A password is not part of it: a command line is visible to every user of the machine.
#pragma once

#include "fleet/clickhouse/http.hpp"
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
    std::string cluster;  // likewise, and -; empty: one host
};

// Refused, with the part that is wrong.
[[nodiscard]] lib::Result<Url, trace::Refusal> parse_url(std::string_view text_untrusted);

} // namespace host::fleet::clickhouse
