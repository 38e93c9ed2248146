// SPDX-License-Identifier: MIT
// The published interface to the one instance: checks arguments, takes the lock, translates results into 0, -1 and a
// reason. Rules about chunks are elsewhere.
#include "tracer/ftrace.hpp"

#include "tracer/ftrace_call.hpp"
#include "tracer/ftrace_statements.hpp"
#include "tracer/instance.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace {

using tracer::Chunk;
using tracer::instance;
using tracer::detail::Call;

constexpr const char* kWatchedText = "a trigger is set, and it cannot watch a chunk that is written compactly";

constexpr const char* kFlagsText =
    "CYC, JTN and STOP exclude each other; FULL and BUSY cannot be set, COMPR only at creation; a "
    "chunk written compactly is not CYC";

// FTrace_get_chunk_table() returns these.
constinit std::array<FTrace_Chunk, FTRACE_MAX_CHUNK> s_rows{};
constinit std::array<FTrace_Chunk_Ptr, FTRACE_MAX_CHUNK> s_pointers{};

const char* request_text(lib::Error error) {
    return error == lib::Error::invalid_argument ? kFlagsText
           : error == lib::Error::busy           ? "the chunk is being recorded into, or is queued already"
           : error == lib::Error::refused        ? "every open sink has it already"
                                                 : "the chunk cannot be queued";
}

// Returns the failure text of a chunk that is to be recorded into.
const char* start_refusal_text(lib::Error error) {
    return error == lib::Error::unsupported ? kWatchedText
           : error == lib::Error::busy      ? "the chunk is BUSY: it is queued for export"
                                            : "the chunk is not FREE";
}

const char* sink_text(lib::Error error) {
    return lib::error_name(error).data(); // a literal
}

// Returns a text, cut at the longest name that any sink accepts; the freestanding kernel has no strlen.
std::string_view view_of(const char* text) {
    constexpr std::size_t kTextMax = 255;
    std::size_t size = 0;
    while (size < kTextMax && text[size] != '\0') {
        ++size;
    }
    return {text, size};
}

bool wait_once() {
    const tracer::WaitHook& hook = instance().wait;
    if (hook.wait != nullptr) {
        return hook.wait(hook.context);
    }
    return instance().exporter.step() == tracer::StepResult::more;
}

// Locks again after unlock(), where a failure would leave a chunk BUSY: waits so that the holder of the lock can run.
// The lock stays taken forever only in a context that interrupted the holder permanently (a panic); begin_exit() then
// releases the chunk.
bool relock_patiently(Call& call) {
    constexpr int kLooksMax = 1000;
    for (int look = 0; look < kLooksMax; ++look) {
        if (call.relock()) {
            return true;
        }
        static_cast<void>(wait_once());
    }
    return false;
}

// States how a sink may refuse to be opened: the argument at fault, if there is one, and the failure text.
struct Refusal {
    lib::Error error;
    const char* argument;
    const char* text;
};

constexpr std::array kDiskRefusals = {
    Refusal{lib::Error::invalid_argument, "fname",
            "a number up to 255 precedes it in an 8.3 name: use at most 5 characters, then perhaps a dot and at most 3 "
            "more; letters, digits and $%'-_@~`!(){}^#&"},
    Refusal{lib::Error::refused, "fname", "files were written already"},
};

constexpr std::array kUdpRefusals = {
    Refusal{lib::Error::invalid_argument, nullptr,
            "l_ip and t_ip must be the addresses of two machines, written 192.168.1.10"},
    Refusal{lib::Error::refused, "flag", "the network has not been started: pass 1"},
    Refusal{lib::Error::exists, "t_ip", "a flow between other addresses is open, and a run has only one"},
    Refusal{lib::Error::unreachable, "t_ip", "no machine answers at this address"},
};

// Holds what the calls for one kind of sink need beside opening it.
struct SinkKind {
    const char* none; // the failure text of a kernel without such sinks
    tracer::SinkTime time;
    std::span<const Refusal> refusals;
};

constexpr SinkKind kDisk{"this kernel has no volume to write to", tracer::SinkTime::after_exit, kDiskRefusals};
constexpr SinkKind kUdp{"this kernel has no network", tracer::SinkTime::at_once, kUdpRefusals};

