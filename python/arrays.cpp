// SPDX-License-Identifier: MIT
#include "python/arrays.hpp"

#include "host/text/nearest.hpp"

#include <limits>
#include <memory>
#include <pybind11/numpy.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace python {

namespace py = pybind11;

namespace {

// A column of texts, and the table that it belongs to.
struct Texts {
    std::shared_ptr<Table> table;
    const Column* column = nullptr;
};

constexpr std::int32_t kWordOfNoText = -2; // no cell has it

py::dtype dtype_of(CellType type) {
    static constexpr const char* kNames[] = {"bool", "u1", "u2", "u4", "u8", "i8", "f8", "i4"};
    return py::dtype(kNames[static_cast<std::size_t>(type)]);
}

// Returns what is below the mask.
py::object unknown_of(CellType type) {
    switch (type) {
    case CellType::uint8:
        return py::int_(std::numeric_limits<std::uint8_t>::max());
    case CellType::uint16:
        return py::int_(std::numeric_limits<std::uint16_t>::max());
    case CellType::uint32:
        return py::int_(std::numeric_limits<std::uint32_t>::max());
    case CellType::uint64:
        return py::int_(std::numeric_limits<std::uint64_t>::max());
    case CellType::int64:
        return py::int_(kUnknown);
    case CellType::real:
        return py::float_(std::numeric_limits<double>::quiet_NaN());
    case CellType::boolean:
    case CellType::word:
        break; // these have no mask
    }
    return py::none();
}

// Returns an array over memory that `owner` keeps. It is read-only, because every array of the column shows the same.
py::array view_of(const Memory& memory, CellType type, const py::object& owner) {
    const auto rows = static_cast<py::ssize_t>(memory.size() / bytes_of(type));
    py::array view(dtype_of(type), {rows}, {static_cast<py::ssize_t>(bytes_of(type))}, memory.data(), owner);
    view.attr("setflags")(py::arg("write") = false);
    return view;
}

// self: the Table.
py::object column_of(const py::object& self, const Column& column) {
    if (column.type == CellType::word) {
        return py::cast(Texts{self.cast<std::shared_ptr<Table>>(), &column});
    }
    py::array cells = view_of(column.cells, column.type, self);
    if (column.unknown.size() == 0) {
        return cells;
    }
    return py::module_::import("numpy.ma")
        .attr("MaskedArray")(cells, py::arg("mask") = view_of(column.unknown, CellType::boolean, self),
                             py::arg("fill_value") = unknown_of(column.type), py::arg("copy") = false);
}

std::vector<std::string> names_of(const Table& table) {
    std::vector<std::string> names;
    for (const Column& column : table.columns()) {
        names.push_back(column.name);
    }
    return names;
}

py::list columns_of(const Table& table) {
    py::list list;
    for (const Column& column : table.columns()) {
        list.append(text_of(column.name));
    }
    return list;
}

std::string no_column(const Table& table, const std::string& name) {
    return table.name() + " has no column " + name + host::text::did_you_mean(name, names_of(table));
}

py::str shown(const Table& table) {
    std::string text = "<remora.Table " + table.name() + ": " + std::to_string(table.rows()) + " rows;";
    for (const std::string& name : names_of(table)) {
        text += " " + name;
    }
    return text_of(text + ">");
}

// --- texts -----------------------------------------------------------------------------------------------------------

py::array codes_of(const Texts& texts) {
    return view_of(texts.column->cells, CellType::word, py::cast(texts.table));
}

py::list words_of(const Texts& texts) {
    py::list words;
    for (const std::string& word : texts.column->words.texts()) {
        words.append(text_of(word));
    }
    return words;
}

// Returns the texts of these numbers, None for kNoWord: numpy takes -1 for the last of the words, which is None.
py::object objects_of(const Texts& texts, const py::object& codes) {
    py::list words = words_of(texts);
    words.append(py::none());
    const auto numpy = py::module_::import("numpy");
    const py::object all = numpy.attr("empty")(py::len(words), py::arg("dtype") = "O");
    all[py::slice(0, static_cast<py::ssize_t>(py::len(words)), 1)] = words;
    return all[codes];
}

py::object item_of(const Texts& texts, const py::object& key) {
    return objects_of(texts, codes_of(texts)[key]);
}

py::object text_at(const Texts& texts, py::ssize_t index) {
    const auto rows = static_cast<py::ssize_t>(texts.column->rows());
    const py::ssize_t row = index < 0 ? index + rows : index;
    if (row < 0 || row >= rows) {
        throw py::index_error("row " + std::to_string(index) + " of " + std::to_string(rows));
    }
    const auto word = texts.column->at<std::int32_t>(static_cast<std::size_t>(row));
    return word == kNoWord ? py::object(py::none())
                           : text_of(texts.column->words.texts()[static_cast<std::size_t>(word)]);
}

// Returns the number of a text, or of None; one that no cell has if no row has this text.
std::int32_t word_of(const Texts& texts, const py::handle& value) {
    if (value.is_none()) {
        return kNoWord;
    }
    if (!py::isinstance<py::str>(value)) {
        throw py::type_error("a column of texts is compared with texts and None");
    }
    const std::int32_t word = texts.column->words.find(value.cast<std::string>());
    return word == kNoWord ? kWordOfNoText : word;
}

py::object equal(const Texts& texts, const py::object& value) {
    return codes_of(texts).attr("__eq__")(word_of(texts, value));
}

py::object is_in(const Texts& texts, const py::iterable& values) {
    py::list words;
    for (const py::handle value : values) {
        words.append(word_of(texts, value));
    }
    return py::module_::import("numpy").attr("isin")(codes_of(texts), words);
}

py::str shown_texts(const Texts& texts) {
    return text_of("<remora.Texts " + texts.table->name() + "." + texts.column->name + ": " +
                   std::to_string(texts.column->rows()) + " rows, " +
                   std::to_string(texts.column->words.texts().size()) + " words>");
}

// --- pandas ----------------------------------------------------------------------------------------------------------

py::module_ pandas() {
    try {
        return py::module_::import("pandas");
    } catch (py::error_already_set& error) {
        if (!error.matches(PyExc_ImportError)) {
            throw;
        }
        throw py::import_error("to_pandas() needs pandas, which cannot be imported: apt-get install python3-pandas");
    }
}

// Unknown numbers become <NA>, texts a categorical.
py::object frame_of(const py::object& self) {
    const py::module_ library = pandas();
    const auto table = self.cast<std::shared_ptr<Table>>();
    py::dict columns;
    for (const Column& column : std::as_const(*table).columns()) {
        py::object cells = column_of(self, column);
        if (column.type == CellType::word) {
            const auto texts = cells.cast<Texts>();
            cells = library.attr("Categorical").attr("from_codes")(codes_of(texts), words_of(texts));
        } else if (column.unknown.size() != 0 && column.type != CellType::real) {
            cells = library.attr("arrays").attr("IntegerArray")(view_of(column.cells, column.type, self),
                                                                view_of(column.unknown, CellType::boolean, self));
        } else if (column.unknown.size() != 0) {
            cells = view_of(column.cells, column.type, self); // not a number is what pandas takes for unknown
        }
        columns[text_of(column.name)] = cells;
    }
    return library.attr("DataFrame")(columns, py::arg("copy") = false);
}

void add_texts(py::module_& module) {
    py::class_<Texts> texts(module, "Texts",
                            "A column of texts: `codes` are numbers of `words`, -1 where the text is not known.");
    texts.def_property_readonly("codes", &codes_of, "int32, without a copy")
        .def_property_readonly("words", &words_of, "the different texts, in the order of their first row")
        .def("isin", &is_in, "where the text is one of these, None for unknown ones", py::arg("texts"))
        .def(
            "to_numpy", [](const Texts& self) { return objects_of(self, codes_of(self)); },
            "the texts as an array of objects, None where they are not known")
        .def(
            "__array__", [](const Texts& self, const py::object&) { return objects_of(self, codes_of(self)); },
            py::arg("dtype") = py::none())
        .def("__len__", [](const Texts& self) { return self.column->rows(); })
        .def("__getitem__", &text_at)
        .def("__getitem__", &item_of)
        .def("__iter__", [](const Texts& self) { return py::iter(objects_of(self, codes_of(self)).attr("tolist")()); })
        .def("__eq__", &equal)
        .def("__ne__", [](const Texts& self, const py::object& value) { return ~equal(self, value); })
        .def("__repr__", &shown_texts);
    texts.attr("__hash__") = py::none();
}

} // namespace

