// SPDX-License-Identifier: MIT
// Text for an XML 1.0 document (W3C, Extensible Markup Language 1.0, section 2.2), between tags and in the quotes of an
// attribute: & < > and quotes as references; what XML forbids, and control characters, as \xNN like everywhere else.
#pragma once

#include <string>
#include <string_view>

namespace host::text {

// Line breaks stay.
[[nodiscard]] std::string xml_escaped(std::string_view text_untrusted);

} // namespace host::text
