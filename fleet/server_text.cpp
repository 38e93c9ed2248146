// SPDX-License-Identifier: MIT
#include "fleet/server_text.hpp"

#include "host/text/escape.hpp"

#include <algorithm>

namespace host::fleet {

namespace {

// scheme://USER:PASSWORD@host: all up to the last @ before the path, because a password may hold one, too.
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

std::vector<std::string> addresses_of(std::string_view addresses) {
    std::vector<std::string> all;
    while (!addresses.empty()) {
        const std::string_view one = addresses.substr(0, addresses.find(','));
        addresses.remove_prefix(std::min(one.size() + 1, addresses.size()));
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
            shown.back() += ',' + one; // of the same server: a password may hold a comma
        }
    }
    std::string text;
    for (const std::string& one : shown) {
        text += (text.empty() ? "" : ",") + shown_one(one);
    }
    return text;
}

} // namespace host::fleet
