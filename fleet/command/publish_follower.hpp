// SPDX-License-Identifier: MIT
// remora publish --follow is the process that `remora record --publish` starts, so that the collector does not depend
// on servers and their libraries. The two exchange lines over a socket:
//
//   recorder:   opened|closed <site>/<node> <session directory>           announces what there is to publish
//               end                                                       nothing follows: all sessions are closed
//   publisher:  published <session directory>                             the whole session is stored
//
// If the recorder disappears without `end`, it was killed: its open sessions stay open, and the next publisher sends
// the rest.
#pragma once

#include "fleet/message.hpp"
#include "fleet/server.hpp"
#include "host/cli/terminal/output.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::cli {

enum class NoticeKind : std::uint8_t { opened, closed, end };

struct Notice {
    NoticeKind kind = NoticeKind::end;
    fleet::NodeName from;
    std::string session;

    friend bool operator==(const Notice&, const Notice&) = default;
};

// Returns the line with its line feed. It is empty if the name of the directory contains a line feed, which cannot be
// announced.
[[nodiscard]] std::string notice_line(const Notice& notice);

// Returns nothing if the line is no notice.
[[nodiscard]] std::optional<Notice> notice_of(std::string_view line);

inline constexpr std::string_view kPublishedWord = "published ";

struct FollowOptions {
    std::string to;
    std::chrono::milliseconds wait{}; // how long to wait for the server after the recorder has ended
};

[[nodiscard]] trace::ExitStatus follow_recorder(const FollowOptions& options, const fleet::Credentials& credentials,
                                                Context context);

} // namespace host::cli
