// SPDX-License-Identifier: MIT
// Converts between Manifest and JSON text. Numbers that may exceed 2^53 in practice (boot id) are hexadecimal strings,
// because many JSON readers keep numbers as doubles.
#include "host/formats/dat/manifest.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/json.hpp"
#include "host/trace/kernel_image.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <set>
#include <simdjson.h>
#include <utility>

namespace host::formats::dat {

using trace::Json;

namespace {

constexpr std::string_view kFormat = "remora-session";

Json number_or_null(const std::optional<std::uint64_t>& number) {
    return number ? Json(*number) : Json();
}

Json gap_to_json(const ManifestGap& gap) {
    return {{"offset", gap.offset},
            {"slots", gap.slots},
            {"first_packet", gap.first_packet},
            {"packets", gap.packets},
            {"tsc_before", number_or_null(gap.tsc_before)},
            {"tsc_after", number_or_null(gap.tsc_after)}};
}

Json chunk_to_json(const ManifestChunk& chunk) {
    Json json;
    json["file"] = chunk.file;
    json["described"] = chunk.described;
    if (chunk.described) {
        json["chunk"] = chunk.description.chunk;
        json["cpu"] = chunk.description.cpu;
        json["generation"] = chunk.description.generation;
        json["mode"] = chunk_mode_name(chunk.description.mode);
        json["flags"] = chunk.description.mode;
        json["dropped"] = chunk.description.dropped;
        json["refused"] = chunk.description.refused;
        json["overwritten"] = chunk.description.overwritten;
        json["announced_records"] = chunk.description.records;
        json["encoding"] = encoding_name(chunk.description);
        json["events"] = chunk.description.events;
    }
    json["bytes"] = chunk.bytes;
    json["preamble"] = chunk.preamble;
    json["records"] = chunk.records;
    json["missing"] = chunk.missing;
    json["first_tsc"] = number_or_null(chunk.first_tsc);
    json["last_tsc"] = number_or_null(chunk.last_tsc);
    json["crc32c"] = fmt::format("{:08x}", chunk.crc32c);
    json["gaps"] = Json::array();
    for (const ManifestGap& gap : chunk.gaps) {
        json["gaps"].push_back(gap_to_json(gap));
    }
    return json;
}

constexpr auto kTransferNumbers = std::to_array<std::pair<const char*, std::uint64_t ManifestTransfer::*>>({
    {"packets", &ManifestTransfer::packets},
    {"lost", &ManifestTransfer::lost},
    {"late", &ManifestTransfer::late},
    {"duplicate", &ManifestTransfer::duplicate},
    {"reordered", &ManifestTransfer::reordered},
    {"malformed", &ManifestTransfer::malformed},
    {"other_senders", &ManifestTransfer::other_senders},
    {"socket_overflow", &ManifestTransfer::socket_overflow},
    {"stray_records", &ManifestTransfer::stray_records},
    {"records", &ManifestTransfer::records},
});

Json transfer_to_json(const ManifestTransfer& transfer) {
    Json json;
    for (const auto& [name, number] : kTransferNumbers) {
        json[name] = transfer.*number;
    }
    json["conflicts"] = transfer.conflicts;
    return json;
}

// Reads the text from its beginning to its end without building a tree, because a session may have many thousands of
// chunks. Errors are thrown as simdjson's error, or as Refusal. If a key occurs twice, the first counts.
class ManifestReader {
  public:
    explicit ManifestReader(simdjson::padded_string_view text)
        : m_text(text) {}

    [[nodiscard]] lib::Result<Manifest, trace::Refusal> read() {
        const simdjson::error_code whole = check_whole();
        if (const simdjson::error_code error = m_parser.iterate(m_text).get(m_document); error != simdjson::SUCCESS) {
            return trace::Refusal{fmt::format("parse error: {}", simdjson::error_message(error))};
        }
        try {
            Object object = m_document.get_object();
            Manifest manifest = take_manifest(object);
            if (whole !=
                simdjson::SUCCESS) { // the error is in a part that was skipped or after the end: no place can be named
                return trace::Refusal{fmt::format("parse error: {}", simdjson::error_message(whole))};
            }
            return manifest;
        } catch (const simdjson::simdjson_error& error) {
            return trace::Refusal{text_of(error.error())};
        } catch (trace::Refusal& refusal) {
            return std::move(refusal);
        }
    }

