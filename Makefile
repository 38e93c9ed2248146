# Remora: one Makefile for kernel, UEFI loader, host tools and tests. `make help` lists targets and variables.
#
#   shark.cfg + command line --> options --> build/kernel-<options>/kernel.elf   (freestanding)
#                                       \-> build/uefi/BOOTX64.EFI                (GNU-EFI)
#                                        -> build/host/remora                     (hosted tools)
#                                        -> build/test/<area>                     (GoogleTest, ASan + UBSan)
SHELL := /bin/bash
BUILD := build
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
comma := ,

# --- options ---------------------------------------------------------------------------------------------------------
# shark.cfg holds lines KEY = VALUE; the command line wins; the environment has no say. An unknown key or value stops the
# build and names the valid ones.
OPTION_KEYS   := TRACER TSC COMPENSATION APP SINK BOOT ACCEL CLOCK NIC OUT
VALUES_TRACER := NEW OFF
VALUES_TSC    := TRUE FALSE
VALUES_COMPENSATION := ON OFF
VALUES_SINK   := udp disk both none
VALUES_BOOT   := uefi pvh
VALUES_ACCEL  := tcg kvm
VALUES_CLOCK  := tcg icount
VALUES_NIC    := pci isa none

# The list of targets and the way back are there even if shark.cfg is wrong.
ifneq ($(filter-out help clean,$(MAKECMDGOALS)),)
  refuse = $(error $(1))
endif

CONFIG_FILE := shark.cfg
ifeq ($(wildcard $(CONFIG_FILE)),)
  $(call refuse,CONFIG_FILE=$(CONFIG_FILE) does not exist)
endif
# One word a line: what separates words inside a line becomes <blank>, which no option may hold.
CONFIG_LINES := $(shell sed -e 's/\#.*//' -e 's/^[[:space:]]*//' -e 's/[[:space:]]*$$//' -e '/^$$/d' \
  -e 's/[[:space:]]*=[[:space:]]*/=/' -e 's/[[:space:]]/<blank>/g' $(CONFIG_FILE) 2>/dev/null)
key_of = $(firstword $(subst =, ,x$(1)))
define read_line
  ifeq ($(findstring =,$(1))$(filter =%,$(1)),=)
    ifneq ($(filter $(2),$(OPTION_KEYS)),)
      $(2) := $(subst $$,$$$$,$(patsubst $(2)=%,%,$(1)))
    else
      $$(call refuse,$(CONFIG_FILE): unknown key "$(2)"; valid keys: $(OPTION_KEYS))
    endif
  else
    $$(call refuse,$(CONFIG_FILE): "$(subst <blank>, ,$(1))" is not of the form KEY = VALUE)
  endif
endef
$(foreach line,$(CONFIG_LINES),$(eval $(call read_line,$(line),$(patsubst x%,%,$(call key_of,$(line))))))

# A value is one word without %, which stands for any text where make compares; then it is valid if it is in the list.
$(foreach key,$(OPTION_KEYS),\
  $(if $(strip $($(key))),,$(call refuse,$(key) has no value: set it in $(CONFIG_FILE) or on the command line))\
  $(if $(filter 1,$(words $(subst <blank>, ,$($(key))))),,\
    $(call refuse,$(key)="$(subst <blank>, ,$($(key)))" holds a blank: a value is one word))\
  $(if $(findstring %,$($(key))),$(call refuse,$(key)=$($(key)) holds a %: no value may))\
  $(if $(VALUES_$(key)),$(if $(filter $($(key)),$(VALUES_$(key))),,\
    $(call refuse,$(key)=$($(key)) is not valid; valid values: $(VALUES_$(key))))))
ifeq ($(TRACER)$(TSC),NEWFALSE)
  $(call refuse,TRACER=NEW needs TSC=TRUE$(comma) because records are stamped with the time stamp counter: set TSC=TRUE or \
    TRACER=OFF)
endif

ifeq ($(COMPENSATION)$(TRACER),ONOFF)
  $(call refuse,COMPENSATION=ON needs TRACER=NEW$(comma) because only tracing is compensated for: set TRACER=NEW or \
    COMPENSATION=OFF)
endif

# A misspelt variable on the command line must not pass unnoticed.
STEP_KEYS := ITRACE CLOCK_STEP CLOCK_TRIGGER CLOCK_MAX_DELTA CLOCK_NEAR_ZERO
RUN_KEYS := PORT SEED DURATION_MS TIMEOUT_S $(STEP_KEYS) CHECK DEPS CASES GDB_PORT PACKAGES CONFIG_FILE BUILD CXX WARNINGS RECORDS TASKS SECTIONS \
  PREFIX DESTDIR FUZZ_RUNS FUZZ_SECONDS FUZZ_CXX HOST_BENCH_EVENTS
$(foreach word,$(MAKEOVERRIDES),$(if $(findstring =,$(word)),\
  $(if $(filter $(firstword $(subst =, ,$(word))),$(OPTION_KEYS) $(RUN_KEYS)),,\
    $(error unknown variable "$(firstword $(subst =, ,$(word)))"; `make help` lists them: $(OPTION_KEYS) $(RUN_KEYS)))))

# Options of one run, not of the build.
PORT := 20000
SEED := 1
DURATION_MS :=
TIMEOUT_S := 120
$(foreach key,$(STEP_KEYS),$(eval $(key) :=))
export PORT SEED DURATION_MS TIMEOUT_S $(STEP_KEYS) APP SINK BOOT ACCEL CLOCK NIC OUT TRACER TSC COMPENSATION

