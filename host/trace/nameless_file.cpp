// SPDX-License-Identifier: MIT
// mkostemp(3), which replaces the six X by a unique name, and unlink(2).
#include "host/trace/nameless_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace host::trace {

lib::Result<int> open_nameless_file() {
    const char* const folder = std::getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): no thread changes it
    std::string path = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/remora-XXXXXX";
    const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
    if (descriptor < 0) {
        return errno == ENOSPC || errno == EDQUOT ? lib::Error::no_space : lib::Error::io;
    }
    ::unlink(path.c_str());
    return descriptor;
}

} // namespace host::trace
