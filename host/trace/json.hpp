// SPDX-License-Identifier: MIT
// The JSON library, included in one place. Its exceptions never leave the file that calls it: parse with
// json::parse(text, nullptr, false) and check is_discarded(), or catch at once.
#pragma once

#include <nlohmann/json.hpp>

namespace host::trace {

// Keeps keys in the order in which they were written: manifests are read by people, too.
using Json = nlohmann::ordered_json;

} // namespace host::trace
