// SPDX-License-Identifier: MIT
// Manifest <-> JSON text. Numbers that may exceed 2^53 in practice (boot id) are hexadecimal strings, because many JSON
// readers keep numbers as doubles.
#include "host/formats/dat/manifest.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/json.hpp"
#include "host/trace/kernel_image.hpp"

#include <array>
#include <charconv>
#include <exception>
#include <utility>

namespace host::formats::dat {

using trace::Json;

namespace {

constexpr std::string_view kFormat = "remora-session";

Json number_or_null(const std::optional<std::uint64_t>& number) {
    return number ? Json(*number) : Json();
}

std::optional<std::uint64_t> optional_number(const Json& json) {
    return json.is_null() ? std::nullopt : std::optional(json.get<std::uint64_t>());
}

Json gap_to_json(const ManifestGap& gap) {
    return {{"offset", gap.offset},
            {"slots", gap.slots},
            {"first_packet", gap.first_packet},
            {"packets", gap.packets},
            {"tsc_before", number_or_null(gap.tsc_before)},
            {"tsc_after", number_or_null(gap.tsc_after)}};
}

ManifestGap gap_from_json(const Json& json) {
    return {.offset = json.at("offset").get<std::uint64_t>(),
            .slots = json.at("slots").get<std::uint64_t>(),
            .first_packet = json.at("first_packet").get<std::uint64_t>(),
            .packets = json.at("packets").get<std::uint64_t>(),
            .tsc_before = optional_number(json.at("tsc_before")),
            .tsc_after = optional_number(json.at("tsc_after"))};
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

std::uint64_t from_hex(const Json& json) {
    const auto& text = json.get_ref<const std::string&>();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

// The enumerator that the JSON names; the first one (unknown) if none has that name.
template <typename Enum>
Enum from_name(const Json& json, std::string_view (*name_of)(Enum), int enumerators) {
    const auto& text = json.get_ref<const std::string&>();
    for (int i = 0; i < enumerators; ++i) {
        if (name_of(static_cast<Enum>(i)) == text) {
            return static_cast<Enum>(i);
        }
    }
    return Enum{};
}

void take_encoding(const std::string& text, tracer::ChunkBegin& description) {
    for (const tracer::compact::LayoutRow& row : tracer::compact::kLayoutRows) {
        description.encoding = tracer::Encoding::compact;
        description.layout = static_cast<std::uint8_t>(row.layout);
        if (encoding_name(description) == text) {
            return;
        }
    }
    description.encoding = tracer::Encoding::records;
    description.layout = 0;
}

ManifestChunk chunk_from_json(const Json& json) {
    ManifestChunk chunk;
    json.at("file").get_to(chunk.file);
    json.at("described").get_to(chunk.described);
    if (chunk.described) {
        json.at("chunk").get_to(chunk.description.chunk);
        json.at("cpu").get_to(chunk.description.cpu);
        json.at("generation").get_to(chunk.description.generation);
        json.at("flags").get_to(chunk.description.mode);
        json.at("dropped").get_to(chunk.description.dropped);
        json.at("refused").get_to(chunk.description.refused);
        json.at("overwritten").get_to(chunk.description.overwritten);
        json.at("announced_records").get_to(chunk.description.records);
        if (json.contains("encoding")) { // since chunks may be compact
            take_encoding(json.at("encoding").get_ref<const std::string&>(), chunk.description);
            json.at("events").get_to(chunk.description.events);
        }
    }
    json.at("bytes").get_to(chunk.bytes);
    json.at("preamble").get_to(chunk.preamble);
    json.at("records").get_to(chunk.records);
    json.at("missing").get_to(chunk.missing);
    chunk.first_tsc = optional_number(json.at("first_tsc"));
    chunk.last_tsc = optional_number(json.at("last_tsc"));
    chunk.crc32c = static_cast<std::uint32_t>(from_hex(json.at("crc32c")));
    if (json.contains("gaps")) { // since the places of lost packets are kept
        for (const Json& gap : json.at("gaps")) {
            chunk.gaps.push_back(gap_from_json(gap));
        }
    }
    return chunk;
}

ManifestTransfer transfer_from_json(const Json& json) {
    ManifestTransfer transfer;
    for (const auto& [name, number] : kTransferNumbers) {
        json.at(name).get_to(transfer.*number);
    }
    transfer.conflicts = json.value("conflicts", std::uint64_t{0}); // absent in older manifests
    return transfer;
}

// Takes the rows of the chunks out of the text while it is parsed. A session may have many thousands of them, and as
// JSON values each takes ten times its room.
class ChunkRows {
  public:
    // For Json::parse(): false for what is not to be kept.
    [[nodiscard]] bool keep(int depth, Json::parse_event_t event, const Json& parsed) {
        using Event = Json::parse_event_t;
        const bool is_list = event == Event::array_start || event == Event::array_end;
        if (depth == 1 && event == Event::key) {
            m_next_is_list = parsed == "chunks";
        } else if (depth == 1 && is_list) {
            m_in_list = m_next_is_list && event == Event::array_start;
            if (m_in_list) {
                m_chunks.clear(); // the last one counts
                m_error = nullptr;
            }
        } else if (depth == 2 && m_in_list && event != Event::object_start && event != Event::array_start &&
                   event != Event::key) {
            take(parsed);
            return false;
        }
        return true;
    }

    // Throws what was wrong with the first wrong row.
    [[nodiscard]] std::vector<ManifestChunk> chunks() {
        if (m_error) {
            std::rethrow_exception(m_error);
        }
        return std::move(m_chunks);
    }

  private:
    void take(const Json& row) {
        try {
            if (!m_error) {
                m_chunks.push_back(chunk_from_json(row));
            }
        } catch (const Json::exception&) {
            m_error = std::current_exception();
        }
    }

    bool m_next_is_list = false;
    bool m_in_list = false;
    std::vector<ManifestChunk> m_chunks;
    std::exception_ptr m_error;
};

Manifest manifest_from_json(const Json& json, ChunkRows& rows) {
    Manifest manifest;
    json.at("version").get_to(manifest.version);
    if (const auto formats = json.find("formats"); formats != json.end() && !formats->is_null()) {
        manifest.formats = ManifestFormats{from_hex(formats->at("image")),
                                           static_cast<std::uint32_t>(from_hex(formats->at("crc32c")))};
    }
    json.at("origin").get_to(manifest.origin);
    json.at("complete").get_to(manifest.complete);
    json.at("reason").get_to(manifest.reason);
    const Json& clock = json.at("clock");
    clock.at("tsc_khz").get_to(manifest.tsc_khz);
    clock.at("error_ppm").get_to(manifest.tsc_error_ppm);
    manifest.clock_mode = from_name<tracer::ClockMode>(clock.at("mode"), clock_mode_name, 4);
    manifest.tsc_source = from_name<tracer::TscSource>(clock.at("source"), tsc_source_name, 5);
    manifest.boot_id = from_hex(json.at("boot_id"));
    if (const Json& build = json.at("build"); !build.is_null()) {
        manifest.build = tracer::Build{
            tracer::Name(build.at("kernel").get<std::string>()), tracer::Name(build.at("compiler").get<std::string>()),
            tracer::Name(build.at("application").get<std::string>()), build.at("seed").get<std::uint64_t>(),
            build.contains("image") ? from_hex(build.at("image")) : 0};
    }
    if (const Json& end = json.at("announced"); !end.is_null()) {
        manifest.announced = tracer::ExportEnd{end.at("chunks").get<std::uint32_t>(),
                                               from_name<tracer::RunResult>(end.at("result"), run_result_name, 4),
                                               end.at("records").get<std::uint64_t>(),
                                               end.at("dropped").get<std::uint64_t>(),
                                               end.at("refused").get<std::uint64_t>(),
                                               end.at("overwritten").get<std::uint64_t>(),
                                               end.value("committed", std::uint64_t{0}),
                                               end.value("tracer_made", std::uint64_t{0})};
    }
    if (const Json& transfer = json.at("transfer"); !transfer.is_null()) {
        manifest.transfer = transfer_from_json(transfer);
    }
    manifest.chunks = rows.chunks();
    for (const Json& chunk : json.at("chunks")) { // none, unless it is no list
        manifest.chunks.push_back(chunk_from_json(chunk));
    }
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
    // Names come from the wire: control characters are escaped by JSON itself, and what is no UTF-8 is replaced.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

lib::Result<Manifest, trace::Refusal> parse_manifest(std::string_view text_untrusted) {
    try {
        ChunkRows rows;
        const Json json =
            Json::parse(text_untrusted, [&rows](int depth, Json::parse_event_t event, const Json& parsed) {
                return rows.keep(depth, event, parsed);
            });
        if (json.at("format") != kFormat) {
            return trace::Refusal{"it is not a session's manifest"};
        }
        if (json.at("version").get<std::uint32_t>() > kManifestVersion) {
            return trace::Refusal{"it was written by a newer version"};
        }
        Manifest manifest = manifest_from_json(json, rows);
        for (const ManifestChunk& chunk : manifest.chunks) {
            if (!is_chunk_file_name(chunk.file)) {
                return trace::Refusal{
                    fmt::format("file name \"{}\" is not of the form Ntrace.dat", text::escaped(chunk.file))};
            }
        }
        return manifest;
    } catch (const Json::exception& exception) {
        return trace::Refusal{text::escaped(exception.what())};
    }
}

} // namespace host::formats::dat
