// SPDX-License-Identifier: MIT
// Headers that most sources of the host tools include, parsed once for all of them if there is no ccache (mk/flags.mk).
// No source includes this file.
#pragma once

#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
