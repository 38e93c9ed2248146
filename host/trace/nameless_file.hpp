// SPDX-License-Identifier: MIT
// A file that only its descriptor knows: what is kept in it is gone with the process, however that ends.
#pragma once

#include "lib/result.hpp"

namespace host::trace {

// Open for reading and writing, in TMPDIR, else in the system's directory for such files. The caller closes it.
// no_space, io.
[[nodiscard]] lib::Result<int> open_nameless_file();

} // namespace host::trace
