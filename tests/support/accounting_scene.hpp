// SPDX-License-Identifier: MIT
// Makes records for the accounting of response times: three tasks of fixed priorities, one of a server, one by
// deadline, and the idle task. One tick is one nanosecond.
#pragma once

#include "host/schedule/accounting.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "lib/wire_numbers.hpp"
#include "tests/support/scene.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace host::schedule {

inline constexpr std::uint32_t kKhz = 1'000'000;
using support::kDated;
using support::kHigh;
using support::kIdle;
using support::kLow;
using support::kMiddle;
using support::kServed;
inline constexpr std::uint16_t kTimer = 32;

inline std::string who_text(std::uint32_t who) {
    return who == kUnknownContext ? "?" : std::to_string(who);
}

inline std::string text_of(const Share& share) {
    const Culprit& culprit = share.culprit;
    std::string text = fmt::format("{} {}", part_name(culprit.part), by_name(culprit.by));
    if (culprit.by != By::self) {
        text += " " + who_text(culprit.who);
    }
    if (culprit.part == Part::blocking) {
        text += fmt::format(" mutex {} of {} {}", culprit.object, who_text(culprit.holder),
                            inversion_name(culprit.inversion));
        if (culprit.chain_end != culprit.holder) {
            text += " to " + who_text(culprit.chain_end);
        }
        if (culprit.end_waits != 0) {
            text += fmt::format(" that waits {}/{}", culprit.end_waits >> 16, culprit.end_waits & 0xFFFF);
        }
    } else if (culprit.part == Part::suspension) {
        text += fmt::format(" {}/{}", culprit.object >> 16, culprit.object & 0xFFFF);
    }
    return text + fmt::format(": {}", share.ticks.value);
}

constexpr std::uint32_t wait_word(lib::WaitKind kind, std::uint32_t object) {
    return static_cast<std::uint32_t>(kind) << 16 | object;
}

// Feeds a scene to the model, and shows what it reports.
class AccountingScene {
  public:
    explicit AccountingScene(std::string_view text = "") {
        m_names.set(tracer::Unit::level, 0, "RM");
        m_names.set(tracer::Unit::level, 1, "SERVED");
        m_names.set(tracer::Unit::level, 2, "background");
        m_names.set(tracer::Unit::level, 3, "EDF");
        m_names.set(tracer::Unit::context, kIdle, "idle");
        add_task(kIdle, 2, 0);
        add_task(kLow, 0, 3000);
        add_task(kMiddle, 0, 2000);
        add_task(kHigh, 0, 1000);
        add_task(kServed, 1, 0);
        add_task(kDated, 3, 0);
        // Scenes begin with the machine, so that nothing is missing before them.
        m_accounting.take(support::event_of(0, "trace_start"), {}, m_schedule, kKhz);
        play(text);
    }

    AccountingScene& play(std::string_view text) {
        for (trace::Event event : m_reader.read(text)) {
            event.names = &m_names;
            m_accounting.take(event, m_schedule.take(event), m_schedule, kKhz);
        }
        return *this;
    }

    AccountingScene& finish() {
        m_accounting.finish();
        return *this;
    }

    [[nodiscard]] std::vector<std::string> shares(std::uint16_t context) const {
        std::vector<std::string> texts;
        for (const JobAccount& account : m_accounts) {
            if (account.job.context == context) {
                EXPECT_TRUE(account.is_known());
                EXPECT_EQ(account.residue, 0);
                texts.push_back(fmt::format("R {}", account.response().value));
                for (const Share& share : account.shares) {
                    texts.push_back(text_of(share));
                }
            }
        }
        return texts;
    }

    // Returns the shares of the only job.
    [[nodiscard]] std::vector<std::string> details() const {
        std::vector<std::string> texts;
        for (const Share& share : m_accounts.at(0).shares) {
            texts.push_back(fmt::format("{} in {}, {} records, longest {} from {} at #{}", text_of(share), share.pieces,
                                        share.records, share.longest.value, share.longest_begin.value,
                                        share.longest_place.record));
        }
        return texts;
    }

    [[nodiscard]] std::vector<std::string> pieces() const {
        std::vector<std::string> texts;
        for (const Piece& piece : m_pieces) {
            texts.push_back(fmt::format("{}/{} {} {} {}..{} #{} {} records", piece.context, piece.job,
                                        part_name(piece.culprit.part), by_name(piece.culprit.by), piece.begin.value,
                                        piece.end.value, piece.place.record, piece.records));
        }
        return texts;
    }

    std::vector<JobAccount> m_accounts;
    std::vector<Piece> m_pieces;

  private:
    void add_task(std::uint16_t context, std::uint16_t level, std::uint64_t deadline_ns) {
        m_names.set_parameters({.context = context, .level = level, .deadline_ns = deadline_ns});
    }

    trace::Names m_names;
    support::SceneReader m_reader;
    Schedule m_schedule;
    Accounting m_accounting{[this](const JobAccount& account) { m_accounts.push_back(account); },
                            [this](const Piece& piece) { m_pieces.push_back(piece); }};
};

} // namespace host::schedule
