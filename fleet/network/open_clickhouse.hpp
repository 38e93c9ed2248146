// SPDX-License-Identifier: MIT
// The store that a URL names.
#pragma once

#include "fleet/network.hpp"
#include "lib/result.hpp"

#include <memory>
#include <string>

namespace host::fleet {

// Of clickhouse://...; no connection is made yet. invalid_argument: the URL has another form.
[[nodiscard]] lib::Result<std::shared_ptr<Store>, StoreFailure> open_clickhouse(const std::string& url,
                                                                                const Credentials& credentials);

} // namespace host::fleet
