// SPDX-License-Identifier: MIT
// tlog has a node for each task and each processor, in blocks of 1024 bytes, START first, END last, in order of time,
// with seconds since the start of the trace. The node of a task has a pair for each time that it runs, and the events
// that are about it or that it causes; the node of a processor has the handlers and what belongs to no task. One event
// becomes one record, a switch one on each node; docs/tlog.md has the mapping.
//
// Pairs always nest. When an interval ends, pairs that were opened inside it are closed by additional records; an end
// without its begin becomes a single event of its family; pairs that are open at the end are closed before END.
#include "convert/losses.hpp"
#include "convert/row_spool.hpp"
#include "convert/rows.hpp"
#include "convert/schedule_words.hpp"
#include "foreign/tlog/native.hpp"
#include "foreign/tlog/record.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace host::convert::records {

namespace {

namespace tlog = formats::tlog;

using tlog::Record;
using tlog::Role;

// An event in terms of tlog, whose node is not known yet.
struct Mapped {
    Role role = Role::single;
    std::uint8_t type = 0;   // of one half of a pair, or of a single event
    std::uint8_t single = 0; // the type of the half if it is alone
    std::uint16_t key = 0;   // of the pair
    std::uint8_t arg1 = 0;
    std::uint32_t arg2 = 0;
};

bool is_context(const tracer::Parameter& parameter) {
    return parameter.unit == tracer::Unit::context;
}

// States which pair one of our events opens or closes.
struct Half {
    Role role = Role::single;
    std::uint8_t type = 0;
    bool keyed = false; // the key is par1
};

constexpr auto kHalves = [] {
    std::array<Half, 256> halves{};
    halves.fill({}); // g++ 12 sets only the first ones to their defaults
    for (std::size_t i = 0; i < tlog::kNativePairs.size(); ++i) {
        const tlog::NativePair& pair = tlog::kNativePairs[i];
        const auto type = static_cast<std::uint8_t>(tlog::kFirstPair + 2 * i);
        const bool keyed = pair.key == tlog::PairKey::par1;
        halves[pair.enter] = {.role = Role::enter, .type = type, .keyed = keyed};
        halves[pair.leave] = {.role = Role::leave, .type = static_cast<std::uint8_t>(type + 1), .keyed = keyed};
    }
    return halves;
}();

constexpr auto kSingleTypes = [] {
    std::array<std::uint8_t, 256> types{};
    for (std::size_t code = 0; code < types.size(); ++code) {
        types[code] = tlog::single_type(static_cast<std::uint8_t>(code));
    }
    return types;
}();

// Maps one of our events.
Mapped map_native(const trace::Event& event) {
    Mapped mapped{.type = kSingleTypes[event.code], .single = kSingleTypes[event.code]};
    const bool own_context = event.row != nullptr && is_context(event.row->par1);
    mapped.arg1 = static_cast<std::uint8_t>(event.cpu);
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

// The types of the older layout, in the order of its table, become these types of the current one.
constexpr std::array<std::uint8_t, 19> kFromOpenmp = {0,  2,  1,  31, 32, 10, 11, 12, 13, 14,
                                                      15, 16, 17, 18, 19, 33, 34, 35, 36};

// Maps an event of a tlog file: unchanged, or from a type of the older layout to one of the current.
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
        auto spool = RowSpool::create();
        if (!spool) {
            return Failure{failure_of(spool.error()).cause, "no temporary file can be made: see TMPDIR"};
        }
        m_spool = std::move(spool.value());
        return {};
    }

