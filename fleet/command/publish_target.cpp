// SPDX-License-Identifier: MIT
#include "fleet/command/publish_target.hpp"

#include "fleet/server.hpp"
#include "fleet/session_publisher.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

namespace host::cli {

std::string host_node() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) {
        return "unknown";
    }
    return fleet::name_of(name.data());
}

std::string check_name(const std::string& text) {
    return fleet::is_name(text)
               ? ""
               : fmt::format("{} is no name: 1 to 63 characters of A-Z, a-z, 0-9, _ and -", text::escaped(text));
}

std::string check_nats(const std::string& text) {
    const auto addresses = fleet::addresses_of(text);
    const auto is_nats = [](const std::string& one) {
        return (one.starts_with("nats://") || one.starts_with("tls://")) && !one.ends_with('/');
    };
    return !addresses.empty() && std::ranges::all_of(addresses, is_nats)
               ? ""
               : fmt::format("{} is no server of NATS: nats://HOST or nats://HOST:PORT, with TLS tls://HOST",
                             fleet::shown_address(text));
}

fleet::NodeName node_for(const std::string& session, const std::string& site, const std::string& node) {
    const auto stored = fleet::node_of_session(session);
    return {.site = !site.empty() ? site
                    : stored      ? stored->site
                                  : kDefaultSite,
            .node = !node.empty() ? node
                    : stored      ? stored->node
                                  : host_node()};
}

} // namespace host::cli
