// SPDX-License-Identifier: MIT
// The address of a server, and who the user is there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace host::fleet {

// An empty member was not given.
struct Credentials {
    std::string creds_file; // NATS: JWT and seed
    std::string user;       // else the URL names the user
    std::string password;   // from a file or the environment, never from the command line
    std::string tls_ca;     // PEM; a URL with tls:// or https:// is verified with it, else with the system's
    std::string tls_cert;   // of the client, PEM
    std::string tls_key;
};

// The place begins with nats://, tls://, clickhouse:// or clickhouses://.
[[nodiscard]] bool is_server(std::string_view place);

// The addresses between the commas.
[[nodiscard]] std::vector<std::string> addresses_of(std::string_view addresses);

// One address, or several with commas between them, without the users and passwords in them.
[[nodiscard]] std::string shown_address(std::string_view addresses);

} // namespace host::fleet
