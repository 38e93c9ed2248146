// SPDX-License-Identifier: MIT
// The Python module `remora` (docs/python.md): opens a trace, and shows what it holds and whether anything is missing.
#include "host/formats/dat/manifest.hpp"
#include "host/formats/input_kind.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/list.hpp"
#include "host/text/nearest.hpp"
#include "lib/version.hpp"
#include "python/arrays.hpp"
#include "python/contents.hpp"

#include <algorithm>
#include <memory>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

namespace python {

namespace py = pybind11;

namespace {

using Pointer = std::shared_ptr<const Contents>;

struct Trace {
    Pointer contents;
};

py::object path_of(const std::string& path) {
    return py::reinterpret_steal<py::object>(
        PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

template <typename Value>
py::object or_none(const std::optional<Value>& value) {
    return value ? py::object(py::cast(*value)) : py::none();
}

// --- what a trace says about itself
// ------------------------------------------------------------------------------------

py::dict clock_of(const Trace& trace) {
    const host::trace::Clock& clock = trace.contents->facts.clock;
    py::dict dict;
    dict["khz"] = clock.khz != 0 ? py::object(py::int_(clock.khz)) : py::none();
    dict["mode"] = text_of(host::formats::dat::clock_mode_name(clock.mode));
    dict["source"] = text_of(host::formats::dat::tsc_source_name(clock.source));
    dict["error_ppm"] = clock.error_ppm;
    return dict;
}

py::object build_of(const Trace& trace) {
    const auto& build = trace.contents->facts.build;
    if (!build) {
        return py::none();
    }
    py::dict dict;
    dict["kernel"] = text_of(build->kernel.view());
    dict["compiler"] = text_of(build->compiler.view());
    dict["application"] = text_of(build->application.view());
    dict["seed"] = build->seed;
    return dict;
}

py::object totals_of(const Trace& trace) {
    const auto& totals = trace.contents->totals;
    if (!totals) {
        return py::none();
    }
    py::dict dict;
    dict["chunks"] = totals->chunks;
    dict["records"] = totals->records;
    dict["dropped"] = totals->dropped;
    dict["refused"] = totals->refused;
    dict["overwritten"] = totals->overwritten;
    return dict;
}

py::dict accounts_of(const Trace& trace) {
    const host::analyse::Accounts& accounts = trace.contents->accounts;
    py::dict dict;
    dict["committed"] = accounts.committed;
    dict["received"] = accounts.received;
    dict["dropped"] = accounts.dropped;
    dict["refused"] = accounts.refused;
    dict["overwritten"] = accounts.overwritten;
    dict["lost_packets"] = accounts.lost_packets;
    dict["missing"] = accounts.missing;
    dict["skipped"] = accounts.skipped;
    dict["damaged_chunks"] = accounts.damaged_chunks;
    dict["lost_chunks"] = accounts.lost_chunks;
    dict["elsewhere"] = accounts.elsewhere;
    return dict;
}

// Adds the names of the rows of a table.
void add_names(py::dict& names, const Table& table, std::string_view kind_column, std::string_view id_column) {
    const Column* const kinds = table.find(kind_column);
    const Column& ids = *table.find(id_column);
    const Column& texts = *table.find("name");
    const auto word = [](const Column& column, std::size_t row) {
        const auto number = column.at<std::int32_t>(row);
        return number == kNoWord ? py::str() : text_of(column.words.texts()[static_cast<std::size_t>(number)]);
    };
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const py::str kind = kinds != nullptr ? word(*kinds, row) : py::str("task");
        if (!names.contains(kind)) {
            names[kind] = py::dict();
        }
        names[kind][py::int_(ids.at<std::int64_t>(row))] = word(texts, row);
    }
}

py::dict names_by_kind(const Trace& trace) {
    py::dict names;
    add_names(names, *trace.contents->find("tasks"), "", "context");
    add_names(names, *trace.contents->find("names"), "kind", "id");
    return names;
}

py::list problems_of(const Trace& trace) {
    py::list lines;
    for (const std::string& line : trace.contents->problems) {
        lines.append(text_of(line));
    }
    return lines;
}

py::str trace_shown(const Trace& trace) {
    const Contents& contents = *trace.contents;
    return text_of(fmt::format("<remora.Trace {}: {} events; {}>", host::text::escaped(contents.path),
                               contents.tables.front()->rows(), contents.verdict.text));
}

// --- tables
// --------------------------------------------------------------------------------------------------------------

py::dict tables_of(const Trace& trace) {
    py::dict tables;
    for (const auto& table : trace.contents->tables) {
        tables[text_of(table->name())] = table;
    }
    return tables;
}

py::object table_of(const Trace& trace, const std::string& name) {
    if (auto table = trace.contents->find(name)) {
        return py::cast(std::move(table));
    }
    const bool is_known =
        std::ranges::find(host::sql::kTableRows, name, &host::sql::TableRow::name) != host::sql::kTableRows.end();
    if (is_known) {
        throw py::attribute_error(name + " was not read: open the trace with schedule=True");
    }
    std::vector<std::string> names;
    for (const auto& table : trace.contents->tables) {
        names.push_back(table->name());
    }
    throw py::attribute_error("a trace has no " + name + host::text::did_you_mean(name, names));
}

// --- opening
// -------------------------------------------------------------------------------------------------------------

// Warns if records are missing or the reader has reported anything. The warning may be an error, by the user's choice.
void warn(const Contents& contents, const py::object& category) {
    std::vector<std::string> parts;
    if (contents.complete == false) {
        parts.push_back(contents.verdict.text);
    }
    if (!contents.hidden.empty()) {
        parts.push_back(contents.hidden);
    }
    if (!contents.problems.empty()) {
        parts.push_back(fmt::format("the reader reported {} problem{} (trace.problems): {}", contents.problems.size(),
                                    contents.problems.size() == 1 ? "" : "s", contents.problems.front()));
    }
    if (parts.empty()) {
        return;
    }
    const py::str made =
        text_of(fmt::format("{}: {}", host::text::escaped(contents.path), host::text::joined(parts, "; ")));
    if (PyErr_WarnEx(category.ptr(), PyUnicode_AsUTF8(made.ptr()), 1) != 0) {
        throw py::error_already_set();
    }
}

host::trace::InputKind kind_of(const std::string& name) {
    if (const auto kind = host::formats::find_kind(name)) {
        return *kind;
    }
    throw py::value_error("kind is " + name + host::text::did_you_mean(name, host::formats::kind_names()) +
                          "; valid: " + host::text::joined(host::formats::kind_names(), ", "));
}

Trace open(const Wanted& wanted, const py::object& category) {
    Pointer contents;
    {
        const py::gil_scoped_release unlocked;
        contents = contents_of(wanted, [] {
            const py::gil_scoped_acquire locked;
            if (PyErr_CheckSignals() != 0) { // such as Ctrl-C
                throw py::error_already_set();
            }
        });
    }
    warn(*contents, category);
    return {contents};
}

void add_open(py::module_& module, const py::object& category) {
    module.def(
        "open",
        [category](const py::object& path, bool schedule, const std::string& kind, std::uint32_t khz,
                   const std::string& kernel, bool salvage, bool strict) {
            if (khz != 0 && !host::trace::is_plausible_rate(khz)) {
                throw py::value_error(fmt::format("khz is {}; valid: {} to {}, or 0 for the rate of the trace", khz,
                                                  host::trace::kTscKhzMin, host::trace::kTscKhzMax));
            }
            const py::object encoded = py::module_::import("os").attr("fsencode")(path);
            return open({.path = encoded.cast<std::string>(),
                         .options = {.tsc_khz = khz,
                                     .kernel = kernel,
                                     .kind = kind_of(kind),
                                     .strict = strict,
                                     .salvage = salvage,
                                     .whole_first = true},
                         .schedule = schedule},
                        category);
        },
        "Reads the trace at a path: a session directory, or a file of any format that `remora` reads.\n\n"
        "schedule: also the tables of jobs, intervals and what else follows from the schedule.\n"
        "kind, khz, kernel, salvage, strict: as the options --from, --tsc-khz, --kernel, --salvage and --strict of\n"
        "the commands. Raises TraceError if nothing can be read; warns with TraceWarning if anything is missing.",
        py::arg("path"), py::kw_only(), py::arg("schedule") = true, py::arg("kind") = "detect", py::arg("khz") = 0,
        py::arg("kernel") = "", py::arg("salvage") = false, py::arg("strict") = false);
}

void add_trace(py::module_& module) {
    py::class_<Trace>(module, "Trace", "What a trace holds; each table is an attribute (`tables` has all of them).")
        .def_property_readonly("path", [](const Trace& self) { return path_of(self.contents->path); })
        .def_property_readonly("kind", [](const Trace& self) { return text_of(self.contents->kind); })
        .def_property_readonly(
            "complete", [](const Trace& self) { return or_none(self.contents->complete); },
            "whether no record is missing; None: it is not known")
        .def_property_readonly(
            "verdict", [](const Trace& self) { return text_of(self.contents->verdict.text); },
            "the same in words, as `remora summary` says it")
        .def_property_readonly(
            "hidden", [](const Trace& self) { return text_of(self.contents->hidden); },
            "which records a filter of the application hid, in words; empty: none")
        .def_property_readonly("problems", &problems_of, "every line that the reader reported")
        .def_property_readonly("accounts", &accounts_of, "how many records are here, and how many are missing and why")
        .def_property_readonly("totals", &totals_of, "what the machine counted; None: it is not known")
        .def_property_readonly("clock", &clock_of, "khz is None if the rate is not known")
        .def_property_readonly("build", &build_of, "what ran; None: it is not known")
        .def_property_readonly("boot_id",
                               [](const Trace& self) -> py::object {
                                   const auto& id = self.contents->facts.boot_id;
                                   return id ? py::object(text_of(fmt::format("{:016x}", *id))) : py::none();
                               })
        .def_property_readonly("names", &names_by_kind,
                               "the names of tasks, vectors, mutexes and others, by kind and number")
        .def_property_readonly("tables", &tables_of)
        .def("__getattr__", &table_of)
        .def("__dir__",
             [](const py::object& self) {
                 py::list names = py::module_::import("builtins").attr("object").attr("__dir__")(self);
                 for (const auto& table : self.cast<const Trace&>().contents->tables) {
                     names.append(text_of(table->name()));
                 }
                 return names;
             })
        .def("__repr__", &trace_shown);
}

} // namespace

} // namespace python

PYBIND11_MODULE(remora, module) {
    namespace py = pybind11;
    module.doc() = "Reads traces of Remora as columns (docs/python.md).";
    module.attr("__version__") = lib::kVersion.substr(lib::kVersion.find(' ') + 1);
    module.attr("UNKNOWN") = python::kUnknown;
    py::register_exception<python::Unusable>(module, "TraceError");
    const auto category =
        py::reinterpret_steal<py::object>(PyErr_NewException("remora.TraceWarning", PyExc_UserWarning, nullptr));
    module.attr("TraceWarning") = category;
    python::add_tables(module);
    python::add_trace(module);
    python::add_open(module, category);
}
