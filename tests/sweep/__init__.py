# SPDX-License-Identifier: MIT
"""The search for worst cases: sweep.py is the program."""
