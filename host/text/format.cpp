// SPDX-License-Identifier: MIT
#include "host/text/format.hpp"

template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view, fmt::format_args,
                                            fmt::detail::locale_ref);