// Opens and attaches a sink. Opening takes time, so it does not hold the lock.
template <typename Open>
int attach_sink(Call& call, const SinkKind& kind, Open open) {
    if (instance().sinks == nullptr) {
        return call.fail(kind.none);
    }
    call.unlock();
    const lib::Result<tracer::ChunkSink*> sink = open(*instance().sinks);
    if (!sink) {
        const auto refusal = std::ranges::find(kind.refusals, sink.error(), &Refusal::error);
        return refusal != kind.refusals.end() ? call.fail(refusal->argument, 0, refusal->text)
                                              : call.fail(sink_text(sink.error()));
    }
    if (!call.relock()) {
        return -1;
    }
    return instance().exporter.attach(*sink.value(), kind.time) ? 0 : call.fail("two sinks are open");
}

// Chooses by which protocol the network gets the chunks of this run.
bool protocol_chosen(Call& call, int osd_flags) {
    using tracer::reliable::Protocol;
    constexpr auto kProtocols = std::to_array<Protocol>({Protocol::automatic, Protocol::v1, Protocol::v2});
    static_assert(FTRACE_OSD_AUTO == 0 && FTRACE_OSD_V1 == 1 && FTRACE_OSD_V2 == 2);
    if (osd_flags < 0 || static_cast<std::size_t>(osd_flags) >= kProtocols.size()) {
        call.fail("osd_flags", osd_flags, "use an FTRACE_OSD_* constant");
        return false;
    }
    if (instance().sinks == nullptr) {
        return true;
    }
    const auto chosen = instance().sinks->choose_protocol(kProtocols[static_cast<std::size_t>(osd_flags)]);
    if (!chosen) {
        call.fail("osd_flags", osd_flags,
                  chosen.error() == lib::Error::exists ? "a chunk of this run was sent by another protocol"
                                                       : "there is a key, and TRACER-V1.0 uses none");
    }
    return chosen.ok();
}

} // namespace

int FTrace_enable() {
    const Call call("FTrace_enable");
    if (!call.locked()) {
        return -1;
    }
    if (instance().control.enabled()) {
        return 0;
    }
    if (!instance().control.enter()) {
        return call.fail("no chunk is selected");
    }
    tracer::detail::state_enabled();
    return 0;
}

int FTrace_disable() {
    const Call call("FTrace_disable");
    if (!call.locked()) {
        return -1;
    }
    instance().control.disable();
    return 0;
}

int FTrace_chunk_create(int normal_size, int emergency_size, FTrace_flags flags) {
    const Call call("FTrace_chunk_create");
    if (!call.locked()) {
        return -1;
    }
    if (normal_size < static_cast<int>(tracer::kRecordBytes) || normal_size > static_cast<int>(tracer::kAreaBytesMax)) {
        return call.fail("normal_size", normal_size, "a chunk holds 16 bytes to 128 MiB");
    }
    if (emergency_size < 0 || emergency_size > static_cast<int>(tracer::kAreaBytesMax)) {
        return call.fail("emergency_size", emergency_size, "an emergency area holds 0 bytes to 128 MiB");
    }
    const auto chunk =
        instance().store.create(static_cast<std::uint32_t>(normal_size), static_cast<std::uint32_t>(emergency_size),
                                flags, instance().compact_layout);
    if (chunk) {
        return chunk.value()->number;
    }
    if (chunk.error() == lib::Error::no_space) {
        return call.fail("normal_size", normal_size, "256 chunks exist, or no gap of the arena is large enough");
    }
    if (chunk.error() == lib::Error::too_small) {
        return call.fail("normal_size", normal_size,
                         "a compact chunk of this layout must hold its map and the longest event");
    }
    return call.fail("flags", flags,
                     chunk.error() == lib::Error::unsupported
                         ? "a CYC chunk cannot be written compactly: compress it after recording"
                         : kFlagsText);
}

int FTrace_chunk_delete(int number) {
    const Call call("FTrace_chunk_delete");
    Chunk* const chunk = call.locked() ? call.find("number", number) : nullptr;
    if (chunk == nullptr) {
        return -1;
    }
    const auto removed = instance().store.remove(*chunk);
    if (removed) {
        return 0;
    }
    return call.fail("number", number,
                     removed.error() == lib::Error::busy ? "the chunk is BUSY"
                                                         : "the chunk is NODEL, current, or linked to the current one");
}

