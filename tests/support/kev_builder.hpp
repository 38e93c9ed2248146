// SPDX-License-Identifier: MIT
// Builds .kev files slot by slot, from the published layout and not with our writer's code: a test determines every
// slot. It also reads a whole file into values that a test can compare.
#pragma once

#include "foreign/kev/kev_stream.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/memory_source.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace support {

struct KevKeys {
    std::string version_major = "1";
    std::string version_minor = "01";
    std::string byte_order = "LITTLE"; // empty: no key
    std::string encoding = "16 byte events";
    std::string cycles_per_second = "1000000000";
    std::string processors = "4";
    std::string system = "QNX";
    std::string syspage_bytes = "0";
    std::string more{}; // text to insert before the end
    std::string drop{}; // this key is left out
};

class KevBuilder {
  public:
    explicit KevBuilder(KevKeys keys = {})
        : m_big(keys.byte_order == "BIG") {
        text("TRACE_HEADER_BEGIN::");
        const auto key = [&](std::string_view name, std::string_view value) {
            if (name != keys.drop) {
                text("TRACE_" + std::string(name) + "::" + std::string(value));
            }
        };
        key("FILE_NAME", "/dev/shmem/tracebuffer");
        key("DATE", "Mon May  1 10:00:00 2006\n");
        key("VER_MAJOR", keys.version_major);
        key("VER_MINOR", keys.version_minor);
        if (!keys.byte_order.empty()) {
            key(keys.byte_order + "_ENDIAN", "TRUE");
        }
        key("ENCODING", keys.encoding);
        key("BOOT_DATE", "Mon May  1 09:00:00 2006\n");
        key("CYCLES_PER_SEC", keys.cycles_per_second);
        key("CPU_NUM", keys.processors);
        key("SYSNAME", keys.system);
        key("NODENAME", "localhost");
        key("SYS_RELEASE", "6.3.2");
        key("SYS_VERSION", "2006/03/16-14:19:50EST");
        key("MACHINE", "x86pc");
        key("SYSPAGE_LEN", keys.syspage_bytes);
        text(keys.more);
        if (keys.drop != "HEADER_END") {
            text("TRACE_HEADER_END::");
        }
    }

    KevBuilder& text(std::string_view characters) {
        for (const char character : characters) {
            bytes.push_back(static_cast<std::byte>(character));
        }
        return *this;
    }

    // Adds a slot of the kind 'S', 'B', 'C' or 'E'. The stamp is cut to its low half.
    KevBuilder& slot(char kind, unsigned cpu, unsigned class_number, unsigned event, std::uint64_t stamp,
                     std::uint32_t data1 = 0, std::uint32_t data2 = 0) {
        const auto bits = static_cast<std::uint32_t>(std::string_view("SBCE").find(kind));
        word((bits << 30) | (cpu << 24) | (class_number << 10) | event);
        word(static_cast<std::uint32_t>(stamp));
        word(data1);
        word(data2);
        return *this;
    }

    KevBuilder& time(unsigned cpu, std::uint64_t ticks) { return time(cpu, ticks, ticks); }

    KevBuilder& time(unsigned cpu, std::uint64_t ticks, std::uint64_t stamp) {
        return slot('S', cpu, 1, 1, stamp, static_cast<std::uint32_t>(ticks >> 32), static_cast<std::uint32_t>(ticks));
    }

    KevBuilder& buffer(unsigned cpu, std::uint64_t stamp, std::uint32_t number, std::uint32_t slots = 1000) {
        return slot('S', cpu, 1, 2, stamp, number, slots);
    }

    // Adds a user event with a number that identifies it.
    KevBuilder& user(unsigned cpu, std::uint64_t stamp, std::uint32_t number) {
        return slot('S', cpu, 6, 9, stamp, number, 0);
    }

    Bytes bytes;

  private:
    void word(std::uint32_t value) {
        for (unsigned i = 0; i < 4; ++i) {
            bytes.push_back(static_cast<std::byte>(value >> (8 * (m_big ? 3 - i : i))));
        }
    }

    bool m_big;
};

struct KevSeen {
    std::uint64_t ticks = 0;
    unsigned cpu = 0;
    unsigned class_number = 0;
    unsigned event = 0;
    std::vector<std::uint32_t> words{};
    host::trace::EventState state = host::trace::EventState::ok;

    friend bool operator==(const KevSeen&, const KevSeen&) = default;

    friend std::ostream& operator<<(std::ostream& out, const KevSeen& seen) {
        out << std::hex << "{0x" << seen.ticks << " cpu " << seen.cpu << " " << seen.class_number << "/" << seen.event
            << " words";
        for (const std::uint32_t word : seen.words) {
            out << " 0x" << word;
        }
        return out << " " << state_name(seen.state) << "}" << std::dec;
    }
};

struct KevReading {
    std::vector<KevSeen> events{}; // control events left out
    std::vector<KevSeen> control{};
    std::string lines{};
    bool opened = false;
    host::trace::ExitStatus status = host::trace::ExitStatus::nothing;
    host::trace::TraceFacts facts{};

    // Returns the first data words of the events.
    [[nodiscard]] std::vector<std::uint32_t> numbers() const {
        std::vector<std::uint32_t> found;
        for (const KevSeen& seen : events) {
            found.push_back(seen.words.front());
        }
        return found;
    }

    [[nodiscard]] std::vector<std::uint64_t> ticks() const {
        std::vector<std::uint64_t> found;
        for (const KevSeen& seen : events) {
            found.push_back(seen.ticks);
        }
        return found;
    }
};

inline KevReading read_kev(std::span<const std::byte> bytes) {
    KevReading reading;
    host::trace::Diagnostics diagnostics([&](std::string_view line) { reading.lines += std::string(line) + '\n'; });
    const auto stream =
        host::formats::kev::KevStream::open({.name = "t.kev", .bytes = source_of(bytes)}, {}, diagnostics);
    reading.opened = stream.ok();
    if (stream) {
        for (auto batch = stream.value()->next_batch(); !batch.empty(); batch = stream.value()->next_batch()) {
            const host::trace::Event& event = batch.front();
            auto& list = event.metadata ? reading.control : reading.events;
            list.push_back({event.ticks.value,
                            event.cpu,
                            event.event_class,
                            event.number,
                            {event.words.begin(), event.words.end()},
                            event.state});
        }
        reading.facts = stream.value()->facts();
    }
    diagnostics.finish();
    reading.status = diagnostics.exit_status(reading.facts.usable_events != 0);
    return reading;
}

} // namespace support
