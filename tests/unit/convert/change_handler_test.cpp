// SPDX-License-Identifier: MIT
// Tests which function takes which change.
#include "convert/track_writer.hpp"
#include "host/text/format.hpp"

#include <gtest/gtest.h>

#include <string>

namespace host::convert {

namespace {

class Noted final : public ChangeHandler {
  public:
    [[nodiscard]] std::string take(Change::Kind kind) {
        m_text.clear();
        apply({.kind = kind, .context = 3, .other = 4, .object = 5});
        return m_text;
    }

  private:
    void on_switch(const Change& change) override { m_text = fmt::format("{} to {}", change.other, change.context); }

    void on_wake(std::uint32_t context) override { m_text = fmt::format("wakes {}", context); }

    void on_create(std::uint32_t context) override { m_text = fmt::format("creates {}", context); }

    void on_end(std::uint32_t context) override { m_text = fmt::format("ends {}", context); }

    void on_interrupt(std::uint32_t vector) override { m_text = fmt::format("interrupt {}", vector); }

    void on_interrupt_end(std::uint32_t vector) override { m_text = fmt::format("end of {}", vector); }

    void on_priority(std::uint32_t context, std::uint32_t from) override {
        m_text = fmt::format("{} as {}", context, from);
    }

    void on_gap() override { m_text = "gap"; }

    void on_loss(std::uint32_t records) override { m_text = fmt::format("lost {}", records); }

    std::string m_text;
};

TEST(ChangeHandler, PassesEachKindToItsFunction) {
    using enum Change::Kind;
    Noted noted;
    EXPECT_EQ(noted.take(switched), "4 to 3");
    EXPECT_EQ(noted.take(woken), "wakes 3");
    EXPECT_EQ(noted.take(created), "creates 3");
    EXPECT_EQ(noted.take(ended), "ends 3");
    EXPECT_EQ(noted.take(interrupt_began), "interrupt 5");
    EXPECT_EQ(noted.take(interrupt_ended), "end of 5");
    EXPECT_EQ(noted.take(inherits), "3 as 4");
    EXPECT_EQ(noted.take(returns), "3 as 3");
    EXPECT_EQ(noted.take(gap), "gap");
    EXPECT_EQ(noted.take(lost), "lost 5");
    for (const Change::Kind kind : {waits, forgotten, job_began, job_ended}) {
        EXPECT_EQ(noted.take(kind), "");
    }
}

} // namespace

} // namespace host::convert
