# SPDX-License-Identifier: MIT
"""The harness of the guest, integration and viewer cases (cases, context, guests, runner); the golden schedules, the
mutants and the benchmarks boot their guests with it too. The C++ files here serve the unit tests."""
