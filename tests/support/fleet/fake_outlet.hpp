// SPDX-License-Identifier: MIT
// This server stores messages by their ids, and goes away when the test wants.
#pragma once

#include "fleet/stream.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace support::fleet {

class FakeOutlet final : public host::fleet::Outlet {
  public:
    lib::Result<void, host::fleet::NetworkFailure> publish(std::span<const host::fleet::Message> batch,
                                                           std::size_t& stored) override {
        using host::fleet::NetworkFailure;
        stored = 0;
        for (const host::fleet::Message& message : batch) {
            if (refused) {
                return NetworkFailure{lib::Error::refused, "refused"};
            }
            if (message.body.size() > body_max) {
                return NetworkFailure{lib::Error::too_small, message.id};
            }
            if (stores_before_failure-- == 0) {
                if (acknowledgement_lost) {
                    store(message);
                }
                return NetworkFailure{lib::Error::unreachable, "away"};
            }
            store(message);
            ++stored;
        }
        return {};
    }

    [[nodiscard]] std::size_t body_bytes_max() const override { return body_max; }

    [[nodiscard]] lib::Result<std::string, host::fleet::NetworkFailure> stream() override { return name; }

    std::string name = "REMORA";
    std::vector<host::fleet::Message> messages; // stored, in their order
    std::size_t attempts = 0;                   // messages that came, duplicates with them
    std::size_t body_max = std::size_t{1} << 20;
    std::size_t stores_before_failure = ~std::size_t{0};
    bool acknowledgement_lost = false; // of the message that fails
    bool refused = false;

  private:
    void store(const host::fleet::Message& message) {
        ++attempts;
        if (std::ranges::find(messages, message.id, &host::fleet::Message::id) == messages.end()) {
            messages.push_back(message);
        }
    }
};

} // namespace support::fleet