  private:
    using Object = simdjson::ondemand::object;
    using Value = simdjson::ondemand::value;
    using Found = simdjson::simdjson_result<Value>;

    // Returns whether an optional key is present. The value is taken at once in any case.
    [[nodiscard]] bool has(Object& object, std::string_view key, Found& found) {
        m_key = key;
        found = object.find_field_unordered(key);
        return found.error() != simdjson::NO_SUCH_FIELD;
    }

    [[nodiscard]] Value at(Object& object, std::string_view key) {
        m_key = key;
        return object.find_field_unordered(key).value();
    }

    template <std::unsigned_integral Number>
    static void take(Value value, Number& number) {
        const std::uint64_t read = value.get_uint64();
        if (read > std::numeric_limits<Number>::max()) {
            throw simdjson::simdjson_error(simdjson::NUMBER_OUT_OF_RANGE);
        }
        number = static_cast<Number>(read);
    }

    static void take(Value value, bool& flag) { flag = value.get_bool(); }

    static void take(Value value, std::string& text) { text = value.get_string().value(); }

    static void take(Value value, std::optional<std::uint64_t>& number) {
        number = value.is_null().value() ? std::nullopt : std::optional(value.get_uint64().value());
    }

    template <typename Into>
    void take(Object& object, std::string_view key, Into& into) {
        take(at(object, key), into);
    }

    // Leaves the number unchanged if the key is missing, as in older manifests.
    void take_later(Object& object, std::string_view key, std::uint64_t& number) {
        if (Found found; has(object, key, found)) {
            take(found.value(), number);
        }
    }

    [[nodiscard]] std::string_view text(Object& object, std::string_view key) { return at(object, key).get_string(); }

    // Returns 0 if the value is not a number.
    [[nodiscard]] static std::uint64_t hex(Value number) {
        const std::string_view text = number.get_string();
        return text::number_of<std::uint64_t>(text, 16).value_or(0);
    }

    // Returns the enumerator of that name, or the first one (unknown) if none has it.
    template <typename Enum>
    [[nodiscard]] Enum named(Object& object, std::string_view key, std::string_view (*name_of)(Enum), int enumerators) {
        const std::string_view name = text(object, key);
        for (int i = 0; i < enumerators; ++i) {
            if (name_of(static_cast<Enum>(i)) == name) {
                return static_cast<Enum>(i);
            }
        }
        return Enum{};
    }

    // Returns nothing for null.
    [[nodiscard]] std::optional<Object> object_or_null(Value value) {
        return value.is_null().value() ? std::nullopt : std::optional(value.get_object().value());
    }

    [[nodiscard]] std::string text_of(simdjson::error_code error);
    [[nodiscard]] simdjson::error_code check_whole() const;
    [[nodiscard]] Manifest take_manifest(Object& object);
    [[nodiscard]] ManifestChunk take_chunk(Object row);
    void take_description(Object& row, tracer::ChunkBegin& description);
    [[nodiscard]] ManifestGap take_gap(Object object);
    void take_transfer(Object object, ManifestTransfer& transfer);