# Of `make bench-kernel` alone: a kernel for so many tasks, and one that measures its interrupts-off sections.
TASKS :=
SECTIONS :=
KERNEL_NAME := kernel$(if $(filter OFF,$(TRACER)),-off)$(if $(filter FALSE,$(TSC)),-notsc)$(if \
  $(filter ON,$(COMPENSATION)),-compensation)$(if \
  $(TASKS),-tasks$(TASKS))$(if $(SECTIONS),-sections)
KERNEL_DIR := $(BUILD)/$(KERNEL_NAME)
KERNEL := $(KERNEL_DIR)/kernel.elf
TEST_KERNEL := $(KERNEL_DIR)/kernel-test.elf
EFI := $(BUILD)/uefi/BOOTX64.EFI
REMORA := $(BUILD)/host/remora

# --- flags -----------------------------------------------------------------------------------------------------------
CXX := g++
WARNINGS := -Werror -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wuseless-cast \
  -Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wnull-dereference -Wnon-virtual-dtor -Woverloaded-virtual \
  -Wcast-align=strict -Wformat=2 -Wundef -Wmissing-declarations -Wredundant-decls -Wvla -Wimplicit-fallthrough=5 \
  -Wswitch-enum -Wextra-semi -Wzero-as-null-pointer-constant -Wsuggest-override -Wmismatched-tags -Wvolatile
COMMON := -std=c++20 -g -iquote . -MMD -MP

KERNEL_DEFINES := -DREMORA_TRACER=$(if $(filter NEW,$(TRACER)),1,0) -DREMORA_TSC=$(if $(filter TRUE,$(TSC)),1,0) \
  $(if $(filter ON,$(COMPENSATION)),-DREMORA_COMPENSATION=1) $(if $(TASKS),-DREMORA_TASKS=$(TASKS)) $(if $(SECTIONS),-DREMORA_SECTIONS=1)
KERNEL_FLAGS := -O2 -ffreestanding -mno-red-zone -mgeneral-regs-only -mcmodel=small -fno-pic -fno-pie \
  -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -fcf-protection=none \
  -fno-stack-protector -ffile-prefix-map=$(CURDIR)=. $(KERNEL_DEFINES) -I arch/x86_64
KERNEL_CXXFLAGS := $(COMMON) $(WARNINGS) -Wframe-larger-than=1024 $(KERNEL_FLAGS) -fno-exceptions -fno-rtti \
  -fno-threadsafe-statics -fno-use-cxa-atexit
KERNEL_LDFLAGS := -nostdlib -static -no-pie -Wl,-T,linker.ld -Wl,-z,max-page-size=0x1000 -Wl,--build-id=sha1 \
  -Wl,--orphan-handling=error -Wl,--fatal-warnings -Wl,--gc-sections -Wl,-z,noexecstack

HOST_CXXFLAGS := $(COMMON) $(WARNINGS) -O2 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
TEST_CXXFLAGS = $(COMMON) $(filter-out -Wnull-dereference -Wduplicated-branches,$(WARNINGS)) $(TEST_OPTIMISE) $(SANITIZE) \
  -mno-red-zone -DREMORA_TRACER=$(TEST_TRACER) -DREMORA_TSC=1 -I tests/support/fake_machine
TEST_OPTIMISE := -O1
# The host tools are many files with large libraries in them: unoptimised they compile in half the time.
$(BUILD)/test/obj/host/% $(BUILD)/test/obj/tests/unit/host/%: TEST_OPTIMISE := -O0 -g1
# The kernel's own unit tests run without a tracer: what is traced is checked in the guest.
TEST_TRACER := 1
$(BUILD)/test/obj/kernel/% $(BUILD)/test/obj/tests/unit/kernel/%: TEST_TRACER := 0

