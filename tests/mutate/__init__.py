# SPDX-License-Identifier: MIT
"""Production code changed in one place at a time, to see whether a test notices: run.py."""
