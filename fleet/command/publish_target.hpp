// SPDX-License-Identifier: MIT
// Where sessions are published, and as whose.
#pragma once

#include "fleet/message.hpp"

#include <string>

namespace host::cli {

// Of this machine, as a name of a node.
[[nodiscard]] std::string host_node();

inline constexpr const char* kDefaultSite = "default";

// For Option::check.
[[nodiscard]] std::string check_name(const std::string& text);

// For Option::check: a server that messages are published to.
[[nodiscard]] std::string check_nats(const std::string& text);

// A session that an earlier publisher or collector began to publish stays that node's, unless the user names another.
[[nodiscard]] fleet::NodeName node_for(const std::string& session, const std::string& site, const std::string& node);

} // namespace host::cli
