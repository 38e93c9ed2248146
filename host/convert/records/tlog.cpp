// SPDX-License-Identifier: MIT
// tlog: what each processor did in blocks of 1024 bytes, START first, END last, in order of time; seconds since the
// start of the trace. arg1 is the low byte of the task's context (the event's own, else the task that runs), arg2 the
// event's other parameter. One event becomes one record; docs/tlog.md has the mapping.
//
// Pairs always nest: what is opened inside an interval that ends is closed with it, by a record more; an end without
// its begin becomes a single event of its family; what is open at the end is closed in front of END.
#include "host/convert/losses.hpp"
#include "host/convert/records/chain_spool.hpp"
#include "host/convert/rows.hpp"
#include "host/formats/tlog/native.hpp"
#include "host/formats/tlog/record.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace host::convert::records {

namespace {

namespace tlog = formats::tlog;

using tlog::Record;
using tlog::Role;

static_assert(ChainSpool::kBlockBytes == tlog::kBlockBytes);

// An event as tlog has it, before its place is known.
struct Mapped {
    Role role = Role::single;
    std::uint8_t type = 0;   // of the pair's half, or of the single event
    std::uint8_t single = 0; // what the half becomes if it is alone
    std::uint16_t key = 0;   // of the pair
    std::uint8_t arg1 = 0;
    std::uint32_t arg2 = 0;
};

bool is_context(const tracer::Parameter& parameter) {
    return parameter.unit == tracer::Unit::context;
}

// What an event of ours opens or closes.
struct Half {
    Role role = Role::single;
    std::uint8_t type = 0;
    bool keyed = false; // by par1
};

constexpr auto kHalves = [] {
    std::array<Half, 256> halves{};
    for (std::size_t i = 0; i < tlog::kNativePairs.size(); ++i) {
        const tlog::NativePair& pair = tlog::kNativePairs[i];
        const auto type = static_cast<std::uint8_t>(tlog::kFirstPair + 2 * i);
        const bool keyed = pair.key == tlog::PairKey::par1;
        halves[pair.enter] = {.role = Role::enter, .type = type, .keyed = keyed};
        halves[pair.leave] = {.role = Role::leave, .type = static_cast<std::uint8_t>(type + 1), .keyed = keyed};
    }
    return halves;
}();

// Of our events. running: the context that the processor runs.
Mapped map_native(const trace::Event& event, std::uint16_t running) {
    Mapped mapped{.type = tlog::single_type(event.code), .single = tlog::single_type(event.code)};
    const bool own_context = event.row != nullptr && is_context(event.row->par1);
    mapped.arg1 = static_cast<std::uint8_t>(own_context ? event.par1 : running);
    const bool par2_used = event.row == nullptr || event.row->par2.unit != tracer::Unit::none;
    mapped.arg2 = own_context || par2_used ? event.par2 : event.par1;
    if (!event.payload.empty()) {
        std::uint32_t word = 0;
        for (std::size_t i = 0; i < sizeof(word) && i < event.payload.size(); ++i) {
            word |= std::to_integer<std::uint32_t>(event.payload[i]) << (8 * i);
        }
        mapped.arg2 = word;
    }
    if (event.row == nullptr || !event.is_sound()) {
        mapped.type = tlog::kSingleOther;
        return mapped;
    }
    if (const Half& half = kHalves[event.code]; half.role != Role::single) {
        mapped.role = half.role;
        mapped.type = half.type;
        mapped.key = half.keyed ? event.par1 : std::uint16_t{0};
    }
    return mapped;
}

// The place of the older layout's types among those of the current one, in the order of its table.
constexpr std::array<std::uint8_t, 19> kFromOpenmp = {0,  2,  1,  31, 32, 10, 11, 12, 13, 14,
                                                      15, 16, 17, 18, 19, 33, 34, 35, 36};

// Of a tlog file: as it was, the older layout's types in those of the current one.
Mapped map_tlog(const trace::Event& event) {
    Mapped mapped{.type = tlog::kSingleOther, .single = tlog::kSingleOther};
    mapped.arg1 = static_cast<std::uint8_t>(event.words[0]);
    mapped.arg2 = event.words[1];
    if (event.foreign_name.empty() || event.number > 0xFF) {
        return mapped;
    }
    auto type = static_cast<std::uint8_t>(event.number);
    const bool older = tlog::kind_of(tlog::Table::openmp, type).name == event.foreign_name;
    const auto table = older || tlog::kind_of(tlog::Table::nine_pairs, type).name == event.foreign_name
                           ? tlog::Table::nine_pairs
                           : tlog::Table::fifteen_pairs;
    type = older ? kFromOpenmp[type] : type;
    mapped.type = type;
    mapped.role = tlog::kind_of(table, type).role;
    return mapped;
}

class Tlog final : public Writer {
  public:
    explicit Tlog(Destination& destination)
        : m_file(destination.file()) {}

    lib::Result<void, Failure> begin(const Survey* /*survey*/) override {
        auto spool = ChainSpool::create();
        if (!spool) {
            return Failure{failure_of(spool.error()).cause, "no temporary file can be made: see TMPDIR"};
        }
        m_spool = std::move(spool.value());
        return {};
    }

