// SPDX-License-Identifier: MIT
// A directory for the files of one session while its rows are made. It is removed with its owner; one that a killed
// process leaves is in TMPDIR, where the system clears it away.
#pragma once

#include "fleet/outlet.hpp"
#include "lib/result.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace host::fleet {

class WorkDirectory {
  public:
    // In TMPDIR, else the system's directory for such files. no_space, io.
    [[nodiscard]] static lib::Result<std::unique_ptr<WorkDirectory>, NetworkFailure> create();

    explicit WorkDirectory(std::string path)
        : m_path(std::move(path)) {}

    WorkDirectory(const WorkDirectory&) = delete;
    WorkDirectory& operator=(const WorkDirectory&) = delete;
    ~WorkDirectory();

    [[nodiscard]] const std::string& path() const { return m_path; }

    // A new file. name: no path. no_space, io.
    [[nodiscard]] lib::Result<void, NetworkFailure> write(std::string_view name, std::string_view content) const;

  private:
    std::string m_path;
};

} // namespace host::fleet
