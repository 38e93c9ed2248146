// SPDX-License-Identifier: MIT
// Where the session of a run is, in a directory:
//
//   DIR/SITE/NODE/BOOT.rpk    a store in a directory
//   .../BOOT.rpk              a packed session of that name, at most three directories below
//   .../SESSION               likewise, a session directory
#pragma once

#include <map>
#include <string>

namespace host::cli {

class SessionFinder {
  public:
    explicit SessionFinder(std::string directory);

    // Empty: it is not there, or the names are not those of a run.
    [[nodiscard]] std::string find(const std::string& site_untrusted, const std::string& node_untrusted,
                                   const std::string& boot_untrusted);

  private:
    void look_everywhere();

    std::string m_directory;
    bool m_looked = false;
    std::map<std::string, std::string> m_by_boot; // paths, once m_looked
};

} // namespace host::cli