py::str text_of(std::string_view text) {
    PyObject* const made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
    if (made == nullptr) {
        throw py::error_already_set();
    }
    return py::reinterpret_steal<py::str>(made);
}

void add_tables(py::module_& module) {
    add_texts(module);
    py::class_<Table, std::shared_ptr<Table>>(module, "Table", "Rows of a trace; each column is an attribute.")
        .def_property_readonly("columns", &columns_of, "the names of the columns, in their order")
        .def("to_pandas", &frame_of, "a DataFrame of all columns; needs pandas")
        .def("__len__", &Table::rows)
        .def("__getitem__",
             [](const py::object& self, const std::string& name) {
                 const auto table = self.cast<std::shared_ptr<Table>>();
                 const Column* const column = table->find(name);
                 return column != nullptr ? column_of(self, *column) : throw py::key_error(no_column(*table, name));
             })
        .def("__getattr__",
             [](const py::object& self, const std::string& name) {
                 const auto table = self.cast<std::shared_ptr<Table>>();
                 const Column* const column = table->find(name);
                 return column != nullptr ? column_of(self, *column)
                                          : throw py::attribute_error(no_column(*table, name));
             })
        .def("__dir__",
             [](const py::object& self) {
                 py::list names = py::module_::import("builtins").attr("object").attr("__dir__")(self);
                 for (const std::string& name : names_of(self.cast<const Table&>())) {
                     names.append(text_of(name));
                 }
                 return names;
             })
        .def("__repr__", &shown);
}

} // namespace python
