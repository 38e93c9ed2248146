// SPDX-License-Identifier: MIT
// Makes the names of host/output/ available in the namespace of the converters, which use them in nearly every file.
#pragma once

#include "host/output/output_failure.hpp"
#include "host/output/output_file.hpp"

namespace host::convert {

using output::Destination;
using output::Failure;
using output::failure_of;
using output::Fault;
using output::OutputFile;
using output::status_of;

} // namespace host::convert
