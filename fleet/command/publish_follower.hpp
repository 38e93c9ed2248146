// SPDX-License-Identifier: MIT
// remora publish --follow: what `remora record --publish` starts beside itself, so that the collector is free of
// servers and their libraries. The two have a socket between them, with lines in both directions:
//
//   recorder:   opened|closed <site>/<node> <session directory>           announces what there is to publish
//               end                                                       nothing follows: all sessions are closed
//   publisher:  published <session directory>                             the whole session is stored
//
// Without `end`, a recorder that is gone was killed: its open sessions stay open, the next one publishes the rest.
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

// With its line feed. A directory whose name holds one cannot be announced: nothing.
[[nodiscard]] std::string notice_line(const Notice& notice);

// Nothing: it is no notice.
[[nodiscard]] std::optional<Notice> notice_of(std::string_view line);

inline constexpr std::string_view kPublishedWord = "published ";

struct FollowOptions {
    std::string to;
    std::chrono::milliseconds wait{}; // for the server, once the recorder has ended
};

[[nodiscard]] trace::ExitStatus follow_recorder(const FollowOptions& options, const fleet::Credentials& credentials,
                                                Context context);

} // namespace host::cli