int FTrace_set_chunk_flags(int number, FTrace_flags flags) {
    const Call call("FTrace_set_chunk_flags");
    Chunk* const chunk = call.locked() ? call.find("number", number) : nullptr;
    if (chunk == nullptr) {
        return -1;
    }
    const auto set = instance().store.set_flags(*chunk, flags);
    if (set) {
        return 0;
    }
    return set.error() == lib::Error::invalid_argument
               ? call.fail("flags", flags, kFlagsText)
               : call.fail("flags", flags, "a chunk that is BUSY or being recorded into does not become FREE");
}

int FTrace_get_chunk_flags(int number, FTrace_flags* flags) {
    const Call call("FTrace_get_chunk_flags");
    const Chunk* const chunk = call.locked() ? call.find("number", number) : nullptr;
    if (chunk == nullptr) {
        return -1;
    }
    if (flags == nullptr) {
        return call.fail("flags", 0, "must point to the result");
    }
    *flags = instance().store.flags(*chunk);
    return 0;
}

int FTrace_actual_chunk_select(int number) {
    const Call call("FTrace_actual_chunk_select");
    Chunk* const chunk = call.locked() ? call.find("number", number) : nullptr;
    if (chunk == nullptr) {
        return -1;
    }
    const auto selected = instance().control.select(*chunk);
    return selected ? 0 : call.fail("number", number, start_refusal_text(selected.error()));
}

int FTrace_chunk_link(int chunk_A, int chunk_B) {
    const Call call("FTrace_chunk_link");
    Chunk* const from = call.locked() ? call.find("chunk_A", chunk_A) : nullptr;
    Chunk* const to = from != nullptr ? call.find("chunk_B", chunk_B) : nullptr;
    if (to == nullptr) {
        return -1;
    }
    const auto linked = instance().store.link(*from, *to);
    if (linked) {
        return 0;
    }
    return call.fail("chunk_B", chunk_B,
                     linked.error() == lib::Error::invalid_argument ? "a chunk cannot follow itself"
                                                                    : start_refusal_text(linked.error()));
}

int FTrace_get_first_chunk(FTrace_flags flags) {
    const Call call("FTrace_get_first_chunk");
    if (!call.locked()) {
        return -1;
    }
    const auto chunk = instance().store.first_with(flags);
    return chunk ? chunk.value()->number : call.fail("flags", flags, "no chunk has any of these flags");
}

FTrace_Chunk_Ptr* FTrace_get_chunk_table() {
    for (std::size_t i = 0; i < tracer::kChunksMax; ++i) {
        const Chunk& chunk = instance().store.slots()[i];
        s_rows[i] = {FTRACE_CHUNK_ID,  chunk.number,          instance().store.flags(chunk),
                     chunk.size_bytes, chunk.emergency_bytes, chunk.control.data};
        s_pointers[i] = chunk.exists ? &s_rows[i] : nullptr;
    }
    return s_pointers.data();
}

int FTrace_compress_chunk(int number, FTrace_flags new_flags) {
    Call call("FTrace_compress_chunk");
    Chunk* const chunk = call.locked() ? call.find("number", number) : nullptr;
    if (chunk == nullptr) {
        return -1;
    }
    const auto asked_for = static_cast<FTrace_flags>(new_flags & ~FTRACE_CHUNK_FLAG_COMPR);
    if ((asked_for & tracer::kModeMask) == tracer::kModeMask ||
        (asked_for & (tracer::kDerivedFlags | ~tracer::kValidFlags)) != 0) {
        return call.fail("new_flags", new_flags, kFlagsText);
    }
    tracer::ChunkCompressor& compressor = instance().compressor;
    if (const auto begun = compressor.begin(*chunk, instance().compact_layout); !begun) {
        return call.fail("number", number, tracer::compress_refusal_text(begun.error()));
    }
    call.unlock();
    const auto measured = compressor.measure();
    if (!relock_patiently(call)) {
        return -1;
    }
    const auto reserved = measured ? compressor.reserve() : measured;
    if (!reserved) {
        compressor.abandon();
        return measured ? call.fail("number", number, "no gap of the arena is large enough for the copy")
               : measured.error() == lib::Error::no_space
                   ? call.fail("number", number, "it would not become smaller")
                   : call.fail(
                         "number", number,
                         "a stamp in the chunk is less than the one before it; a compact stream cannot represent that");
    }
    call.unlock();
    const auto encoded = compressor.encode();
    if (!relock_patiently(call)) {
        return -1;
    }
    ASSERT(encoded.ok()); // the chunk is frozen: what was measured is what was encoded
    compressor.finish();
    const auto set = instance().store.set_flags(*chunk, asked_for);
    ASSERT(set.ok());
    return 0;
}

