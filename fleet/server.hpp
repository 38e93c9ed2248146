// SPDX-License-Identifier: MIT
// Handles the addresses of servers, and the credentials of the user there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace host::fleet {

// A member that the user has not given is empty.
struct Credentials {
    std::string creds_file; // for NATS: JWT and seed
    std::string user;       // else the URL names the user
    std::string password;   // from a file or the environment, never from the command line
    std::string tls_ca;     // PEM; verifies a server of tls:// or https://; if empty, the system's certificates do
    std::string tls_cert;   // of the client, PEM
    std::string tls_key;
};

// Returns whether the place begins with nats://, tls://, clickhouse:// or clickhouses://.
[[nodiscard]] bool is_server(std::string_view place);

// Returns the addresses between the commas.
[[nodiscard]] std::vector<std::string> addresses_of(std::string_view addresses);

// Returns one address, or several with commas between them, without the users and passwords in them.
[[nodiscard]] std::string shown_address(std::string_view addresses);

} // namespace host::fleet
