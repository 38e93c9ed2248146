# SPDX-License-Identifier: MIT
"""The parts of response times, calculated a second time: `records` reads the records, `definitions` divides each job as
docs/metrics.md says, `compare` compares that with what the host library says (accounts.cpp prints it)."""
