// SPDX-License-Identifier: MIT
// Reads the URL of a store in ClickHouse. Each part is checked by itself, so that a refusal names the part that is
// wrong.
#include "fleet/clickhouse/client.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/list.hpp"

#include <algorithm>
#include <utility>

namespace host::fleet::clickhouse {

namespace {

constexpr std::string_view kForm = "clickhouse://[user@]host[:port][,host...]/database[?cluster=NAME]";

// Throws the refusal unless it holds.
void require(bool holds, std::string_view what) {
    if (!holds) {
        throw trace::Refusal{fmt::format("{}; the form is {}", what, kForm)};
    }
}

// Returns whether the text has only letters, digits, _ and these characters.
bool is_word(std::string_view text, std::string_view also = "") {
    return !text.empty() && std::ranges::all_of(text, [also](char character) {
        return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z') ||
               (character >= '0' && character <= '9') || character == '_' || also.find(character) != also.npos;
    });
}

void require_word(std::string_view text, std::string_view also, std::string_view what) {
    require(is_word(text, also), fmt::format("'{}' is no name of a {}", text::escaped(text), what));
}

Endpoint endpoint_of(std::string_view text, std::uint16_t port_default) {
    std::string_view rest = text;
    const bool bracket = rest.starts_with('[');
    Endpoint endpoint{.host = std::string(text::take_until(rest, bracket ? "]" : ":")), .port = port_default};
    if (bracket) {
        endpoint.host.erase(0, 1);
        const bool closed = text.size() >= endpoint.host.size() + 2;
        require(closed && is_word(endpoint.host, ":.") && (rest.empty() || rest.starts_with(':')),
                fmt::format("{} is no address", text::escaped(text)));
        rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
    } else {
        require_word(endpoint.host, ".-", "host");
    }
    if (!rest.empty() || text.ends_with(':')) {
        endpoint.port = text::number_of<std::uint16_t>(rest).value_or(0);
        require(endpoint.port != 0, fmt::format("'{}' is no port", text::escaped(rest)));
    }
    return endpoint;
}

Url url_of(std::string_view rest) {
    Url url;
    const std::string_view scheme = text::take_until(rest, "://");
    url.tls = scheme == "clickhouses";
    require(url.tls || scheme == "clickhouse", "it does not begin with clickhouse:// or clickhouses://");
    std::string_view hosts = text::take_until(rest, "/");
    if (const std::size_t at = hosts.rfind('@'); at != std::string_view::npos) {
        url.user = hosts.substr(0, at);
        hosts.remove_prefix(at + 1);
        // It is not shown: it may be the password.
        require(url.user.find(':') == std::string::npos,
                "a password is not given in a URL, where all users of the machine see it, but in a file or the "
                "environment");
        require_word(url.user, ".-", "user");
    }
    hosts.remove_suffix(hosts.ends_with(',') ? 1 : 0);
    for (const std::string_view host : text::split(hosts, ",")) {
        const Endpoint endpoint = endpoint_of(host, url.tls ? kTlsPort : kPort);
        require(std::ranges::find(url.hosts, endpoint) == url.hosts.end(), text_of(endpoint) + " is named twice");
        url.hosts.push_back(endpoint);
    }
    url.database = text::take_until(rest, "?");
    require(is_word(url.database),
            fmt::format("'{}' is no name of a database (letters, digits and _)", text::escaped(url.database)));
    while (!rest.empty()) {
        std::string_view value = text::take_until(rest, "&");
        const std::string_view name = text::take_until(value, "=");
        require(name == "cluster", fmt::format("it has no parameter '{}'", text::escaped(name)));
        require_word(value, "-", "cluster");
        url.cluster = value;
    }
    require(
        url.hosts.size() == 1 || !url.cluster.empty(),
        "several hosts are the shards of a cluster: add ?cluster= and its name in the configuration of the servers");
    return url;
}

} // namespace

std::string text_of(const Endpoint& endpoint) {
    return endpoint.host.find(':') == std::string::npos ? fmt::format("{}:{}", endpoint.host, endpoint.port)
                                                        : fmt::format("[{}]:{}", endpoint.host, endpoint.port);
}

lib::Result<Url, trace::Refusal> parse_url(std::string_view text_untrusted) {
    try {
        return url_of(text_untrusted);
    } catch (trace::Refusal& refusal) {
        return std::move(refusal);
    }
}

} // namespace host::fleet::clickhouse
