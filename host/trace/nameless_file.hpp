// SPDX-License-Identifier: MIT
// A file without a name, known only by its descriptor: it is deleted with the process, however that ends.
#pragma once

#include "lib/result.hpp"

namespace host::trace {

// Open for reading and writing, in TMPDIR, else in the system's directory for such files. The caller closes it.
// no_space, io.
[[nodiscard]] lib::Result<int> open_nameless_file();

} // namespace host::trace