    simdjson::padded_string_view m_text;
    simdjson::ondemand::parser m_parser;
    simdjson::ondemand::document m_document;
    std::string_view m_key; // the key that was asked for last
};

// Checks the parts that no key asked for: they are skipped by their brackets alone. This is a function of its own
// because its tree is large.
simdjson::error_code ManifestReader::check_whole() const {
    simdjson::dom::parser parser;
    return parser.parse(m_text.data(), m_text.size(), false).error();
}

std::string ManifestReader::text_of(simdjson::error_code error) {
    if (error == simdjson::NO_SUCH_FIELD) {
        return fmt::format("key '{}' not found", m_key);
    }
    if ((error == simdjson::INCORRECT_TYPE && !m_key.empty()) || error == simdjson::NUMBER_OUT_OF_RANGE) {
        return fmt::format("key '{}': {}", m_key, simdjson::error_message(error));
    }
    const char* place = nullptr;
    if (m_document.current_location().get(place) != simdjson::SUCCESS) {
        return fmt::format("parse error: {}", simdjson::error_message(error));
    }
    const std::string_view before(m_text.data(), static_cast<std::size_t>(place - m_text.data()));
    return fmt::format("parse error in line {}: {}", 1 + std::ranges::count(before, '\n'),
                       simdjson::error_message(error));
}

void take_encoding(std::string_view text, tracer::ChunkBegin& description) {
    constexpr std::string_view kCompact = "compact ";
    const auto* const row =
        std::ranges::find(tracer::compact::kLayoutRows, text.substr(std::min(kCompact.size(), text.size())),
                          &tracer::compact::LayoutRow::name);
    if (text.starts_with(kCompact) && row != tracer::compact::kLayoutRows.end()) {
        description.encoding = tracer::Encoding::compact;
        description.layout = static_cast<std::uint8_t>(row->layout);
    }
}

ManifestGap ManifestReader::take_gap(Object object) {
    ManifestGap gap;
    take(object, "offset", gap.offset);
    take(object, "slots", gap.slots);
    take(object, "first_packet", gap.first_packet);
    take(object, "packets", gap.packets);
    take(object, "tsc_before", gap.tsc_before);
    take(object, "tsc_after", gap.tsc_after);
    return gap;
}

void ManifestReader::take_description(Object& row, tracer::ChunkBegin& description) {
    take(row, "chunk", description.chunk);
    take(row, "cpu", description.cpu);
    take(row, "generation", description.generation);
    take(row, "flags", description.mode);
    take(row, "dropped", description.dropped);
    take(row, "refused", description.refused);
    take(row, "overwritten", description.overwritten);
    take(row, "announced_records", description.records);
    if (Found encoding; has(row, "encoding", encoding)) { // absent in manifests from before compact chunks
        take_encoding(encoding.get_string(), description);
        take(row, "events", description.events);
    }
}

// A manifest that lists one file thousands of times would have it read as often.
void refuse_repeated(const std::vector<ManifestChunk>& chunks) {
    std::set<std::string_view> files;
    for (const ManifestChunk& chunk : chunks) {
        if (!files.insert(chunk.file).second) {
            throw trace::Refusal{fmt::format("the file {} is listed twice", chunk.file)};
        }
    }
}

ManifestChunk ManifestReader::take_chunk(Object row) {
    ManifestChunk chunk;
    take(row, "file", chunk.file);
    if (!is_chunk_file_name(chunk.file)) {
        throw trace::Refusal{fmt::format("file name \"{}\" is not of the form Ntrace.dat", text::escaped(chunk.file))};
    }
    take(row, "described", chunk.described);
    if (chunk.described) {
        take_description(row, chunk.description);
    }
    take(row, "bytes", chunk.bytes);
    take(row, "preamble", chunk.preamble);
    take(row, "records", chunk.records);
    take(row, "missing", chunk.missing);
    take(row, "first_tsc", chunk.first_tsc);
    take(row, "last_tsc", chunk.last_tsc);
    chunk.crc32c = static_cast<std::uint32_t>(hex(at(row, "crc32c")));
    if (Found gaps; has(row, "gaps", gaps)) { // absent in manifests from before the places of lost packets were kept
        for (auto gap : gaps.get_array()) {
            chunk.gaps.push_back(take_gap(gap.get_object()));
        }
    }
    return chunk;
}

void ManifestReader::take_transfer(Object object, ManifestTransfer& transfer) {
    for (const auto& [name, number] : kTransferNumbers) {
        take(object, name, transfer.*number);
    }
    take_later(object, "conflicts", transfer.conflicts);
}

Manifest ManifestReader::take_manifest(Object& object) {
    if (text(object, "format") != kFormat) {
        throw trace::Refusal{"it is not a session's manifest"};
    }
    Manifest manifest;
    take(object, "version", manifest.version);
    if (manifest.version > kManifestVersion) {
        throw trace::Refusal{"it was written by a newer version"};
    }
    take(object, "origin", manifest.origin);
    take(object, "complete", manifest.complete);
    take(object, "reason", manifest.reason);
    Object clock = at(object, "clock").get_object();
    take(clock, "tsc_khz", manifest.tsc_khz);
    manifest.tsc_source = named<tracer::TscSource>(clock, "source", tsc_source_name, 5);
    take(clock, "error_ppm", manifest.tsc_error_ppm);
    manifest.clock_mode = named<tracer::ClockMode>(clock, "mode", clock_mode_name, 4);
    manifest.boot_id = hex(at(object, "boot_id"));
    take_later(object, "started", manifest.started_s);
    if (auto build = object_or_null(at(object, "build"))) {
        tracer::Build& into = manifest.build.emplace();
        into.kernel = tracer::Name(text(*build, "kernel"));
        into.compiler = tracer::Name(text(*build, "compiler"));
        into.application = tracer::Name(text(*build, "application"));
        take(*build, "seed", into.seed);
        if (Found image; has(*build, "image", image)) {
            into.image_id = hex(image.value());
        }
    }
    if (auto end = object_or_null(at(object, "announced"))) {
        tracer::ExportEnd& into = manifest.announced.emplace();
        take(*end, "chunks", into.chunks);
        into.result = named<tracer::RunResult>(*end, "result", run_result_name, 4);
        take(*end, "records", into.records);
        take(*end, "dropped", into.dropped);
        take(*end, "refused", into.refused);
        take(*end, "overwritten", into.overwritten);
        take_later(*end, "committed", into.committed);
        take_later(*end, "tracer_made", into.tracer_made);
    }
    if (auto transfer = object_or_null(at(object, "transfer"))) {
        take_transfer(*transfer, manifest.transfer.emplace());
    }
    if (Found found; has(object, "formats", found)) {
        if (auto formats = object_or_null(found.value())) {
            ManifestFormats& into = manifest.formats.emplace();
            into.image_id = hex(at(*formats, "image"));
            into.crc32c = static_cast<std::uint32_t>(hex(at(*formats, "crc32c")));
        }
    }
    for (auto row : at(object, "chunks").get_array()) {
        manifest.chunks.push_back(take_chunk(row.get_object()));
    }
    refuse_repeated(manifest.chunks);
    return manifest;
}

} // namespace

std::string to_json_text(const Manifest& manifest) {
    Json json;
    json["format"] = kFormat;
    json["version"] = manifest.version;
    json["origin"] = manifest.origin;
    json["complete"] = manifest.complete;
    json["reason"] = manifest.reason;
    json["clock"] = {{"tsc_khz", manifest.tsc_khz},
                     {"source", tsc_source_name(manifest.tsc_source)},
                     {"error_ppm", manifest.tsc_error_ppm},
                     {"mode", clock_mode_name(manifest.clock_mode)}};
    json["boot_id"] = fmt::format("{:016x}", manifest.boot_id);
    json["started"] = manifest.started_s;
    json["build"] = nullptr;
    if (manifest.build) {
        json["build"] = {{"kernel", manifest.build->kernel.view()},
                         {"compiler", manifest.build->compiler.view()},
                         {"application", manifest.build->application.view()},
                         {"seed", manifest.build->seed},
                         {"image", fmt::format("{:016x}", manifest.build->image_id)}};
    }
    json["announced"] = nullptr;
    if (manifest.announced) {
        json["announced"] = {
            {"chunks", manifest.announced->chunks},       {"result", run_result_name(manifest.announced->result)},
            {"records", manifest.announced->records},     {"dropped", manifest.announced->dropped},
            {"refused", manifest.announced->refused},     {"overwritten", manifest.announced->overwritten},
            {"committed", manifest.announced->committed}, {"tracer_made", manifest.announced->tracer_made}};
    }
    json["transfer"] = manifest.transfer ? transfer_to_json(*manifest.transfer) : Json();
    json["formats"] = nullptr;
    if (manifest.formats) {
        json["formats"] = {{"file", trace::kFormatsName},
                           {"image", fmt::format("{:016x}", manifest.formats->image_id)},
                           {"crc32c", fmt::format("{:08x}", manifest.formats->crc32c)}};
    }
    json["chunks"] = Json::array();
    for (const ManifestChunk& chunk : manifest.chunks) {
        json["chunks"].push_back(chunk_to_json(chunk));
    }
    // Names come from the network: JSON escapes control characters, and invalid UTF-8 is replaced.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

lib::Result<Manifest, trace::Refusal> parse_manifest(std::string text_untrusted) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF"; // some editors insert it
    if (text_untrusted.starts_with(kByteOrderMark)) {
        text_untrusted.erase(0, kByteOrderMark.size());
    }
    text_untrusted.reserve(text_untrusted.size() + simdjson::SIMDJSON_PADDING);
    return ManifestReader(simdjson::padded_string_view(text_untrusted)).read();
}

} // namespace host::formats::dat