# --- sources: a file is found by the folder it lies in ---------------------------------------------------------------
LIB_SOURCES := $(filter-out lib/memory.cpp lib/assert_hosted.cpp,$(wildcard lib/*.cpp))
TRACER_SOURCES := $(wildcard tracer/*.cpp tracer/*/*.cpp)
TRACER_ASM := $(wildcard tracer/*.S)
DRIVER_SOURCES := $(wildcard drivers/*.cpp drivers/*/*.cpp)
ARCH_SOURCES := $(wildcard arch/x86_64/*.cpp)
ARCH_ASM := $(wildcard arch/x86_64/*.S)
KERNEL_SOURCES := $(wildcard kernel/*.cpp kernel/*/*.cpp)
APP_SOURCES := $(wildcard apps/*.cpp)
# Attempts to record are counted outside of the tracer: the linker leads the calls through tests/support/attempts/.
ATTEMPTS_SOURCES := $(wildcard tests/support/attempts/*.cpp tests/support/attempts/*.S)
ATTEMPTS_LDFLAGS := $(addprefix -Wl$(comma)--wrap=,tracer_record tracer_record_long \
  _ZN6tracer6detail13refuse_recordEv _ZN6tracer7Control12close_activeEv)
GUEST_TEST_SOURCES := $(wildcard tests/kernel/*.cpp) tests/soak/checker.cpp $(ATTEMPTS_SOURCES)
# host/tools: programs of one file each; host/compat: published interfaces of other systems, as libraries in C.
HOST_SOURCES := $(filter-out host/tools/% host/compat/%,$(wildcard host/*/*.cpp host/*/*/*.cpp))
COMPAT_SOURCES := $(wildcard host/compat/*.cpp)
# One coder for compact chunks, in the kernel and in the tools.
CODEC_SOURCES := $(wildcard tracer/compact/*.cpp)

# What serves the trace alone, and what stands in for it.
TRACE_ROOT := $(addprefix kernel/root/,tracing.cpp instruction_steps.cpp network.cpp storage.cpp)
OFF_SOURCES := $(if $(filter OFF,$(TRACER)),$(TRACER_SOURCES) $(TRACER_ASM) $(TRACE_ROOT),kernel/root/tracing_off.cpp)
IMAGE_SOURCES := $(filter-out $(OFF_SOURCES),$(LIB_SOURCES) lib/memory.cpp $(TRACER_SOURCES) $(TRACER_ASM) \
  $(DRIVER_SOURCES) $(ARCH_SOURCES) $(ARCH_ASM) $(KERNEL_SOURCES))
object = $(addprefix $(1)/,$(addsuffix .o,$(2)))

# linked_from PROGRAM OBJECTS: a removed source changes no file that is left, so the list of objects is a file as well,
# which is written only when it changes.
define linked_from
$(1): $(2) $(1).objects
$(1).objects: FORCE
	@mkdir -p $$(@D)
	@printf '%s\n' $(2) | cmp -s - $$@ || printf '%s\n' $(2) >$$@
endef
FORCE:

.DEFAULT_GOAL := help
.PHONY: help all kernel host run apps debug deps test test-unit test-structure verify-entries test-model verify \
  test-kernel test-integration test-mutants check-headers lint format clean bench soak kernel-bench bench-kernel \
  golden golden-diff install test-fuzz test-viewers bench-host experiment-clock

help: ## this list
	@echo 'usage: make TARGET [VARIABLE=VALUE ...]'
	@echo
	@echo 'targets:'
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-18s %s\n", $$1, $$2}' Makefile
	@echo
	@echo 'variables (on the command line, else from shark.cfg; the environment is ignored):'
	@awk -F '#= ' '/^#= /{print "  " $$2}' Makefile
#= TRACER=NEW|OFF          record events, or build the kernel without a trace of the tracer
#= TSC=TRUE|FALSE          clock of the kernel: time stamp counter, or HPET (then TRACER must be OFF)
#= COMPENSATION=ON|OFF     a clock that instruction-level tracing does not advance (docs/clock-compensation.md)
#= APP=name                application to run; `make apps` lists them
#= SINK=udp|disk|both|none where the trace goes
#= BOOT=uefi|pvh           through OVMF and BOOTX64.EFI, or straight into the kernel
#= ACCEL=tcg|kvm           QEMU's accelerator
#= CLOCK=tcg|icount        host clock, or one tick per instruction (deterministic; needs ACCEL=tcg)
#= NIC=pci|isa|none        which NE2000
#= OUT=dir                 where the session goes: dir/udp, dir/disk
#= PORT=n SEED=n           UDP port of the collector, seed of the workload
#= DURATION_MS=n           length of the workload, if the application offers it
#= ITRACE=instructions|blocks  tasks run in steps, in an application that offers it (docs/instruction-tracing.md)
#= CLOCK_STEP=n CLOCK_TRIGGER=n CLOCK_MAX_DELTA=n CLOCK_NEAR_ZERO=n  with COMPENSATION=ON (docs/clock-compensation.md)
#= TIMEOUT_S=n             give up after so many seconds
#= CHECK=1                 for `make deps`: only name what is missing
#= DEPS=skip               do not look for Debian packages (systems without apt)
#= CASES='pattern ...'     for `make test-kernel`, `make test-integration`, `make test-viewers`: only the cases whose name matches
#= RECORDS=n               for `make soak`: how many records must be found whole
#= GDB_PORT=n              for `make debug`: where QEMU waits for gdb

all: kernel host $(EFI) ## build kernel, loader and host tools

kernel: $(KERNEL) ## build the kernel image

host: $(REMORA) compat ## build the host tools

# --- kernel ----------------------------------------------------------------------------------------------------------
$(KERNEL_DIR)/lib/memory.cpp.o: KERNEL_CXXFLAGS += -fno-tree-loop-distribute-patterns

$(KERNEL_DIR)/%.cpp.o: %.cpp Makefile
	@mkdir -p $(@D)
	@echo '  CXX   $<'
	@$(CXX) $(KERNEL_CXXFLAGS) -c $< -o $@

$(KERNEL_DIR)/%.S.o: %.S Makefile
	@mkdir -p $(@D)
	@echo '  AS    $<'
	@$(CXX) -g -iquote . -MMD -MP $(KERNEL_DEFINES) -c $< -o $@

$(eval $(call linked_from,$(KERNEL),$(call object,$(KERNEL_DIR),$(IMAGE_SOURCES) $(APP_SOURCES))))
$(KERNEL): linker.ld
	@echo '  LD    $@'
	@$(CXX) $(KERNEL_LDFLAGS) $(filter %.o,$^) -o $@
	@test -z "$$(nm -u $@)" || { nm -u $@; echo '$@: undefined symbols' >&2; rm -f $@; exit 1; }

$(eval $(call linked_from,$(TEST_KERNEL),$(call object,$(KERNEL_DIR),$(IMAGE_SOURCES) $(APP_SOURCES) \
  $(GUEST_TEST_SOURCES))))
$(TEST_KERNEL): linker.ld
	@echo '  LD    $@'
	@$(CXX) $(KERNEL_LDFLAGS) $(ATTEMPTS_LDFLAGS) $(filter %.o,$^) -o $@

# The kernel's operations, measured by themselves: no part of the test kernel is in this image.
BENCH_KERNEL := $(KERNEL_DIR)/kernel-bench.elf
$(eval $(call linked_from,$(BENCH_KERNEL),$(call object,$(KERNEL_DIR),$(IMAGE_SOURCES) $(APP_SOURCES) \
  $(wildcard tests/bench/guest/*.cpp))))
$(BENCH_KERNEL): linker.ld
	@echo '  LD    $@'
	@$(CXX) $(KERNEL_LDFLAGS) $(filter %.o,$^) -o $@

kernel-bench: $(BENCH_KERNEL) ## build the image that measures the kernel (see bench-kernel)

experiment-clock: $(REMORA) ## what single steps do to a periodic load, and what a compensated clock makes of it
	@$(MAKE) --no-print-directory kernel COMPENSATION=ON TRACER=NEW TSC=TRUE
	@tests/bench/clock_experiment.py $(BUILD)/kernel-compensation/kernel.elf $(REMORA) docs/pictures/clock_compensation.svg

# --- UEFI loader -----------------------------------------------------------------------------------------------------
EFI_FLAGS := $(COMMON) -O2 -Wall -Wextra -Werror -ffreestanding -fno-exceptions -fno-rtti -fno-threadsafe-statics \
  -fpic -fshort-wchar -mno-red-zone -maccumulate-outgoing-args -fno-stack-protector -fno-strict-aliasing \
  -fcf-protection=none -DGNU_EFI_USE_MS_ABI -isystem /usr/include/efi -isystem /usr/include/efi/x86_64 \
  -isystem /usr/include/efi/protocol
EFI_SOURCES := $(wildcard arch/uefi/*.cpp)

$(BUILD)/uefi/%.cpp.o: %.cpp Makefile
	@mkdir -p $(@D)
	@echo '  EFI   $<'
	@$(CXX) $(EFI_FLAGS) -c $< -o $@

$(eval $(call linked_from,$(EFI),$(call object,$(BUILD)/uefi,$(EFI_SOURCES))))
$(EFI):
	@echo '  LD    $@'
	@ld -nostdlib -znocombreloc -z noexecstack -T /usr/lib/elf_x86_64_efi.lds -shared -Bsymbolic \
	  /usr/lib/crt0-efi-x86_64.o $(filter %.o,$^) -o $(@:.EFI=.so) -L/usr/lib -lefi -lgnuefi
	@test -z "$$(nm -u $(@:.EFI=.so))" || { nm -u $(@:.EFI=.so); exit 1; }
	@objcopy -j .text -j .sdata -j .data -j .dynamic -j .dynsym -j .rel -j .rela -j '.rel.*' -j '.rela.*' -j .reloc \
	  --target=efi-app-x86_64 $(@:.EFI=.so) $@

TRACE_LIBRARY_LIBS := -lfmt -lzstd
HOST_LIBS := $(TRACE_LIBRARY_LIBS) -lsqlite3

# --- host tools ------------------------------------------------------------------------------------------------------
$(BUILD)/host/%.cpp.o: %.cpp Makefile
	@mkdir -p $(@D)
	@echo '  HOST  $<'
	@$(CXX) $(HOST_CXXFLAGS) -c $< -o $@

# g++ 12 sees a null pointer in CLI11's vectors of words that is not there.
$(BUILD)/host/host/cli/command_line.cpp.o $(BUILD)/host/host/tools/tlogdump.cpp.o: HOST_CXXFLAGS := $(filter-out -Wnull-dereference,$(HOST_CXXFLAGS))

$(eval $(call linked_from,$(REMORA),$(call object,$(BUILD)/host,$(HOST_SOURCES) $(CODEC_SOURCES) $(LIB_SOURCES) \
  lib/assert_hosted.cpp)))
$(REMORA):
	@echo '  LD    $@'
	@$(CXX) $(filter %.o,$^) -o $@ $(HOST_LIBS)

# --- the reader library, for others ------------------------------------------------------------------------------------
# Its headers include each other by their paths from the root, so they are installed under one directory of their own.
TRACE_LIBRARY := $(BUILD)/host/libremora-trace.a
TRACE_LIBRARY_OBJECTS := $(call object,$(BUILD)/host,$(wildcard host/trace/*.cpp host/trace/*/*.cpp) $(CODEC_SOURCES) \
  $(LIB_SOURCES) lib/assert_hosted.cpp)
