// SPDX-License-Identifier: MIT
// The way to servers. The libraries for it (libnats, libcurl) are in a program of their own, remora-fleet, beside
// remora: remora starts it for the commands that need a server, so nothing of them is loaded otherwise, and remora is
// built without them. remora-fleet has the same commands and is linked with fleet/network/; remora-full is linked with
// fleet/absent/.
#pragma once

#include "fleet/outlet.hpp"
#include "fleet/source.hpp"
#include "fleet/store.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace host::fleet {

// Of the user. Empty: none.
struct Credentials {
    std::string creds_file; // NATS: JWT and seed
    std::string user;       // else of the URL
    std::string password;   // likewise; from a file or the environment, never from the command line
    std::string tls_ca;     // PEM; a URL with tls:// or https:// verifies with it, else with the system's
    std::string tls_cert;   // of the client, PEM
    std::string tls_key;
};

// As Source and Outlet say; refused, too: the user, or the certificate, is not accepted.
struct Network {
    lib::Result<std::shared_ptr<Outlet>, NetworkFailure> (*outlet)(const std::string& url,
                                                                   const Credentials&) = nullptr;
    // consumer: the name under which the server keeps how far the loaders of one store have come.
    lib::Result<std::shared_ptr<Source>, NetworkFailure> (*source)(const std::string& url, const Credentials&,
                                                                   const std::string& consumer) = nullptr;
    lib::Result<std::shared_ptr<Store>, StoreFailure> (*store)(const std::string& url, const Credentials&) = nullptr;
};

// Null in a program without it.
[[nodiscard]] const Network* network();

// remora-fleet, beside this program.
[[nodiscard]] std::string network_program();

// Why it cannot be started, and the remedy; empty: it can.
[[nodiscard]] std::string network_program_fault();

// Replaces this process by remora-fleet, with the same arguments. Returns only if that fails: why, and the remedy.
[[nodiscard]] std::string continue_with_network();

// nats://, tls://; clickhouse://, clickhouses://
[[nodiscard]] bool is_server(std::string_view place);

} // namespace host::fleet
