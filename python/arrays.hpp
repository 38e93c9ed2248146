// SPDX-License-Identifier: MIT
// Shows tables to Python: columns of numbers are arrays of numpy over the memory of the table, which lives as long as
// an array of it does; columns of texts are numbers of words.
#pragma once

#include "python/table.hpp"

#include <pybind11/pybind11.h>
#include <string_view>

namespace python {

// Returns a text of Python. What is not UTF-8 becomes \xNN.
[[nodiscard]] pybind11::str text_of(std::string_view text);

// Adds the classes Table and Texts to the module.
void add_tables(pybind11::module_& module);

} // namespace python
