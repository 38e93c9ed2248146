// SPDX-License-Identifier: MIT
// Includes the JSON library in one place. Its exceptions must not leave the file that calls it: parse with
// json::parse(text, nullptr, false) and check is_discarded(), or catch them at once.
#pragma once

#include <nlohmann/json.hpp>

namespace host::trace {

// This type keeps keys in the order in which they were written, because people read manifests, too.
using Json = nlohmann::ordered_json;

} // namespace host::trace
