# SPDX-License-Identifier: MIT
"""The kernel with one error at a time: what each error is (mutants.py), and what must report it (run.py)."""