    void add(const trace::Event& event) override {
        m_untimed = m_untimed || !event.timed;
        Process& process = of(event.cpu);
        if (event.is_sound()) {
            const auto time_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(event.time_ns, 0));
            process.time_ns = std::max(process.time_ns, time_ns);
            m_end_ns = std::max(m_end_ns, process.time_ns);
        }
        if (event.origin == trace::Origin::tlog) {
            add_tlog(process, map_tlog(event));
            return;
        }
        start(process);
        process.lost += event.is(kGapCode) ? event.par2 : 0;
        if (event.origin == trace::Origin::kev && event.row == nullptr) {
            put(process, {.type = tlog::kSingleOther, .arg2 = event.words.empty() ? 0 : event.words.front()});
            return;
        }
        if (event.is(trace::kCodeOf<"context_switch">)) {
            process.running = event.par1;
        }
        put(process, map_native(event, process.running));
    }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override {
        if (m_untimed) {
            return Failure{Fault::unusable,
                           "tlog has seconds, but the rate of the trace's clock is not known: name it with --tsc-khz"};
        }
        if (m_processes.empty()) {
            of(0);
        }
        for (const auto& [cpu, losses] : unseen_losses(facts)) {
            add_unseen(of(cpu), losses);
        }
        std::vector<std::size_t> rows;
        for (auto& [cpu, process] : m_processes) {
            start(process);
            if (!process.end) {
                process.time_ns = m_end_ns;
            }
            close_down_to(process, 0);
            write(process, tlog::kEnd, process.end.value_or(Mapped{}));
            rows.push_back(process.row);
        }
        if (const auto copied = m_spool.copy_to(m_file, rows); !copied) {
            return failure_of(copied.error());
        }
        return {};
    }

  private:
    static constexpr std::size_t kDepthMax = 64;
    static constexpr std::uint8_t kGapCode = trace::kCodeOf<"blackout_end">;

    struct Process {
        std::uint16_t cpu = 0;
        std::size_t row = 0;
        std::uint64_t time_ns = 0; // never falls
        std::uint16_t running = 0; // context
        bool started = false;
        std::size_t depth = 0;
        std::array<Mapped, kDepthMax> open{};
        std::uint64_t lost = 0;    // records, as gaps record
        std::optional<Mapped> end; // of a tlog file: the END that may be the last
    };

    Process& of(std::uint16_t cpu) {
        const auto [place, added] = m_processes.try_emplace(cpu);
        if (added) {
            place->second.cpu = cpu;
            place->second.row = m_spool.add_row();
        }
        return place->second;
    }

    void start(Process& process) {
        if (!process.started) {
            process.started = true;
            write_at(process, tlog::kStart, {}, 0);
        }
    }

    void add_tlog(Process& process, const Mapped& mapped) {
        if (process.end) {
            put(process, {.type = tlog::kSingleOther, .arg1 = process.end->arg1, .arg2 = process.end->arg2});
            process.end.reset();
        }
        if (mapped.role == Role::start && !process.started) {
            process.started = true;
            write(process, tlog::kStart, mapped);
            return;
        }
        start(process);
        if (mapped.role == Role::end) {
            process.end = mapped;
        } else if (mapped.role == Role::start) {
            put(process, {.type = tlog::kSingleOther, .arg1 = mapped.arg1, .arg2 = mapped.arg2});
        } else {
            put(process, mapped);
        }
    }

    // A gap of its own, after the last event: that is where a reader notices at the latest.
    void add_unseen(Process& process, const Losses& losses) {
        const std::uint64_t lost = losses.without(process.lost);
        if (lost != 0) {
            start(process);
            write(process, tlog::single_type(kGapCode),
                  {.arg2 = static_cast<std::uint32_t>(std::min<std::uint64_t>(lost, ~std::uint32_t{0}))});
        }
    }

    void put(Process& process, const Mapped& mapped) {
        if (mapped.role == Role::enter && process.depth < kDepthMax) {
            process.open[process.depth++] = mapped;
            write(process, mapped.type, mapped);
            return;
        }
        if (mapped.role == Role::leave) {
            std::size_t depth = process.depth;
            while (depth > 0 && !(process.open[depth - 1].type == tlog::Kind::opener(mapped.type) &&
                                  process.open[depth - 1].key == mapped.key)) {
                --depth;
            }
            if (depth != 0) {
                close_down_to(process, depth);
                process.depth = depth - 1;
                write(process, mapped.type, mapped);
                return;
            }
        }
        write(process, mapped.role == Role::single ? mapped.type : mapped.single, mapped);
    }

    // Closes what is open deeper than `depth`.
    void close_down_to(Process& process, std::size_t depth) {
        while (process.depth > depth) {
            const Mapped& opened = process.open[--process.depth];
            write(process, static_cast<std::uint8_t>(opened.type + 1), opened);
        }
    }

    void write(const Process& process, std::uint8_t type, const Mapped& mapped) {
        write_at(process, type, mapped, process.time_ns);
    }

    void write_at(const Process& process, std::uint8_t type, const Mapped& mapped, std::uint64_t time_ns) {
        std::array<std::byte, tlog::kRecordBytes> bytes{};
        tlog::encode({process.cpu, type, mapped.arg1, mapped.arg2, static_cast<double>(time_ns) / 1e9}, bytes);
        m_spool.append(process.row, bytes);
    }

    OutputFile& m_file;
    ChainSpool m_spool;
    std::map<std::uint16_t, Process> m_processes;
    std::uint64_t m_end_ns = 0;
    bool m_untimed = false;
};

} // namespace

const FormatRow kTlogRow = {
    .name = "tlog",
    .suffix = ".log",
    .meaning = "tlog of the Omni compiler: 16-byte records in blocks per processor, for tlogview, tlogDump, tlogdump",
    .shape = Destination::Shape::file,
    .needs_survey = false,
    .make = make_writer<Tlog>,
};

} // namespace host::convert::records
