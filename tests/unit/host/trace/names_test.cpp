// SPDX-License-Identifier: MIT
// Tests the names of numbers, and the version by which a caller knows that what it kept still holds.
#include "host/trace/names.hpp"

#include "host/trace/event.hpp"

#include <gtest/gtest.h>

namespace host::trace {

namespace {

using tracer::Unit;

TEST(Names, AreOfOneUnitAndNumber) {
    Names names;
    names.set(Unit::context, 7, "task");
    names.set(Unit::context, 0xFFFF, "last");
    for (const NameEvent& row : kNameEvents) {
        EXPECT_EQ(names.find(row.unit, 7), "");
        names.set(row.unit, 7, "object");
        EXPECT_EQ(names.find(row.unit, 7), "object");
        EXPECT_EQ(names.find(row.unit, 8), "");
        EXPECT_EQ(names.find(row.unit, 0x1'0007), "") << "numbers have 16 bits";
        ASSERT_NE(names.entries(row.unit), nullptr);
        EXPECT_EQ(names.entries(row.unit)->size(), 1U);
    }
    EXPECT_EQ(names.find(Unit::context, 7), "task");
    EXPECT_EQ(names.find(Unit::context, 0xFFFF), "last");
    EXPECT_EQ(names.find(Unit::context, 0x1'0007), "");
    EXPECT_EQ(names.find(Unit::context, 8), "");
    EXPECT_EQ(names.tasks().size(), 2U);
}

TEST(Names, OfAUnitThatNamesNothingAreIgnored) {
    Names names;
    for (const Unit unit : {Unit::none, Unit::number, Unit::nanoseconds, static_cast<Unit>(255)}) {
        names.set(unit, 7, "nothing");
        EXPECT_EQ(names.find(unit, 7), "");
        EXPECT_EQ(names.entries(unit), nullptr);
    }
    EXPECT_EQ(names.entries(Unit::context), nullptr) << "tasks have more than a name";
}

TEST(Names, OfATaskComeWithWhatElseIsKnownOfIt) {
    Names names;
    EXPECT_EQ(names.task(3), nullptr);
    names.set_pid(3, 1234);
    names.set_parameters({.context = 3, .level = 2, .period_ns = 10});
    names.set(Unit::context, 3, "worker");
    const TaskNames* const task = names.task(3);
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(task->name, "worker");
    EXPECT_EQ(task->pid, 1234U);
    ASSERT_TRUE(task->parameters);
    EXPECT_EQ(task->parameters->period_ns, 10U);
}

// Every chunk that is being read has a copy.
TEST(Names, OfACopyAreItsOwn) {
    Names names;
    names.set(Unit::context, 3, "worker");
    names.set(Unit::mutex, 1, "bus");
    names.set_format(5, "first");
    Names copy = names;
    EXPECT_EQ(copy.version(), names.version());
    copy.set(Unit::context, 3, "other");
    copy.set(Unit::mutex, 1, "lock");
    copy.set_pid(3, 9);
    copy.set_format(5, "second");
    EXPECT_EQ(names.find(Unit::context, 3), "worker");
    EXPECT_EQ(names.find(Unit::mutex, 1), "bus");
    EXPECT_FALSE(names.task(3)->pid);
    EXPECT_EQ(names.formats().at(5), "first");
    EXPECT_EQ(copy.find(Unit::context, 3), "other");
    EXPECT_EQ(copy.formats().at(5), "second");
    Names moved = std::move(copy);
    EXPECT_EQ(moved.find(Unit::mutex, 1), "lock");
    EXPECT_EQ(Names().find(Unit::mutex, 1), "") << "what is empty is shared, too";
}

TEST(Names, HaveANewVersionWheneverTheyChange) {
    Names names;
    EXPECT_EQ(names.version(), 0U);
    names.set(Unit::mutex, 1, "a");
    const std::uint64_t first = names.version();
    EXPECT_NE(first, 0U);
    const Names copy = names;
    EXPECT_EQ(copy.version(), first);
    names.set(Unit::context, 1, "b");
    EXPECT_NE(names.version(), first);
    EXPECT_EQ(copy.version(), first);
    Names other;
    other.set(Unit::mutex, 1, "c");
    EXPECT_NE(other.version(), names.version());
    // Each chunk repeats them.
    const std::uint64_t latest = names.version();
    names.set(Unit::mutex, 1, "a");
    names.set(Unit::context, 1, "b");
    EXPECT_EQ(names.version(), latest);
    names.set_pid(1, 9);
    EXPECT_NE(names.version(), latest);
}

TEST(Names, HaveTheLatestDeclarationOfEachNumber) {
    Names names;
    EXPECT_EQ(names.declaration(1), nullptr);
    names.declare({.id = 1, .name = {std::string_view("one")}});
    const Names copy = names;
    const tracer::EventDeclaration* const first = names.declaration(1);
    ASSERT_NE(first, nullptr);
    names.declare({.id = 1, .name = {std::string_view("one")}});
    EXPECT_EQ(names.declaration(1), first) << "the same again is kept once";
    names.declare({.id = 1, .name = {std::string_view("two")}});
    EXPECT_EQ(names.declaration(1)->name.view(), "two");
    EXPECT_EQ(copy.declaration(1)->name.view(), "one");
    EXPECT_EQ(names.declaration(2), nullptr);
}

TEST(EventNames, AreThoseOfTheOtherSystemTheDeclarationOrTheTable) {
    Names names;
    names.declare({.id = 0x103, .name = {std::string_view("control")}});
    Event event;
    event.names = &names;
    EXPECT_EQ(event_name(event), "unknown");
    event.row = tracer::find_event("typed_event");
    event.code = event.row->code;
    EXPECT_EQ(event_name(event), "typed_event") << "no payload";
    const std::array<std::byte, 2> payload = {std::byte{3}, std::byte{1}};
    event.payload = payload;
    EXPECT_EQ(event_name(event), "control");
    event.payload = std::span(payload).first(1);
    EXPECT_EQ(event_name(event), "typed_event");
    event.payload = payload;
    event.state = EventState::malformed;
    EXPECT_EQ(event_name(event), "typed_event");
    event.foreign_name = "EVENT_1_OUT";
    EXPECT_EQ(event_name(event), "typed_event") << "a record has no other name";
    event.origin = Origin::tlog;
    EXPECT_EQ(event_name(event), "EVENT_1_OUT");
    event.foreign_name = {};
    EXPECT_EQ(event_name(event), "typed_event");
}

TEST(ForeignContexts, AreNumberedFromOneAsTheyCome) {
    ForeignContexts contexts;
    const auto first = contexts.of(700);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->context, 1U);
    EXPECT_TRUE(first->is_new);
    EXPECT_EQ(contexts.of(500)->context, 2U);
    EXPECT_EQ(contexts.of(700)->context, 1U);
    EXPECT_FALSE(contexts.of(700)->is_new);
    const auto [begin, end] = contexts.between(500, 600);
    ASSERT_EQ(std::distance(begin, end), 1);
    EXPECT_EQ(begin->second, 2U);
    for (std::uint64_t key = 1'000; key < 1'000 + 0xFFFD; ++key) {
        ASSERT_TRUE(contexts.of(key));
    }
    EXPECT_EQ(contexts.of(1'000 + 0xFFFC)->context, 0xFFFFU);
    EXPECT_FALSE(contexts.of(1));
    EXPECT_TRUE(contexts.of(500));
}

} // namespace

} // namespace host::trace
