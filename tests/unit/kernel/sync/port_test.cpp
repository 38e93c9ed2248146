// SPDX-License-Identifier: MIT
// Tests message ports: order of messages, order of waiters, limits, ends; and a long random run against a plain queue.
#include "kernel/sync/port.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

namespace port_test {

using namespace hosted;
using kernel::port_init;

constinit kernel::Port s_port;
constinit std::byte s_storage[2 * sizeof(int) + 3]{}; // two messages, and a rest that is not used

std::span<const std::byte> out(const int& value) {
    return std::as_bytes(std::span(&value, 1));
}

std::span<std::byte> in(int& value) {
    return std::as_writable_bytes(std::span(&value, 1));
}

void send(int value) {
    must(kernel::port_send(s_port, out(value)));
}

void init() {
    must(port_init(s_port, "port", s_storage, sizeof(int)));
}

void receiver(void* name) {
    int value = -1;
    must(kernel::port_receive(s_port, in(value)));
    note(static_cast<const char*>(name) + std::to_string(value));
}

void start_receiver(const char* name, const kernel::TaskModel& model) {
    start(name, &receiver, model, const_cast<char*>(name));
}

TEST(Port, RefusesWrongUse) {
    EXPECT_EQ(hosted::run([] {
                  int value = 7;
                  note_result("send before init", kernel::port_send(s_port, out(value)));
                  note_result("nothing before init", kernel::port_trysend(s_port, out(value).first(0)));
                  note_result("no size", port_init(s_port, "port", s_storage, 0));
                  note_result("no room", port_init(s_port, "port", std::span(s_storage).first(3), sizeof(int)));
                  init();
                  note(std::to_string(s_port.capacity()));
                  note_result("again", port_init(s_port, "port", s_storage, sizeof(int)));
                  note_result("short", kernel::port_send(s_port, out(value).first(3)));
                  note_result("short try", kernel::port_trysend(s_port, out(value).first(3)));
                  note_result("short in", kernel::port_receive(s_port, in(value).first(3)));
                  note_result("short try in", kernel::port_tryreceive(s_port, in(value).first(3)));
                  note(std::to_string(s_port.size()) + std::to_string(value));
              }),
              "send before init: invalid argument | nothing before init: invalid argument | no size: invalid argument "
              "| no room: invalid argument | 2 | "
              "again: already exists | short: invalid argument | short try: invalid argument | "
              "short in: invalid argument | short try in: invalid argument | 07");
}

TEST(Port, KeepsMessagesInOrderAndSaysWhenItIsFullOrEmpty) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  int value = -1;
                  note_result("empty", kernel::port_tryreceive(s_port, in(value)));
                  send(1);
                  send(2);
                  value = 3;
                  note_result("full", kernel::port_trysend(s_port, out(value)));
                  note_result("full, no time", kernel::port_timedsend(s_port, out(value), {}));
                  for (int i = 0; i < 2; ++i) {
                      must(kernel::port_receive(s_port, in(value)));
                      note(std::to_string(value));
                  }
                  note_result("empty, no time", kernel::port_timedreceive(s_port, in(value), {}));
              }),
              "empty: busy | full: busy | full, no time: busy | 1 | 2 | empty, no time: busy");
}

TEST(Port, MayHaveRoomForOneMessage) {
    EXPECT_EQ(hosted::run([] {
                  must(port_init(s_port, "port", std::span(s_storage).first(sizeof(int)), sizeof(int)));
                  int value = 4;
                  for (int i = 0; i < 2; ++i) {
                      note_result("sent", kernel::port_trysend(s_port, out(value)));
                  }
                  must(kernel::port_receive(s_port, in(value)));
                  note(std::to_string(value));
              }),
              "sent: ok | sent: busy | 4");
}

TEST(Port, GivesMessagesToTheMostUrgentReceiverFirst) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  start_receiver("far", hard(1, 100, 50));
                  start_receiver("near", hard(1, 100, 20, 1));
                  start_receiver("middle", hard(1, 100, 30, 2));
                  pause_until(3);
                  for (int i = 0; i < 3; ++i) {
                      send(i);
                  }
              }),
              "near0 | middle1 | far2");
}

TEST(Port, TakesTheMessageOfTheMostUrgentSenderFirst) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  send(1);
                  send(2);
                  start(
                      "far",
                      [](void*) {
                          send(50);
                          note("far sent");
                      },
                      hard(1, 100, 50));
                  start(
                      "near",
                      [](void*) {
                          send(20);
                          note("near sent");
                      },
                      hard(1, 100, 20, 1));
                  pause_until(2);
                  for (int i = 0; i < 4; ++i) {
                      int value = 0;
                      must(kernel::port_receive(s_port, in(value)));
                      note(std::to_string(value));
                  }
              }),
              "near sent | 1 | far sent | 2 | 20 | 50");
}

