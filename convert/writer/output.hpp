// SPDX-License-Identifier: MIT
// The names of host/output/ in the namespace of the converters, which use them in nearly every file.
#pragma once

#include "host/output/output_file.hpp"

namespace host::convert {

using output::Destination;
using output::Failure;
using output::failure_of;
using output::Fault;
using output::OutputFile;
using output::status_of;

} // namespace host::convert
