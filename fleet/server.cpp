// SPDX-License-Identifier: MIT
#include "fleet/server.hpp"

#include "host/text/escape.hpp"
#include "host/text/list.hpp"

#include <algorithm>
#include <array>

namespace host::fleet {

namespace {

constexpr auto kSchemes = std::to_array<std::string_view>({"nats://", "tls://", "clickhouse://", "clickhouses://"});

// In scheme://USER:PASSWORD@host everything up to the last @ is left out, because a password may contain an @.
std::string shown_one(std::string_view address) {
    const std::size_t scheme = address.find("://");
    const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
    const std::size_t at = address.rfind('@');
    if (at == std::string_view::npos || at < begin) {
        return text::escaped(address);
    }
    return text::escaped(address.substr(0, begin)) + text::escaped(address.substr(at + 1));
}

} // namespace

bool is_server(std::string_view place) {
    return std::ranges::any_of(kSchemes, [place](std::string_view scheme) { return place.starts_with(scheme); });
}

std::vector<std::string> addresses_of(std::string_view addresses) {
    std::vector<std::string> all;
    for (const std::string_view one : text::split(addresses, ",")) {
        if (!one.empty()) {
            all.emplace_back(one);
        }
    }
    return all;
}

std::string shown_address(std::string_view address) {
    std::vector<std::string> shown;
    for (const std::string& one : addresses_of(address)) {
        if (shown.empty() || one.find("://") != std::string::npos) {
            shown.push_back(one);
        } else {
            shown.back() += ',' + one; // part of the same address: a password may contain a comma
        }
    }
    return text::joined(shown, ",", shown_one);
}

} // namespace host::fleet