TEST(Port, HandsOverSoThatNoTaskOvertakes) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  start_receiver("W", kernel::NrtModel{});
                  pause_until(1);
                  send(5); // W is after main in the queue of its level
                  int value = 0;
                  note_result("overtake", kernel::port_tryreceive(s_port, in(value)));
                  pause_until(2);
              }),
              "overtake: busy | W5");
}

TEST(Port, GivesUpAtTheLimitAndLeavesNothing) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  int value = 9;
                  note_result("receive", kernel::port_timedreceive(s_port, in(value), ms(1)));
                  note(std::to_string(value));
                  send(1);
                  send(2);
                  value = 3;
                  note_result("send", kernel::port_timedsend(s_port, out(value), ms(1)));
                  hosted::stamp("now");
                  for (int i = 0; i < 2; ++i) {
                      must(kernel::port_receive(s_port, in(value)));
                      note(std::to_string(value));
                  }
                  note_result("then", kernel::port_tryreceive(s_port, in(value)));
                  start(
                      "late",
                      [](void*) {
                          int taken = 0;
                          note_result("in time", kernel::port_timedreceive(s_port, in(taken), ms(3)));
                          note(std::to_string(taken));
                      },
                      hard(1, 100, 20, 4));
                  pause_until(6);
                  send(8);
              }),
              "receive: timeout | 9 | send: timeout | now@1 | 1 | 2 | then: busy | in time: ok | 8");
}

TEST(Port, ForgetsWaitersThatAreKilled) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  const kernel::Pid dead = start("dead", &receiver, hard(1, 100, 20), const_cast<char*>("dead"));
                  start_receiver("alive", hard(1, 100, 50));
                  pause_until(1);
                  must(kernel::task_kill(dead));
                  send(1);
                  send(2);
                  send(3);
                  const kernel::Pid sender = start(
                      "sender", [](void*) { send(4); }, hard(1, 100, 20));
                  pause_until(2);
                  must(kernel::task_kill(sender));
                  int value = 0;
                  while (kernel::port_tryreceive(s_port, in(value)).ok()) {
                      note(std::to_string(value));
                  }
              }),
              "alive1 | 2 | 3");
}

TEST(Port, MayBeServedByATimerHandler) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  start_receiver("W", hard(1, 100, 20));
                  must(kernel::kern_event_post(
                      hosted::at(3),
                      [](void*) {
                          const int value = 6;
                          must(kernel::port_trysend(s_port, out(value)));
                      },
                      nullptr));
                  pause_until(10);
                  hosted::stamp("now");
              }),
              "W6 | now@10");
}

TEST(Port, AgreesWithAPlainQueueOverALongRandomRun) {
    EXPECT_EQ(hosted::run([] {
                  static std::byte storage[7 * sizeof(int)];
                  must(port_init(s_port, "port", storage, sizeof(int)));
                  std::mt19937 random(2026);
                  std::deque<int> model;
                  std::size_t refused = 0;
                  for (int i = 0; i < 100'000; ++i) {
                      if (random() % 2 == 0) {
                          const bool sent = kernel::port_trysend(s_port, out(i)).ok();
                          ASSERT(sent == (model.size() < 7));
                          if (sent) {
                              model.push_back(i);
                          }
                          refused += sent ? 0 : 1;
                      } else {
                          int value = -1;
                          const bool received = kernel::port_tryreceive(s_port, in(value)).ok();
                          ASSERT(received == !model.empty());
                          if (received) {
                              ASSERT(value == model.front());
                              model.pop_front();
                          }
                          refused += received ? 0 : 1;
                      }
                      ASSERT(s_port.size() == model.size());
                  }
                  note(refused > 1'000 ? "both ends met" : "hardly ever full");
              }),
              "both ends met");
}

TEST(Port, RunsOutOfNumbersAndSaysSo) {
    EXPECT_EQ(hosted::run([] {
                  static std::vector<kernel::Port> many(0x10000);
                  for (std::size_t i = 0; i < 0xFFFF; ++i) {
                      must(port_init(many[i], "p", s_storage, 1));
                  }
                  note_result("last", port_init(many[0xFFFF], "p", s_storage, 1));
                  note(std::to_string(many[0xFFFF].capacity()));
              }),
              "last: no space | 0");
}

} // namespace port_test
