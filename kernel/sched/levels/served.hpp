// SPDX-License-Identifier: MIT
// ServedLevel has the polling and deferrable servers for aperiodic requests (kernel/sched/server.hpp). The first
// waiting request of a server with budget is a guest of the RM level, with the priority of the server's period; the
// others wait in the server's own queue, and so does the first one while the budget is used up. Sources: Lehoczky, Sha,
// Strosnider, "Enhanced aperiodic responsiveness in hard real-time environments" (1987).
//
//   every T from the server's creation:  c = Q        polling: and c = 0 at once when no request is there
//   c = 0:  nothing is served until the next period     deferrable: c is kept until then
//
// The budget belongs to the position in the queue: a mutex owner that runs in it uses it up. The first request lets the
// next one go first while it waits for something or is suspended; when it is resumed it is where it was.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/levels/hard_level.hpp"
#include "kernel/sched/levels/level_parts.hpp"
#include "kernel/sched/server.hpp"

#include <array>

namespace kernel {

class ServedLevel final : public Level {
  public:
    constexpr explicit ServedLevel(HardLevel& host)
        : m_host(host) {}

    [[nodiscard]] std::string_view name() const override { return "SERVED"; }

    [[nodiscard]] const Reservations* promises() const override { return m_host.promises(); }

    // Do what the functions of kernel/sched/server.hpp do.
    [[nodiscard]] lib::Result<ServerId> create_server(const ServerOptions& options, IrqOff);
    lib::Result<void> remove_server(ServerId id, IrqOff);
    [[nodiscard]] lib::Result<ServerInfo> info(ServerId id);

    [[nodiscard]] bool accepts(const TaskModel& model) const override;
    // not_found: the server does not exist.
    [[nodiscard]] lib::Result<void> guarantee(const TaskModel& model, IrqOff) override;
    void create(Task& task, IrqOff) override;
    [[nodiscard]] bool refuses_activation(const Task& task, IrqOff) const override;
    [[nodiscard]] lib::Result<void> activate(Task& task, lib::Ticks at, IrqOff) override;
    [[nodiscard]] JobEnd end_cycle(Task& task, IrqOff) override;
    [[nodiscard]] JobEnd sleep(Task& task, IrqOff) override;
    void block(Task& task, IrqOff) override;
    void unblock(Task& task, IrqOff) override;
    void end(Task& task, IrqOff) override;

    void suspended(Task& task, IrqOff) override;
    void resumed(Task& task, IrqOff) override;

    [[nodiscard]] std::uint64_t preemption_level(const Task& task, IrqOff) const override;

    [[nodiscard]] std::uint16_t queue_index() const override { return m_host.index(); }

    void slot_begin(Task& task, IrqOff) override;
    void slot_end(Task& task, lib::Ticks elapsed, IrqOff) override;

  private:
    struct Server {
        std::uint16_t id = 0; // 0: no such server
        ServerKind kind = ServerKind::polling;
        std::uint16_t tasks = 0;
        lib::Ticks budget; // Q
        lib::Nanoseconds period;
        lib::Ticks left;           // c
        lib::Ticks origin;         // of period 0
        lib::Ticks begun_at;       // of the slot
        std::uint64_t periods = 0; // of the next replenishment
        std::uint64_t exhausted = 0;
        Task* front = nullptr; // the task that is in the host's queue
        ReadyQueue waiting;    // key: order of arrival
        ServedLevel* level = nullptr;
    };

    static void on_activation(Task& task, IrqOff);
    static void on_replenishment(void* server);
    static void on_exhausted(Task& task, IrqOff);

    [[nodiscard]] Server* find(ServerId id);

    [[nodiscard]] Server& server(const Task& task) { return m_servers[m_server_of[task.pid.value]]; }

    [[nodiscard]] std::size_t slot_of(const Server& server) const {
        return static_cast<std::size_t>(&server - m_servers.data());
    }

    [[nodiscard]] static lib::Ticks next_replenishment(const Server& server);

    void replenish(Server& server, IrqOff);
    void wake(Task& task, IrqOff);
    void begin_job(Task& task, lib::Ticks at, IrqOff);
    void finish_job(Task& task, IrqOff);
    void arrive(Task& task, IrqOff);
    void leave(Task& task, IrqOff);
    // Returns the first request that is not suspended, or null.
    [[nodiscard]] static Task* first_waiting(Server& server, IrqOff);
    void serve_first(Server& server, IrqOff);
    void forfeit_if_polling(Server& server);
    void charge(Task& task, IrqOff);

    // Lets the front request wait again, at its rank.
    void step_back(Server& server, IrqOff);

    HardLevel& m_host;
    std::array<Server, kServersMax> m_servers{};
    std::array<std::size_t, kTasksMax> m_server_of{}; // by pid
    std::array<std::uint64_t, kTasksMax> m_rank{};    // by pid: order of arrival
    std::uint64_t m_last_rank = 0;
    SavedArrivals m_saved;
};

// Sets the level that the functions of kernel/sched/server.hpp ask. Context: irq-off, before run().
void use_served_level(ServedLevel& level);

} // namespace kernel