TRACE_HEADERS = $(wildcard host/trace/*.hpp host/trace/*/*.hpp lib/*.hpp tracer/*.hpp tracer/compact/*.hpp)

$(eval $(call linked_from,$(TRACE_LIBRARY),$(TRACE_LIBRARY_OBJECTS)))
$(TRACE_LIBRARY):
	@echo '  AR    $@'
	@rm -f $@ && ar rcs $@ $(filter %.o,$^)

# --- libraries with the published interfaces of other systems, and programs on top -----------------------------------
# Nothing is seen from outside of a shared library but what its header marks.
TRACEPARSER := $(BUILD)/host/libtraceparser
TRACEPARSER_OBJECTS := $(call object,$(BUILD)/host,$(wildcard host/trace/*.cpp host/trace/*/*.cpp host/convert/kev*.cpp) \
  host/convert/output_file.cpp host/convert/survey.cpp $(wildcard host/compat/traceparser*.cpp) $(CODEC_SOURCES) $(LIB_SOURCES) lib/assert_hosted.cpp)
LIBTLOG_OBJECTS := $(call object,$(BUILD)/host,host/compat/tlog.cpp lib/assert_hosted.cpp)

# compat_library NAME OBJECTS LIBRARIES
define compat_library
$(call linked_from,$(BUILD)/host/$(1).a,$(2))
$(call linked_from,$(BUILD)/host/$(1).so,$(2))
$(BUILD)/host/$(1).a:
	@echo '  AR    $$@'
	@rm -f $$@ && ar rcs $$@ $$(filter %.o,$$^)
