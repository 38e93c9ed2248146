// SPDX-License-Identifier: MIT
// The address of a server, as it may be shown: a password in it is cut out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace host::fleet {

// Of one address, or of several with commas between them.
[[nodiscard]] std::string shown_address(std::string_view address);

// The addresses between the commas.
[[nodiscard]] std::vector<std::string> addresses_of(std::string_view addresses);

} // namespace host::fleet
