// SPDX-License-Identifier: MIT
#include "fleet/network/nats_message.hpp"

#include "host/text/format.hpp"

namespace host::fleet {

natsStatus set_headers(natsMsg* into, const Message& message) {
    natsStatus status = natsMsgHeader_Set(into, kIdHeader.data(), message.id.c_str());
    if (status == NATS_OK) {
        status = natsMsgHeader_Set(into, kKindHeader.data(), kind_name(message.kind).data());
    }
    return status == NATS_OK
               ? natsMsgHeader_Set(into, kStartedHeader.data(), fmt::format("{}", message.started_s).c_str())
               : status;
}

std::string_view header_of(natsMsg* message, std::string_view name) {
    const char* value = nullptr;
    return natsMsgHeader_Get(message, name.data(), &value) == NATS_OK && value != nullptr ? value : std::string_view();
}

MessageHead head_of(natsMsg* message) {
    return {.subject = natsMsg_GetSubject(message),
            .id = header_of(message, kIdHeader),
            .kind = header_of(message, kKindHeader),
            .started = header_of(message, kStartedHeader)};
}

std::string_view body_of(const natsMsg* message) {
    return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

} // namespace host::fleet
