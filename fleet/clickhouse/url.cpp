// SPDX-License-Identifier: MIT
#include "fleet/clickhouse/url.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace host::fleet::clickhouse {

namespace {

constexpr std::string_view kForm = "clickhouse://[user@]host[:port][,host...]/database[?cluster=NAME]";

trace::Refusal refusal(std::string_view what) {
    return {fmt::format("{}; the form is {}", what, kForm)};
}

bool is_word_character(char character) {
    return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z') ||
           (character >= '0' && character <= '9') || character == '_';
}

bool is_word(std::string_view text, std::string_view also = "") {
    return !text.empty() && std::ranges::all_of(text, [also](char character) {
        return is_word_character(character) || also.find(character) != std::string_view::npos;
    });
}

// Takes the text before the first such character, and removes the character, too.
std::string_view take_until(std::string_view& rest, char end) {
    const std::string_view taken = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(taken.size() + 1, rest.size()));
    return taken;
}

std::optional<std::uint16_t> port_of(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc{} && end == text.data() + text.size() && port != 0 ? std::optional(port) : std::nullopt;
}

lib::Result<Endpoint, trace::Refusal> endpoint_of(std::string_view text, std::uint16_t port_default) {
    Endpoint endpoint{.host = {}, .port = port_default};
    std::string_view rest = text;
    if (rest.starts_with('[')) {
        rest.remove_prefix(1);
        const bool closed = rest.find(']') != std::string_view::npos;
        endpoint.host = take_until(rest, ']');
        if (!closed || !is_word(endpoint.host, ":.") || (!rest.empty() && !rest.starts_with(':'))) {
            return refusal(fmt::format("{} is no address", text::escaped(text)));
        }
        rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
    } else {
        endpoint.host = take_until(rest, ':');
        if (!is_word(endpoint.host, ".-")) {
            return refusal(fmt::format("'{}' is no name of a host", text::escaped(endpoint.host)));
        }
    }
    if (!rest.empty() || text.ends_with(':')) {
        const std::optional<std::uint16_t> port = port_of(rest);
        if (!port) {
            return refusal(fmt::format("'{}' is no port", text::escaped(rest)));
        }
        endpoint.port = *port;
    }
    return endpoint;
}

} // namespace

std::string text_of(const Endpoint& endpoint) {
    return endpoint.host.find(':') == std::string::npos ? fmt::format("{}:{}", endpoint.host, endpoint.port)
                                                        : fmt::format("[{}]:{}", endpoint.host, endpoint.port);
}

lib::Result<Url, trace::Refusal> parse_url(std::string_view text_untrusted) {
    Url url;
    std::string_view rest = text_untrusted;
    url.tls = rest.starts_with("clickhouses://");
    if (!url.tls && !rest.starts_with("clickhouse://")) {
        return refusal("it does not begin with clickhouse:// or clickhouses://");
    }
    rest.remove_prefix(rest.find("//") + 2);
    std::string_view hosts = take_until(rest, '/');
    if (const std::size_t at = hosts.rfind('@'); at != std::string_view::npos) {
        url.user = hosts.substr(0, at);
        hosts.remove_prefix(at + 1);
        if (url.user.find(':') != std::string::npos) { // not shown: it may be the password
            return refusal("a password is not given in a URL, where all users of the machine see it, but in a file or "
                           "the environment");
        }
        if (!is_word(url.user, ".-")) {
            return refusal(fmt::format("'{}' is no name of a user", text::escaped(url.user)));
        }
    }
    do {
        const auto endpoint = endpoint_of(take_until(hosts, ','), url.tls ? kTlsPort : kPort);
        if (!endpoint) {
            return endpoint.error();
        }
        if (std::ranges::find(url.hosts, endpoint.value()) != url.hosts.end()) {
            return refusal(fmt::format("{} is named twice", text_of(endpoint.value())));
        }
        url.hosts.push_back(endpoint.value());
    } while (!hosts.empty());
    url.database = take_until(rest, '?');
    if (!is_word(url.database)) {
        return refusal(
            fmt::format("'{}' is no name of a database (letters, digits and _)", text::escaped(url.database)));
    }
    while (!rest.empty()) {
        std::string_view value = take_until(rest, '&');
        const std::string_view name = take_until(value, '=');
        if (name != "cluster") {
            return refusal(fmt::format("it has no parameter '{}'", text::escaped(name)));
        }
        if (!is_word(value, "-")) {
            return refusal(fmt::format("'{}' is no name of a cluster", text::escaped(value)));
        }
        url.cluster = value;
    }
    if (url.hosts.size() > 1 && url.cluster.empty()) {
        return refusal(
            "several hosts are the shards of a cluster: add ?cluster= and its name in the configuration of the "
            "servers");
    }
    return url;
}

} // namespace host::fleet::clickhouse