int FTrace_set_compact_layout(int layout) {
    const Call call("FTrace_set_compact_layout");
    if (!call.locked()) {
        return -1;
    }
    if (layout < 0 || layout >= static_cast<int>(tracer::compact::kLayouts)) {
        return call.fail("layout", layout, "use an FTRACE_LAYOUT_* constant, 0 to 10");
    }
    instance().compact_layout = static_cast<tracer::compact::Layout>(layout);
    return 0;
}

int FTrace_send_chunk(int number, int osd_flags, FTrace_flags new_flags) {
    Call call("FTrace_send_chunk");
    Chunk* const chunk = call.locked() ? call.find("number", number) : nullptr;
    if (chunk == nullptr || !protocol_chosen(call, osd_flags)) {
        return -1;
    }
    if (const auto queued = instance().exporter.request(*chunk, new_flags); !queued) {
        return call.fail("number", number, request_text(queued.error()));
    }
    call.unlock();
    auto outcome = instance().exporter.outcome(*chunk);
    while (!outcome && outcome.error() == lib::Error::busy) {
        if (!wait_once()) {
            return call.fail("number", number, "the sink makes no progress; the chunk stays BUSY");
        }
        outcome = instance().exporter.outcome(*chunk);
    }
    return outcome ? 0 : call.fail("number", number, sink_text(outcome.error()));
}

int FTrace_init_disk_writer(const char* fname, int, const char*, const char*) {
    Call call("FTrace_init_disk_writer");
    if (!call.locked()) {
        return -1;
    }
    if (fname == nullptr || *fname == '\0') {
        return call.fail("fname", 0, "a file needs a name");
    }
    return attach_sink(call, kDisk, [fname](tracer::SinkProvider& sinks) { return sinks.open_disk(view_of(fname)); });
}

void FTrace_disk_writer(FTrace_Chunk_Ptr c) {
    const Call call("FTrace_disk_writer");
    if (!call.locked()) {
        return;
    }
    if (c == nullptr) {
        call.fail("c", 0, "must point to an entry of the chunk table");
        return;
    }
    Chunk* const chunk = call.find("c->number", static_cast<int>(c->number));
    if (chunk == nullptr) {
        return;
    }
    if (const auto queued = instance().exporter.request_deferred(*chunk, chunk->flags); !queued) {
        call.fail("c->number", c->number, request_text(queued.error()));
    }
}

int FTrace_OSD_init_udp(int flag, const char* l_ip, const char* t_ip) {
    Call call("FTrace_OSD_init_udp");
    if (!call.locked()) {
        return -1;
    }
    if (l_ip == nullptr || t_ip == nullptr) {
        return call.fail(l_ip == nullptr ? "l_ip" : "t_ip", 0, "an address is needed");
    }
    return attach_sink(call, kUdp, [=](tracer::SinkProvider& sinks) {
        return sinks.open_udp(flag == 1, view_of(l_ip), view_of(t_ip));
    });
}

void FTrace_set_filter(BYTE family, int status) {
    const Call call("FTrace_set_filter");
    if (!call.locked()) {
        return;
    }
    if (status != 0 && status != 1) {
        call.fail("status", status, "1 suppresses the family, 0 lets it pass");
        return;
    }
    if (!instance().control.set_filter(family, status == 1)) {
        call.fail("family", family, "use an FTrace_filter_* constant");
        return;
    }
    tracer::detail::state_filter(family);
}

FTrace_Error FTrace_last_error() {
    const tracer::LastError& error = instance().last_error;
    return {error.function, error.argument, error.value, error.text};
}

namespace tracer::detail {

void refuse_record() {
    add_shared(instance().cpu.refused_bytes, kRecordBytes);
    instance().last_error = {"TRACER_LOGEVENT", "type", 0, "events of this type are not logged by applications"};
}

void request_next_chunk() {
    if (!instance().control.close_active()) {
        instance().last_error = {"TRACER_LOGEVENT", "type", kNextChunkCode, "there is no next chunk"};
    }
}

} // namespace tracer::detail
