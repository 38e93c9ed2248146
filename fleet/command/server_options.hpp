// SPDX-License-Identifier: MIT
// The options of every command that speaks to a server: who the user is, and whom to trust. A password is never on the
// command line, where other users see it: it is read from a file, or from the environment. Also which server sessions
// are published to, and as whose.
#pragma once

#include "fleet/message.hpp"
#include "fleet/server.hpp"
#include "host/cli/command/command_line.hpp"
#include "host/trace/failure.hpp"
#include "lib/result.hpp"

#include <string>

namespace host::cli {

struct ServerOptions {
    std::string creds;
    std::string user;
    std::string password_file;
    std::string tls_ca;
    std::string tls_cert;
    std::string tls_key;
};

// `options` outlives the parsing.
void add_server_options(Command& command, ServerOptions& options);

// Refused, naming the option: a file that cannot be read, or a certificate without its key.
[[nodiscard]] lib::Result<fleet::Credentials, trace::Refusal> credentials_of(const ServerOptions& options);

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
