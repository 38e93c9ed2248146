// SPDX-License-Identifier: MIT
#include "fleet/network/nats_streams.hpp"

#include "host/text/format.hpp"

#include <array>
#include <string>

namespace host::fleet {

lib::Result<void, NetworkFailure> ensure_stream(const NatsConnection& connection, std::string_view name) {
    const std::string stream(name);
    jsErrCode code{};
    jsStreamInfo* info = nullptr;
    natsStatus status = js_GetStreamInfo(&info, connection.streams(), stream.c_str(), nullptr, &code);
    NatsOwned<jsStreamInfo> owned(info);
    if (status == NATS_OK) {
        return {};
    }
    if (code != JSStreamNotFoundErr && status != NATS_NOT_FOUND) {
        return connection.failure(status, fmt::format("stream {}", name), code);
    }
    const std::string subject = stream + ".>";
    std::array<const char*, 1> subjects = {subject.c_str()};
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = stream.c_str();
    config.Subjects = subjects.data();
    config.SubjectsLen = static_cast<int>(subjects.size());
    config.Retention = js_LimitsPolicy;
    config.Storage = js_FileStorage;
    config.Duplicates = std::chrono::nanoseconds(kDuplicatesWindow).count();
    code = {};
    info = nullptr;
    status = js_AddStream(&info, connection.streams(), &config, nullptr, &code);
    owned.reset(info);
    if (status == NATS_OK || code == JSStreamNameExistErr) { // another program was faster
        return {};
    }
    return connection.failure(status, fmt::format("stream {} cannot be made", name), code);
}

} // namespace host::fleet