$(BUILD)/host/$(1).so:
	@echo '  LD    $$@'
	@$(CXX) -shared -Wl,-soname,$(1).so.1 -Wl,--no-undefined -Wl,--exclude-libs,ALL $$(filter %.o,$$^) -o $$@ $(3)
endef
$(eval $(call compat_library,libtraceparser,$(TRACEPARSER_OBJECTS),$(TRACE_LIBRARY_LIBS)))
$(eval $(call compat_library,libtlog,$(LIBTLOG_OBJECTS),))
COMPAT_LIBRARIES := $(foreach name,libtraceparser libtlog,$(BUILD)/host/$(name).a $(BUILD)/host/$(name).so)

# tool NAME OBJECTS: the printer of .kev files uses its library alone, as a user's program would.
define tool
$(call linked_from,$(BUILD)/host/$(1),$(call object,$(BUILD)/host,host/tools/$(1).cpp) $(2))
$(BUILD)/host/$(1):
	@echo '  LD    $$@'
	@$(CXX) $$(filter %.o %.a,$$^) -o $$@ $(TRACE_LIBRARY_LIBS)
endef
$(eval $(call tool,traceprinter,$(TRACEPARSER).a))
$(eval $(call tool,tlogdump,$(TRACE_LIBRARY)))
TOOLS := $(BUILD)/host/traceprinter $(BUILD)/host/tlogdump

# What a user of the libraries writes, in C.
SAMPLES := $(BUILD)/host/examples/traceparser_sample
$(BUILD)/host/examples/traceparser_sample: examples/traceparser_sample.c host/compat/traceparser.h $(TRACEPARSER).a
	@mkdir -p $(@D)
	@echo '  CC    $<'
	@gcc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -I host/compat $< $(TRACEPARSER).a -o $@ $(TRACE_LIBRARY_LIBS) -lstdc++ -lm

compat: $(COMPAT_LIBRARIES) $(TOOLS) $(SAMPLES) ## libraries with published interfaces, their programs

PREFIX := /usr/local
DESTDIR :=
INSTALLED = $(DESTDIR)$(PREFIX)

define PKG_CONFIG
prefix=$(PREFIX)
includedir=$${prefix}/include/remora
libdir=$${prefix}/lib

Name: remora-trace
Description: Reads traces of Remora, S.Ha.R.K., QNX and tlog as one stream of events
Version: $(VERSION)
Cflags: -I$${includedir}
Libs: -L$${libdir} -lremora-trace $(TRACE_LIBRARY_LIBS)
endef
export PKG_CONFIG
VERSION = $(shell sed -n 's/.*kVersion = "Remora \(.*\)".*/\1/p' lib/version.hpp)

install: host $(TRACE_LIBRARY) ## PREFIX=/usr/local DESTDIR=: programs, library, headers, manual page, completion
	@install -d $(INSTALLED)/bin $(INSTALLED)/lib/pkgconfig $(INSTALLED)/share/man/man1 \
	  $(INSTALLED)/share/bash-completion/completions
	@install $(REMORA) $(INSTALLED)/bin
	@install $(TOOLS) $(INSTALLED)/bin
	@install -m 644 $(TRACE_LIBRARY) $(COMPAT_LIBRARIES) $(INSTALLED)/lib
	@install -D -m 644 -t $(INSTALLED)/include/remora/compat host/compat/*.h
	@for header in $(TRACE_HEADERS); do install -D -m 644 $$header $(INSTALLED)/include/remora/$$header; done
	@printf '%s\n' "$$PKG_CONFIG" >$(INSTALLED)/lib/pkgconfig/remora-trace.pc
	@$(REMORA) manual >$(INSTALLED)/share/man/man1/remora.1
	@$(REMORA) completion bash >$(INSTALLED)/share/bash-completion/completions/remora

# --- fuzzing: tests/fuzz/NAME_fuzz.cpp and the corpus beside it ----------------------------------------------------------
FUZZ_NAMES := $(sort $(patsubst tests/fuzz/%_fuzz.cpp,%,$(wildcard tests/fuzz/*_fuzz.cpp)))
FUZZ_CXX := clang++
FUZZ_FLAGS := $(COMMON) -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -Wno-unknown-warning-option
FUZZ_SOURCES := $(wildcard host/trace/*.cpp host/trace/*/*.cpp) $(CODEC_SOURCES) $(LIB_SOURCES) lib/assert_hosted.cpp \
  $(wildcard tests/support/fuzz_*.cpp)
FUZZ_RUNS := 20000
FUZZ_SECONDS := 0