    void add(const trace::Event& event) override {
        m_untimed = m_untimed || !event.timed;
        if (event.is_sound()) {
            m_now_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(event.time_ns, 0));
            m_end_ns = std::max(m_end_ns, m_now_ns);
        }
        if (event.origin == trace::Origin::tlog) {
            add_tlog(node(event.cpu), map_tlog(event));
            return;
        }
        bool switched = false;
        for (const Change& change : m_schedule.take(event)) {
            if (change.kind == Change::Kind::switched || change.kind == Change::Kind::gap) {
                stop(change.other, event.cpu, change.context);
            }
            if (change.kind == Change::Kind::switched) {
                run(change.context, event.cpu, change.other);
                switched = true;
            }
        }
        if (!switched) {
            add_native(event);
        }
    }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override {
        if (m_untimed) {
            return Failure{Fault::unusable,
                           "tlog has seconds, but the rate of the trace's clock is not known: name it with --tsc-khz"};
        }
        if (m_nodes.empty()) {
            of_processor(0);
        }
        for (const auto& [cpu, losses] : unseen_losses(facts)) {
            add_unseen(cpu, losses);
        }
        std::vector<std::size_t> rows;
        for (auto& [number, node] : m_nodes) {
            start(node);
            m_now_ns = node.end ? node.time_ns : m_end_ns;
            close_down_to(node, 0);
            write(node, tlog::kEnd, node.end.value_or(Mapped{}));
            rows.push_back(node.row);
        }
        static_assert(RowSpool::kBlockBytes % tlog::kBlockBytes == 0);
        const auto copied = m_spool.read(rows, [&](std::size_t, std::span<const std::byte> bytes) {
            m_file.append(bytes);
            m_file.append(std::vector<std::byte>((0 - bytes.size()) % tlog::kBlockBytes));
        });
        if (!copied) {
            return failure_of(copied.error());
        }
        return {};
    }

    // Warns about a node with more events than the original library can read, which aborts instead of checking.
    [[nodiscard]] std::string warning() const override {
        const auto records = [](const auto& entry) { return entry.second.records; };
        const auto longest = std::ranges::max_element(m_nodes, {}, records);
        return longest == m_nodes.end() || records(*longest) <= kReaderEvents
                   ? std::string()
                   : fmt::format("node {} has {} events, more than the {} that the original tlog library can read: "
                                 "record a shorter run or fewer families for it",
                                 longest->first, records(*longest), kReaderEvents);
    }

  private:
    static constexpr std::size_t kDepthMax = 64;
    static constexpr std::uint64_t kReaderEvents = 262'144;
    static constexpr std::uint8_t kGapCode = trace::kCodeOf<"blackout_end">;
    static constexpr std::uint32_t kProcessors = kContexts; // added to a processor's number

    struct Node {
        std::uint16_t number = 0;
        std::size_t row = 0;
        std::uint64_t time_ns = 0; // never falls
        Mapped begin{};            // START
        bool started = false;
        std::size_t depth = 0;
        std::array<Mapped, kDepthMax> open{};
        std::uint64_t records = 0;
        std::optional<Mapped> end; // for a tlog file: an END that may be the last record
    };

    Node& node(std::uint16_t number) {
        const auto [place, added] = m_nodes.try_emplace(number);
        if (added) {
            place->second.number = number;
            place->second.row = m_spool.add_row();
        }
        return place->second;
    }

    // Nodes are numbered in the order of their first use.
    Node& of(std::uint32_t owner) {
        Node*& place = m_owned[owner];
        if (place == nullptr) {
            const bool processor = owner >= kProcessors;
            place = &node(static_cast<std::uint16_t>(m_nodes.size()));
            place->begin = {.arg1 = processor, .arg2 = processor ? owner - kProcessors : owner};
            start(*place);
        }
        return *place;
    }

    Node& of_processor(std::uint16_t cpu) { return of(kProcessors + cpu); }

    void start(Node& node) {
        if (!node.started) {
            node.started = true;
            write_at(node, tlog::kStart, node.begin, 0);
        }
    }

    void run(std::uint32_t context, std::uint16_t cpu, std::uint32_t before) {
        stop(context, cpu, context); // it may run elsewhere if a record is missing
        put(of(context), {.role = Role::enter,
                          .type = tlog::kRunningIn,
                          .single = tlog::kSingleAttribute,
                          .arg1 = static_cast<std::uint8_t>(cpu),
                          .arg2 = before});
    }

    // Has no effect if no record shows that the task runs.
    void stop(std::uint32_t context, std::uint16_t cpu, std::uint32_t after) {
        if (context < kContexts && of(context).depth != 0) {
            put(of(context), {.role = Role::leave,
                              .type = tlog::kRunningOut,
                              .arg1 = static_cast<std::uint8_t>(cpu),
                              .arg2 = after});
        }
    }

    void add_native(const trace::Event& event) {
        if (event.is(kGapCode)) {
            m_lost[event.cpu] += event.par2;
        }
        Mapped mapped = map_native(event);
        if (event.origin == trace::Origin::kev && event.row == nullptr) {
            mapped.arg2 = event.words.empty() ? 0 : event.words.front();
        }
        const std::uint32_t task = mapped.role == Role::single ? task_of(event, m_schedule) : kUnknownContext;
        put(task < kContexts ? of(task) : of_processor(event.cpu), mapped);
    }

    void add_tlog(Node& node, const Mapped& mapped) {
        if (node.end) {
            put(node, {.type = tlog::kSingleOther, .arg1 = node.end->arg1, .arg2 = node.end->arg2});
            node.end.reset();
        }
        if (mapped.role == Role::start && !node.started) {
            node.started = true;
            write(node, tlog::kStart, mapped);
            return;
        }
        start(node);
        if (mapped.role == Role::end) {
            node.end = mapped;
            node.time_ns = std::max(node.time_ns, m_now_ns);
        } else if (mapped.role == Role::start) {
            put(node, {.type = tlog::kSingleOther, .arg1 = mapped.arg1, .arg2 = mapped.arg2});
        } else {
            put(node, mapped);
        }
    }

    // Adds a separate gap after the last event, where a reader notices it at the latest.
    void add_unseen(std::uint16_t cpu, const Losses& losses) {
        const std::uint64_t lost = losses.without(m_lost[cpu]);
        if (lost != 0) {
            write(of_processor(cpu), tlog::single_type(kGapCode),
                  {.arg1 = static_cast<std::uint8_t>(cpu),
                   .arg2 = static_cast<std::uint32_t>(std::min<std::uint64_t>(lost, ~std::uint32_t{0}))});
        }
    }

    void put(Node& node, const Mapped& mapped) {
        if (mapped.role == Role::enter && node.depth < kDepthMax) {
            node.open[node.depth++] = mapped;
            write(node, mapped.type, mapped);
            return;
        }
        if (mapped.role == Role::leave) {
            std::size_t depth = node.depth;
            while (depth > 0 && !(node.open[depth - 1].type == tlog::Kind::opener(mapped.type) &&
                                  node.open[depth - 1].key == mapped.key)) {
                --depth;
            }
            if (depth != 0) {
                close_down_to(node, depth);
                node.depth = depth - 1;
                write(node, mapped.type, mapped);
                return;
            }
        }
        write(node, mapped.role == Role::single ? mapped.type : mapped.single, mapped);
    }

    // Closes the pairs that are open deeper than `depth`.
    void close_down_to(Node& node, std::size_t depth) {
        while (node.depth > depth) {
            const Mapped& opened = node.open[--node.depth];
            write(node, static_cast<std::uint8_t>(opened.type + 1), opened);
        }
    }

    void write(Node& node, std::uint8_t type, const Mapped& mapped) {
        node.time_ns = std::max(node.time_ns, m_now_ns);
        write_at(node, type, mapped, node.time_ns);
    }

    void write_at(Node& node, std::uint8_t type, const Mapped& mapped, std::uint64_t time_ns) {
        std::array<std::byte, tlog::kRecordBytes> bytes{};
        tlog::encode({node.number, type, mapped.arg1, mapped.arg2, static_cast<double>(time_ns) / 1e9}, bytes);
        m_spool.append(node.row, bytes);
        ++node.records;
    }

    OutputFile& m_file;
    RowSpool m_spool;
    Schedule m_schedule;
    std::map<std::uint16_t, Node> m_nodes;
    std::vector<Node*> m_owned = std::vector<Node*>(2 * kProcessors); // by context, or by processor from kProcessors
    std::map<std::uint16_t, std::uint64_t> m_lost;                    // records in gaps, by processor
    std::uint64_t m_now_ns = 0;                                       // of the latest sound event
    std::uint64_t m_end_ns = 0;                                       // the greatest time
    bool m_untimed = false;
};

} // namespace

const FormatRow kTlogRow = {
    .name = "tlog",
    .suffix = ".log",
    .meaning = "tlog of the Omni compiler: 16-byte records, a node per task, for tlogview, tlogDump, tlogdump",
    .shape = Destination::Shape::file,
    .needs_survey = false,
    .make = make_writer<Tlog>,
};

} // namespace host::convert::records
