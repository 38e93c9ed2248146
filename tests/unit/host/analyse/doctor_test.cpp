// SPDX-License-Identifier: MIT
// Tests each symptom by a trace in which a port makes exactly this mistake; the same trace without it has none.
#include "host/analyse/doctor.hpp"
#include "host/text/format.hpp"
#include "tests/support/scene.hpp"
#include "tracer/names/metadata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace host::analyse {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DoctorTest : public testing::Test {
  protected:
    DoctorTest() {
        for (const auto& [context, name] : {std::pair(1, "idle"), std::pair(12, "a"), std::pair(13, "b")}) {
            m_facts.names.set(tracer::Unit::context, static_cast<std::uint16_t>(context), name);
        }
        m_facts.names.set(tracer::Unit::vector, 32, "timer");
        m_facts.names.set(tracer::Unit::mutex, 7, "lamp");
        m_facts.build.emplace().hooks.add(trace::kCodeOf<"context_switch">);
        m_facts.chunks.resize(1);
    }

    // Returns the names of what is found in the scene.
    std::vector<std::string_view> symptoms(std::string_view scene) {
        Doctor doctor;
        for (const std::string& name : m_task_names) {
            give_name(doctor, 12, name);
        }
        support::SceneReader reader;
        for (trace::Event event : reader.read(scene)) {
            event.names = &m_facts.names;
            doctor.add(event);
        }
        m_found = doctor.finish(m_facts);
        std::vector<std::string_view> names;
        for (const Symptom& symptom : m_found) {
            names.push_back(symptom.name);
        }
        return names;
    }

    static void give_name(Doctor& doctor, std::uint16_t context, std::string_view name) {
        std::array<std::byte, tracer::kCombinePayloadMax> bytes{};
        const auto size = tracer::encode_payload(tracer::NameOf{context, {name}, 0}, bytes);
        trace::Event event;
        event.code = trace::kCodeOf<"task_name">;
        event.metadata = true;
        event.payload = std::span<const std::byte>(bytes).first(size.value());
        doctor.add(event);
    }

    trace::TraceFacts m_facts;
    std::vector<std::string> m_task_names;
    std::vector<Symptom> m_found;
};

// Two tasks and the idle task, an interrupt, a lock.
constexpr std::string_view kGood =
    "1 wake 12 semaphore 7, wake 13 semaphore 7; 2 dispatch 1, switch 1, leave 1; 10 dispatch 12, switch 12; "
    "11 acquire 12 7; 12 irq 32, iret 32; 13 unlock 12 7, leave 12, dispatch 13, switch 13; 20 acquire 13 7, "
    "unlock 13 7, leave 13, dispatch 1, switch 1; ";

TEST_F(DoctorTest, FindsNothingInAGoodPort) {
    EXPECT_THAT(symptoms(kGood), IsEmpty());
}

struct Mistake {
    std::string_view symptom;
    std::string scene;
};

TEST_F(DoctorTest, FindsEachMistake) {
    const std::string good(kGood);
    for (const Mistake& mistake : {
             Mistake{"interrupt-open", good + "30 irq 32, switch 12, irq 32, switch 1, irq 32, iret 32"},
             Mistake{"interrupt-unbegun", good + "30 iret 32, iret 32"},
             Mistake{"undispatched", good + "30 switch 12; 31 switch 1"},
             Mistake{"spin-lock", good + "30 acquire 12 7, unlock 13 7, acquire 12 7, unlock 13 7"},
             Mistake{"two-owners", good + "30 acquire 12 7, acquire 13 7, acquire 12 7"},
             Mistake{"nameless-tasks", good + "30 wake 14 semaphore 7, dispatch 14, switch 14"},
             Mistake{"nameless-vectors", good + "30 irq 33, iret 33"},
             Mistake{"never-ready", good + "30 dispatch 15, switch 15; 31 dispatch 16, switch 16"},
         }) {
        EXPECT_THAT(symptoms(mistake.scene), testing::Contains(mistake.symptom)) << mistake.scene;
    }
}

TEST_F(DoctorTest, KnowsNoMistakeWhereRecordsAreLost) {
    EXPECT_THAT(symptoms(std::string(kGood) + "30 irq 32, acquire 12 7; 31 blackout; 32 lost 9; 33 switch 12, "
                                              "unlock 13 7; 34 irq 32; 35 blackout; 36 lost 1; 37 switch 13"),
                testing::Not(testing::Contains("interrupt-open")));
    EXPECT_THAT(symptoms(std::string(kGood) + "30 acquire 12 7; 31 blackout; 32 lost 9; 33 unlock 13 7"),
                testing::Not(testing::Contains("spin-lock")));
}

TEST_F(DoctorTest, KnowsNumbersThatAreReused) {
    m_task_names = {"a", "a"};
    EXPECT_THAT(symptoms(kGood), IsEmpty());
    m_task_names = {"ls", "forktest"};
    EXPECT_THAT(symptoms(kGood), ElementsAre("numbers-reused"));
    EXPECT_EQ(m_found[0].text, "these contexts have several names: 12 (forktest, ls)");
}

TEST_F(DoctorTest, NeedsAnIdleTask) {
    EXPECT_THAT(symptoms("1 wake 12 semaphore 7, dispatch 12, switch 12"), ElementsAre("no-idle"));
    EXPECT_TRUE(m_found[0].harmless);
}

TEST_F(DoctorTest, ReportsWhatTheTraceSaysOfItself) {
    m_facts.chunks.front().description.dropped = 3;
    m_facts.chunks.front().description.refused = 2;
    m_facts.build->names_lost = 5;
    m_facts.build->hooks = {};
    EXPECT_THAT(symptoms(kGood), ElementsAre("dropped", "names-full", "refused", "hooks-unstated"));
    EXPECT_EQ(m_found[0].text, "cpu 0: 3 records found the memory full");
    EXPECT_THAT(symptoms(""), testing::Contains("nothing-recorded"));
}

} // namespace

} // namespace host::analyse