$(BUILD)/fuzz/obj/%.cpp.o: %.cpp Makefile
	@mkdir -p $(@D)
	@echo '  FUZZ  $<'
	@$(FUZZ_CXX) $(FUZZ_FLAGS) -c $< -o $@

define fuzz_target
$(call linked_from,$(BUILD)/fuzz/$(1),$(call object,$(BUILD)/fuzz/obj,tests/fuzz/$(1)_fuzz.cpp $(FUZZ_SOURCES)))
$(BUILD)/fuzz/$(1):
	@echo '  LD    $$@'
	@$(FUZZ_CXX) -fsanitize=fuzzer,address,undefined $$(filter %.o,$$^) -o $$@ $(TRACE_LIBRARY_LIBS)
endef
$(foreach name,$(FUZZ_NAMES),$(eval $(call fuzz_target,$(name))))

test-fuzz: $(addprefix $(BUILD)/fuzz/,$(FUZZ_NAMES)) ## each reader under libFuzzer: FUZZ_RUNS=20000 inputs, or FUZZ_SECONDS=n
	@tests/fuzz/run.sh $(BUILD)/fuzz $(FUZZ_RUNS) $(FUZZ_SECONDS) $(FUZZ_NAMES)

# --- unit tests: tests/unit/<area>/*.cpp become build/test/<area>, with the sources they exercise ---------------------
TEST_AREAS := $(notdir $(patsubst %/,%,$(dir $(wildcard tests/unit/*/*.cpp))))
TEST_AREAS := $(sort $(TEST_AREAS))
TEST_SUPPORT := $(wildcard tests/support/*.cpp)
# Sources under test, by area; headers need no mention. The host's command line (main) never belongs to a test.
TESTED_lib :=
TESTED_tracer := $(filter-out tracer/kernel_instance.cpp,$(TRACER_SOURCES)) $(TRACER_ASM) $(ATTEMPTS_SOURCES)
LDFLAGS_tracer := $(ATTEMPTS_LDFLAGS)
TESTED_drivers := $(DRIVER_SOURCES)
TESTED_kernel = $(filter-out $(KERNEL_UNHOSTED),$(KERNEL_SOURCES)) $(wildcard tests/support/fake_machine/*.cpp)
LIBRARIES_host = $(HOST_LIBS)
TESTED_host := $(filter-out host/cli/main.cpp,$(HOST_SOURCES)) $(COMPAT_SOURCES) $(CODEC_SOURCES)
# Kernel files that only make sense on the machine.
KERNEL_UNHOSTED := $(wildcard kernel/root/*.cpp) kernel/panic.cpp kernel/console.cpp kernel/interrupt.cpp kernel/storm.cpp \
  kernel/real_mode.cpp kernel/fault.cpp kernel/fault_report.cpp

$(BUILD)/test/obj/%.cpp.o: %.cpp Makefile
	@mkdir -p $(@D)
	@echo '  TEST  $<'
	@$(CXX) $(TEST_CXXFLAGS) -c $< -o $@

$(BUILD)/test/obj/%.S.o: %.S Makefile
	@mkdir -p $(@D)
	@$(CXX) -g -iquote . -MMD -MP -DREMORA_TRACER=1 -c $< -o $@

test_sources = $(wildcard tests/unit/$(1)/*.cpp) $(TEST_SUPPORT) $(LIB_SOURCES) lib/assert_hosted.cpp $(TESTED_$(1))
define test_area
$(call linked_from,$(BUILD)/test/$(1),$(call object,$(BUILD)/test/obj,$(call test_sources,$(1))))
$(BUILD)/test/$(1):
	@echo '  LD    $$@'
	@$(CXX) $(SANITIZE) $(LDFLAGS_$(1)) $$(filter %.o,$$^) -o $$@ -lgmock -lgtest -lgtest_main -lfmt $(LIBRARIES_$(1)) -lpthread
endef
$(foreach area,$(TEST_AREAS),$(eval $(call test_area,$(area))))

test-unit: $(addprefix $(BUILD)/test/,$(TEST_AREAS)) ## the tests that need no QEMU
	@tests/unit.sh $^

# --- the other tests; each suite appends to the file RESULTS, if one is given ------------------------------------------
# Checks that pass over nothing would pass: without a list of files there is no check.
listed = $(or $(shell git ls-files -co --exclude-standard $(1) | sort),$(error git lists no files here: the checks need \
  a clone that git trusts; remedy: git config --global --add safe.directory $(CURDIR)))
SOURCES = $(call listed,'*.hpp' '*.cpp' '*.h' '*.S')
SCRIPTS = $(call listed,'*.sh' '.ci/*')
export KERNEL TEST_KERNEL EFI REMORA BUILD CASES

test-structure: kernel $(TEST_KERNEL) ## includes, headers, image sections, style, TRACER=OFF
	@$(MAKE) --no-print-directory kernel TRACER=OFF TSC=TRUE
	@tests/structure/run.sh

test-model: ## the model of the record path: every variant, every mutant
	@tests/models/run.py ci

verify: deps ## the model again, and its large variants (minutes)
	@tests/models/run.py verify

check-headers: export HEADER_FLAGS_KERNEL = $(filter-out -MMD -MP,$(KERNEL_CXXFLAGS))
check-headers: export HEADER_FLAGS_HOST = $(filter-out -MMD -MP,$(HOST_CXXFLAGS))
check-headers: export HEADER_FLAGS_TEST = $(filter-out -MMD -MP,$(TEST_CXXFLAGS))
check-headers: export HEADER_FLAGS_EFI = $(filter-out -MMD -MP,$(EFI_FLAGS))
check-headers: ## every header compiles alone
	@tests/structure/headers_alone.sh $(filter %.hpp %.h,$(SOURCES))

verify-entries: $(KERNEL) ## show what every interrupt gate does to an interrupted record
	@tests/structure/entry_check.py --table

COMPENSATED_TEST_KERNEL := $(BUILD)/kernel-compensation/kernel-test.elf
test-kernel: $(TEST_KERNEL) $(REMORA) ## the cases that run in the guest
	@$(MAKE) --no-print-directory COMPENSATION=ON TRACER=NEW TSC=TRUE $(COMPENSATED_TEST_KERNEL)
	@tests/integration/run.py guest

test-integration: kernel $(TEST_KERNEL) host $(EFI) ## boots, exports and faults, from outside
	@$(MAKE) --no-print-directory COMPENSATION=ON TRACER=NEW TSC=TRUE $(COMPENSATED_TEST_KERNEL)
	@$(MAKE) --no-print-directory kernel TRACER=OFF TSC=TRUE
	@tests/integration/run.py outside

test-viewers: $(REMORA) compat ## what `remora convert` writes, read by the programs it is meant for
	@tests/viewers/run.py

test-mutants: $(REMORA) ## kernels with one thing wrong each: `remora check` must name the rule
	@tests/mutants/run.py

golden-diff: export KERNEL := $(KERNEL)
golden-diff: export REMORA := $(REMORA)
golden-diff: kernel host ## the first event in which an application's schedule differs from the golden file
	@tests/golden/golden.py diff

golden: export KERNEL := $(KERNEL)
golden: export REMORA := $(REMORA)
golden: kernel host ## write the golden files anew: for a change that is intended
	@tests/golden/golden.py update

test: deps ## all tests
	@tests/all.sh test-unit test-structure test-model soak test-kernel test-integration test-viewers test-fuzz golden-diff experiment-clock

lint: export TIDY_FLAGS = -std=c++20 -iquote . -isystem /usr/include/efi -I tests/support/fake_machine \
  -DREMORA_TRACER=1 -DREMORA_TSC=1 -Wno-unknown-warning-option -fconstexpr-steps=100000000
lint: ## clang-format, clang-tidy, shellcheck
	@.ci/lint $(SOURCES) $(SCRIPTS)

format: ## apply clang-format
	@clang-format -i $(filter %.hpp %.cpp %.h,$(SOURCES))

# --- running -----------------------------------------------------------------------------------------------------------
PACKAGES_RUN := g++ make binutils qemu-system-x86 ovmf gnu-efi mtools dosfstools libcli11-dev libfmt-dev \
  nlohmann-json3-dev libsqlite3-dev libzstd-dev libprotozero-dev pkg-config
PACKAGES_TEST := libgtest-dev libgmock-dev tshark sqlite3 clang-format clang-tidy shellcheck gdb python3 \
  valgrind git libbenchmark-dev liblttng-ust-dev lttng-tools spin clang libclang-rt-14-dev groff man-db \
  babeltrace2 trace-cmd kernelshark xvfb imagemagick x11-utils xdotool gtkwave protobuf-compiler
ALL_PACKAGES := $(PACKAGES_RUN) $(PACKAGES_TEST)
PACKAGES := $(ALL_PACKAGES)
# All processors, unless the user said how many.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
CHECK :=
DEPS :=
GDB_PORT := 1234
CASES :=
export GDB_PORT

deps: ## install the Debian packages that are missing (CHECK=1: only name them)
	@$(if $(filter skip,$(DEPS)),:,.ci/deps $(if $(CHECK),--check) $(PACKAGES))

apps: ## what APP= may name
	@source qemu/lib.sh && list_apps

run: ## build, boot, receive the trace, check it
	@source qemu/lib.sh && check_values
	@$(MAKE) --no-print-directory deps PACKAGES='$(PACKAGES_RUN)'
	@$(MAKE) --no-print-directory $(JOBS) all
	@qemu/run.sh $(KERNEL) $(EFI) $(REMORA)

debug: ## boot stopped, for gdb
	@source qemu/lib.sh && check_values
	@$(MAKE) --no-print-directory deps PACKAGES='$(PACKAGES_RUN) gdb'
	@$(MAKE) --no-print-directory $(JOBS) kernel $(EFI)
	@qemu/debug.sh $(KERNEL) $(EFI)

# --- soak: the record path's object code under a storm of signals; optimised, no sanitizer -----------------------------
RECORDS := 100000000
SOAK := $(BUILD)/soak/record_soak
SOAK_OBJECTS := $(call object,$(BUILD)/bench/obj,$(wildcard tests/soak/*.cpp) tests/bench/uncounted.cpp lib/assert_hosted.cpp \
  $(filter-out tracer/kernel_instance.cpp,$(TRACER_SOURCES)) $(TRACER_ASM))

$(eval $(call linked_from,$(SOAK),$(SOAK_OBJECTS)))
$(SOAK):
	@echo '  LD    $@'
	@$(CXX) $(filter %.o,$^) -o $@ -lgtest -lfmt -lpthread

soak: $(SOAK) ## RECORDS=n records under nested interrupts: none torn, inverted or uncounted
	@tests/soak/run.sh $(SOAK) $(RECORDS)

# --- figures ---------------------------------------------------------------------------------------------------------
BENCH := $(BUILD)/bench/record_cost
BENCH_SOURCES := $(addprefix tests/bench/,record_cost.cpp variants.cpp goals.cpp lttng_peer.cpp uncounted.cpp)
BENCH_OBJECTS := $(call object,$(BUILD)/bench/obj,$(BENCH_SOURCES) lib/assert_hosted.cpp \
  $(filter-out tracer/kernel_instance.cpp,$(TRACER_SOURCES)) $(TRACER_ASM)) $(BUILD)/bench/fake_clock.o
LTTNG_PEER := $(BUILD)/bench/lttng/lttng_peer.so

$(BUILD)/bench/obj/%.cpp.o: %.cpp Makefile
	@mkdir -p $(@D)
	@echo '  BENCH $<'
	@$(CXX) $(HOST_CXXFLAGS) -mno-red-zone -DREMORA_TRACER=1 -c $< -o $@

$(BUILD)/bench/obj/%.S.o: %.S Makefile
	@mkdir -p $(@D)
	@$(CXX) -g -iquote . -MMD -MP -DREMORA_TRACER=1 -c $< -o $@

# The record path once more, with a counter in memory for a clock: two names are changed, the others stay inside.
$(BUILD)/bench/fake_clock.o: tracer/record_path.S tests/bench/fake_clock.h Makefile
	@mkdir -p $(@D)
	@$(CXX) -g -iquote . -MMD -MP -DREMORA_TRACER=1 -include tests/bench/fake_clock.h -c $< -o $@
	@objcopy --redefine-sym tracer_record=bench_fake_record --redefine-sym tracer_record_long=bench_fake_record_long \
	  --keep-global-symbol=bench_fake_record --keep-global-symbol=bench_fake_record_long $@

# A peer: LTTng-UST's event provider, generated by its own tool.
$(LTTNG_PEER): tests/bench/lttng_peer.tp tests/bench/lttng_peer.c Makefile
	@mkdir -p $(@D)
	@echo '  BENCH $<'
	@cp $< $(@D)
	@cd $(@D) && lttng-gen-tp -o lttng_peer_tp.h -o lttng_peer_tp.c lttng_peer.tp
	@gcc -O2 -fPIC -shared -I$(@D) $(@D)/lttng_peer_tp.c tests/bench/lttng_peer.c -o $@ -llttng-ust

$(eval $(call linked_from,$(BENCH),$(BENCH_OBJECTS)))
$(BENCH):
	@echo '  LD    $@'
	@$(CXX) $(filter %.o,$^) -o $@ -lbenchmark -lgtest -lfmt -ldl -lpthread

# The encoder is measured as the kernel has it.
COMPACT_BENCH := $(BUILD)/bench/compact_cost
$(BUILD)/bench/obj/tracer/compact/%.cpp.o: HOST_CXXFLAGS += -mgeneral-regs-only

$(eval $(call linked_from,$(COMPACT_BENCH),$(call object,$(BUILD)/bench/obj,tests/bench/compact_cost.cpp \
  lib/assert_hosted.cpp $(CODEC_SOURCES))))
$(COMPACT_BENCH):
	@echo '  LD    $@'
	@$(CXX) $(filter %.o,$^) -o $@

bench: deps $(BENCH) $(LTTNG_PEER) $(COMPACT_BENCH) kernel $(TEST_KERNEL) $(EFI) $(REMORA) ## measure: one line FIGURE, PEER or GOAL each
	@$(MAKE) --no-print-directory kernel TRACER=OFF TSC=TRUE
	@tests/bench/run.sh $(BENCH) $(LTTNG_PEER) $(COMPACT_BENCH) $(KERNEL) $(TEST_KERNEL) $(EFI) $(REMORA)

# The host tools, compiled as they are shipped.
HOST_BENCH := $(BUILD)/bench/host_speed
HOST_BENCH_EVENTS := 6000000
$(eval $(call linked_from,$(HOST_BENCH),$(call object,$(BUILD)/host,tests/bench/host_speed.cpp tests/bench/plain_output.cpp \
  $(filter-out host/cli/main.cpp,$(HOST_SOURCES)) $(CODEC_SOURCES) $(LIB_SOURCES) lib/assert_hosted.cpp)))
$(HOST_BENCH):
	@echo '  LD    $@'
	@$(CXX) $(filter %.o,$^) -o $@ $(HOST_LIBS)

bench-host: $(HOST_BENCH) $(REMORA) ## measure the host tools beside naive loops and babeltrace2
	@tests/bench/host.py $(HOST_BENCH) $(REMORA) $(HOST_BENCH_EVENTS)

# With the tracer there is room for fewer stacks.
BENCH_TASKS := 1100
BENCH_TASKS_TRACED := 160

bench-kernel: ## instructions of the kernel's operations beside 10, 100 and 1000 tasks; longest section without interrupts
	@$(MAKE) --no-print-directory kernel-bench TRACER=OFF TSC=TRUE TASKS=$(BENCH_TASKS)
	@$(MAKE) --no-print-directory kernel-bench TRACER=NEW TSC=TRUE TASKS=$(BENCH_TASKS_TRACED)
	@$(MAKE) --no-print-directory kernel-bench TRACER=OFF TSC=TRUE SECTIONS=1
	@tests/bench/kernel_operations.py $(BUILD) $(BENCH_TASKS) $(BENCH_TASKS_TRACED)

clean: ## remove build/
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
