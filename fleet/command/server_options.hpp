// SPDX-License-Identifier: MIT
// Every command that connects to a server has these options: who the user is, and which certificates are trusted. A
// password is never on the command line, where other users see it: it is read from a file, or from the environment. The
// names with which sessions are published are here, too.
#pragma once

#include "fleet/message.hpp"
#include "fleet/server.hpp"
#include "host/cli/command/command_line.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <string>
#include <vector>

namespace host::cli {

struct ServerOptions {
    fleet::Credentials given; // without the password
    std::string password_file;
};

// `options` must outlive the parsing.
void add_server_options(Command& command, ServerOptions& options);

// Returns the options as words of a command.
[[nodiscard]] std::vector<std::string> words_of(const ServerOptions& options);

// Refuses a file that cannot be read, or a certificate without its key, and names the option.
[[nodiscard]] lib::Result<fleet::Credentials, trace::Refusal> credentials_of(const ServerOptions& options);

// Returns the name of this machine as the name of a node.
[[nodiscard]] std::string host_node();

inline constexpr const char* kDefaultSite = "default";

// Checks the name of a site, node or consumer, for Option::check.
[[nodiscard]] std::string check_name(const std::string& text);

// Checks the address of a server to which messages are published, for Option::check.
[[nodiscard]] std::string check_nats(const std::string& text);

// Returns the node as which a session is published. A session that an earlier publisher or collector has announced
// keeps its names, unless the user gives others.
[[nodiscard]] fleet::NodeName node_for(const std::string& session, const std::string& site, const std::string& node);

} // namespace host::cli
