// SPDX-License-Identifier: MIT
// The options of every command that speaks to a server: who the user is, and whom to trust. A password is never on the
// command line, where other users see it: it is read from a file, or from the environment.
#pragma once

#include "fleet/server.hpp"
#include "host/cli/command/command_line.hpp"
#include "host/trace/diagnostics.hpp"
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

} // namespace host::cli
