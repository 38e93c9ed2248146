// SPDX-License-Identifier: MIT
// Publishes what is in session directories, in the order of their chunks, and remembers on the disk how far it came:
// the sessions themselves are the spool. What could not be published stays where it is, and the next publisher
// continues there. The record of progress is a file beside the session, SESSION.published.
//
//   next() --> chunks of the manifest that are not published yet --> outlet --> SESSION.published
//                         and, once the session is closed, its manifest
#pragma once

#include "host/fleet/outlet.hpp"
#include "host/formats/dat/manifest.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet {

struct Published {
    std::size_t chunks = 0; // of the manifest's list, the first ones
    bool session = false;   // the manifest, too: nothing is left
};

class SessionPublisher {
  public:
    // directory: a session; its manifest may be missing still.
    SessionPublisher(std::string directory, NodeName from, Outlet& outlet,
                     std::function<void(std::string_view)> report);

    // Publishes what is there and was not published, at most about so many bytes. closed: no collector writes to the
    // session any more; then its manifest follows. done: nothing is left for now. unreachable and others of
    // Outlet::publish(); not_found: no session; corrupt: its manifest, or a chunk differs from it.
    [[nodiscard]] lib::Result<bool, NetworkFailure> next(std::size_t bytes, bool closed);

    [[nodiscard]] const Published& published() const { return m_published; }

    // Chunks that cannot be published, because they do not say what they are; the manifest tells the store so.
    [[nodiscard]] std::size_t undescribed() const { return m_undescribed; }

  private:
    std::string m_directory;
    NodeName m_from;
    Outlet& m_outlet;
    std::function<void(std::string_view)> m_report;
    Published m_published;
    std::size_t m_undescribed = 0;
};

} // namespace host::fleet
