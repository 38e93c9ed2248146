# Remora: kernel, UEFI loader, host tools and tests. `make help` lists targets and variables by topic.
#
#   shark.cfg + command line --> mk/options.mk
#     --> build/kernel-<options>/kernel.elf  (freestanding)            mk/kernel.mk
#     \-> build/uefi/BOOTX64.EFI             (GNU-EFI)                 mk/uefi.mk
#      -> build/host/remora                  (hosted tools)            mk/host.mk
#      -> build/port/                        (tracer as a library)     mk/port.mk
#      -> build/python/remora.so             (Python module)           mk/python.mk
#      -> build/test/<area>-<room>           (GoogleTest, ASan, UBSan) mk/tests.mk
#      -> build/bench/                       (figures)                 mk/bench.mk
# How each of them is compiled is in mk/flags.mk, the packages that it needs and booting are in mk/run.mk, the packages that
# it becomes in mk/package.mk.
SHELL := /bin/bash
BUILD := build
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help
comma := ,

include mk/options.mk mk/flags.mk mk/kernel.mk mk/uefi.mk mk/host.mk mk/port.mk mk/python.mk mk/tests.mk mk/bench.mk mk/run.mk mk/package.mk

.PHONY: help all clean
# Breaks lines that are wider than a terminal; they continue below the text that two blanks separate from a name.
WRAPPED = awk '{while (length($$0) > 80) {match($$0, /^ *[^ ]+( [^ ]+)*   */); hang = RLENGTH > 0 && RLENGTH < 40 ? RLENGTH : 26; \
  for (at = 81; at > hang + 1 && substr($$0, at, 1) != " "; --at) {} if (at <= hang + 1) break; print substr($$0, 1, at - 1); \
  $$0 = sprintf("%*s%s", hang, "", substr($$0, at + 1))} print}'
help: ## run: this list
	@{ echo 'usage: make TARGET [VARIABLE=VALUE ...]'; \
	awk -F ':.*## ' '/^[a-z_.-]+:.*## /{split($$2, text, ": "); topic = text[1]; sub(/^[a-z]*: /, "", $$2); \
	    lines[topic] = lines[topic] sprintf("  %-22s %s\n", $$1, $$2)} \
	  END {n = split("build run test figures install", topics, " "); \
	    for (i = 1; i <= n; ++i) printf "\n%s targets:\n%s", topics[i], lines[topics[i]]}' $(MAKEFILE_LIST); \
	printf '\nvariables (on the command line, else from shark.cfg; the environment is ignored):\n'; \
	awk -F '#= ' '/^#= /{print "  " $$2}' $(MAKEFILE_LIST); } | $(WRAPPED)

all: kernel host $(EFI) ## build: kernel, loader and host tools

compile_commands.json: FORCE ## build: the compile command of each source, for clangd and other tools
	@$(MAKE) -nB --no-print-directory CCACHE= SINGLE=% $(TEST_KERNEL) all port $(PYTHON_MODULE) $(TEST_PROGRAMS) $(FUZZ_PROGRAMS) $(BENCH) $(BENCH_KERNEL) \
	  $(SOAK) $(SIMULATION) $(COMPACT_BENCH) $(HOST_BENCH) $(FOLLOW_BENCH) $(FLEET_SESSIONS) $(REMORA_FLEET) $(PYTHON_MODULE) $(ACCOUNTS) | mk/compile_commands.py >$@

clean: ## build: remove build/
	rm -rf $(BUILD)

# The trees of mutants below build/ are not looked at.
-include $(shell find $(BUILD) -name tree\* -prune -o -name '*.d' -print 2>/dev/null)
