// SPDX-License-Identifier: MIT
// docs/trace-format.md lists every key of manifest.json: the list must be that of a manifest which the code writes.
#include "host/formats/dat/manifest.hpp"
#include "host/trace/json.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <set>
#include <sstream>

namespace host::formats::session_document_test {

namespace {

constexpr const char* kPath = "docs/trace-format.md"; // tests run at the top of the source tree

void collect_keys(const trace::Json& json, const std::string& prefix, std::set<std::string>& keys) {
    for (const auto& [key, value] : json.items()) {
        const std::string name = prefix + key;
        if (value.is_object() && (name == "build" || name == "announced" || name == "transfer" || name == "formats")) {
            keys.insert(name); // may be null, so it is a key of its own
        }
        if (value.is_object()) {
            collect_keys(value, name + '.', keys);
        } else if (value.is_array()) {
            keys.insert(name);
            collect_keys(value.at(0), name + "[].", keys); // of an object in an array, all keys
        } else {
            keys.insert(name);
        }
    }
}

TEST(SessionDocument, ListsEveryKeyThatAManifestHasAndNoOther) {
    dat::Manifest manifest;
    manifest.build = tracer::Build{};
    manifest.announced = tracer::ExportEnd{};
    manifest.transfer = dat::ManifestTransfer{};
    manifest.formats = dat::ManifestFormats{};
    dat::ManifestChunk chunk;
    chunk.file = "0trace.dat";
    chunk.described = true;
    chunk.gaps.push_back({});
    manifest.chunks.push_back(chunk);
    std::set<std::string> written;
    collect_keys(trace::Json::parse(dat::to_json_text(manifest)), "", written);

    std::set<std::string> documented;
    const std::string document = support::read_text(kPath);
    std::istringstream lines(document.substr(std::min(document.find("<!-- manifest keys"), document.size())));
    for (std::string line; std::getline(lines, line) && !line.starts_with("## ");) {
        if (line.starts_with("| `")) {
            documented.insert(line.substr(3, line.find('`', 3) - 3));
        }
    }
    EXPECT_EQ(documented, written);
}

} // namespace

} // namespace host::formats::session_document_test
