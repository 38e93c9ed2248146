# Options: their names, their valid values, and the errors for invalid ones.
#
# shark.cfg contains lines KEY = VALUE; the command line overrides them; the environment is ignored. An unknown key or
# value stops the build with a list of the valid ones.
OPTION_KEYS   := TRACER TSC COMPENSATION COMPACT APP SINK PROTOCOL STREAM BOOT ACCEL CLOCK NIC INTERRUPTS CLI_STI WATCHDOG_MS OUT FORMATS
RUN_OPTION_KEYS := PORT SEED KEY OBSERVE DURATION_MS LIMIT_MS TIMEOUT_S ITRACE CLOCK_STEP CLOCK_TRIGGER CLOCK_MAX_DELTA CLOCK_NEAR_ZERO \
  CLOCK_RECORDS SHIFT EVENT_SHIFT
# What the environment has of them, before a line of this file changes it: `BOOT=uefi make run` would not do what it says.
$(foreach key,$(OPTION_KEYS) $(RUN_OPTION_KEYS) CASES,$(eval ENVIRONMENT_$(key) := $$(if $$(filter environment,$$(origin $(key))),$$($(key)))))
VALUES_TRACER := NEW OFF
VALUES_TSC    := TRUE FALSE
VALUES_COMPENSATION := ON OFF
VALUES_COMPACT := OFF AUTO A B C D plan12 A2 B2 C2 D2 large64 large96
VALUES_SINK   := udp disk both none auto
VALUES_PROTOCOL := auto v1 v2
VALUES_STREAM := ON OFF
VALUES_BOOT   := uefi pvh
VALUES_ACCEL  := tcg kvm
VALUES_CLOCK  := tcg icount
VALUES_NIC    := pci isa none
VALUES_FORMATS := image inband
VALUES_INTERRUPTS := full light count
VALUES_CLI_STI := ON OFF

# KVM emulates no instructions to be counted: only CLOCK=icount on the command line is refused with it.
kvm_clock = $(if $(filter kvm,$(ACCEL)),$(if $(filter command,$(origin CLOCK)),,$(eval CLOCK := tcg)))

# `make help` and `make clean` work even if shark.cfg is wrong.
ifneq ($(filter-out help clean,$(MAKECMDGOALS)),)
  refuse = $(error $(1))
endif

CONFIG_FILE := shark.cfg
ifeq ($(wildcard $(CONFIG_FILE)),)
  $(call refuse,CONFIG_FILE=$(CONFIG_FILE) does not exist)
endif
# One word per line: a separator inside a line becomes <blank>, which no option may contain.
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

$(kvm_clock)

# A value is one word without %, which matches any text in a comparison of make; it is valid if it is in the list.
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

ifeq ($(filter OFF,$(COMPACT))$(TRACER),OFF)
  $(call refuse,COMPACT=$(COMPACT) needs TRACER=NEW$(comma) because nothing is recorded without a tracer: set TRACER=NEW or \
    COMPACT=OFF)
endif

ifneq ($(filter ON,$(STREAM)),)
  ifeq ($(filter udp auto,$(SINK)),)
    $(call refuse,STREAM=ON needs the network$(comma) because a chunk is recorded into again when it has left: set SINK=udp or \
      SINK=auto)
  endif
  ifeq ($(PROTOCOL),v1)
    $(call refuse,STREAM=ON needs acknowledgements$(comma) because only what was acknowledged is recorded over: set PROTOCOL=auto \
      or PROTOCOL=v2)
  endif
  ifeq ($(TRACER),OFF)
    $(call refuse,STREAM=ON needs TRACER=NEW$(comma) because nothing is recorded without a tracer: set TRACER=NEW or STREAM=OFF)
  endif
endif

# A misspelt variable on the command line is an error.
RUN_KEYS := CI $(RUN_OPTION_KEYS) CHECK DEPS CASES GDB_PORT PACKAGES CONFIG_FILE BUILD CXX WARNINGS WERROR PYTHON RECORDS TASKS SECTIONS \
  PREFIX DESTDIR LIBDIR FUZZ_RUNS FUZZ_SECONDS CLANG HOST_BENCH_EVENTS SCALE_EVENTS FLEET_EVENTS FLEET_ROUNDS CCACHE SINGLE DOCUMENT SEEDS SOAK_SEEDS RUNS FAST TSAN COUNTED AREA N STAGES AGAIN
$(foreach word,$(MAKEOVERRIDES),$(if $(findstring =,$(word)),\
  $(if $(filter $(firstword $(subst =, ,$(word))),$(OPTION_KEYS) $(RUN_KEYS)),,\
    $(error unknown variable "$(firstword $(subst =, ,$(word)))"; `make help` lists them: $(OPTION_KEYS) $(RUN_KEYS)))))

# Options of one run, not of the build.
$(foreach key,$(RUN_OPTION_KEYS),$(eval $(key) :=))
PORT := auto
SEED := 1
TIMEOUT_S := 120
CASES :=
AREA :=
N :=
STAGES :=
AGAIN :=
TSAN :=
COUNTED :=
FAST := $(COUNTED)
$(if $(filter-out 1,$(FAST)),$(call refuse,FAST=$(FAST) is not valid: FAST=1$(comma) or nothing))
WERROR :=
$(if $(filter-out 1,$(WERROR)),$(call refuse,WERROR=$(WERROR) is not valid: WERROR=1$(comma) or nothing))
export $(OPTION_KEYS) $(RUN_OPTION_KEYS)
$(foreach key,$(OPTION_KEYS) $(RUN_OPTION_KEYS) CASES,$(if $(ENVIRONMENT_$(key)),$(if $(filter-out x$(ENVIRONMENT_$(key)),x$($(key))),\
  $(if $(filter command,$(origin $(key))),,$(warning $(key)=$(ENVIRONMENT_$(key)) of the environment is ignored: \
  make $(MAKECMDGOALS) $(key)=$(ENVIRONMENT_$(key)))))))

# Only for `make bench-kernel`: a kernel for a number of tasks, and one that measures its interrupts-off sections.
TASKS :=
SECTIONS :=
KERNEL_NAME := kernel$(if $(filter OFF,$(TRACER)),-off)$(if $(filter FALSE,$(TSC)),-notsc)$(if \
  $(filter ON,$(COMPENSATION)),-compensation)$(if \
  $(TASKS),-tasks$(TASKS))$(if $(SECTIONS),-sections)
KERNEL_DIR := $(BUILD)/$(KERNEL_NAME)
KERNEL := $(KERNEL_DIR)/kernel$(if $(filter inband,$(FORMATS)),-inband).elf
CHECKED_DIR := $(KERNEL_DIR)/checked
COMMON_DIR := $(BUILD)/kernel-common$(if $(filter FALSE,$(TSC)),-notsc)
TEST_KERNEL := $(KERNEL_DIR)/kernel-test.elf
RELEASED_TEST_KERNEL := $(KERNEL_DIR)/kernel-test-released.elf
BENCH_KERNEL := $(KERNEL_DIR)/kernel-bench.elf
EFI := $(BUILD)/uefi/BOOTX64.EFI
REMORA := $(BUILD)/host/remora
REMORA_FULL := $(BUILD)/host/remora-full
REMORA_FLEET := $(BUILD)/host/remora-fleet
OBSERVER := $(BUILD)/host/observer.so
PYTHON_MODULE := $(BUILD)/python/remora.so

# What `make help` shows of them.
#= TRACER=NEW|OFF          record events, or build the kernel without any code of the tracer
#= TSC=TRUE|FALSE          clock of the kernel: time stamp counter, or HPET (then TRACER must be OFF)
#= COMPENSATION=ON|OFF     a clock that instruction-level tracing does not advance (docs/clock-compensation.md)
#= COMPACT=OFF|AUTO|layout how a run writes its chunks: as records, or compactly, in a layout of docs/trace-format.md
#=                         (A B C D plan12 A2 B2 C2 D2 large64 large96); AUTO chooses by measurements at the start
#= FORMATS=image|inband    texts of trace_printf: in the image alone, or also in front of each chunk (docs/user-events.md)
#= APP=name                application to run; `make apps` lists them
#= SINK=udp|disk|both|auto|none  where the trace goes; auto: to the network, and to the disk unless that acknowledges it
#= PROTOCOL=auto|v1|v2     of the network: acknowledged (TRACER-V2.0), as published (TRACER-V1.0), or the first if answered
#= STREAM=ON|OFF           send while the application runs, so that a long run needs no more memory than a short one
#=                         (not with PROTOCOL=v1); or after its end
#= BOOT=uefi|pvh           through OVMF and BOOTX64.EFI, or directly into the kernel
#= ACCEL=tcg|kvm           QEMU's accelerator
#= CLOCK=icount|tcg        a clock that counts instructions (exact; not with ACCEL=kvm), or the host's clock
#= NIC=pci|isa|none        which NE2000
#= INTERRUPTS=full|light|count  begin and end of each interrupt; one record each; one record for each thousand
#= CLI_STI=ON|OFF          record CLI and STI around the kernel's sections with interrupts off; with BOOT=pvh so many that
#=                         records are dropped: shorten the run by DURATION_MS=n
#= WATCHDOG_MS=n           panic, and export the trace, when nothing happens for n ms: interrupts are off, a handler or a
#=                         task does not end, or every task waits for nothing (docs/watchdog.md); 0: never
#= OUT=dir                 where the session goes: dir/udp, dir/disk
#= PORT=n SEED=n           UDP port of the collector (20000, or a free one if that is taken), seed of the workload
#= KEY=file                32 hexadecimal digits that collector and machine share: the export is authenticated. It is
#=                         handed over by QEMU; another machine has it as \remora.key beside \kernel.elf (BOOT=uefi)
#= OBSERVE=on|off          with CLOCK=icount: an observer outside of the machine notes when devices raise interrupts, in
#=                         OUT/raises.csv (docs/latency.md)
#= DURATION_MS=n           length of the workload, if the application offers it
#= LIMIT_MS=n              the kernel ends the run after n ms of its clock and exports the trace, whatever the application does
#= SHIFT=task:n,... EVENT_SHIFT=n  activations of these tasks are n ticks later, and periodic timer events (docs/sweep.md)
#= ITRACE=instructions|blocks  tasks run in steps, in an application that offers it (docs/instruction-tracing.md)
#= CLOCK_STEP=n CLOCK_TRIGGER=n CLOCK_MAX_DELTA=n CLOCK_NEAR_ZERO=n  with COMPENSATION=ON (docs/clock-compensation.md)
#= CLOCK_RECORDS=on|off    with COMPENSATION=ON: records, not steps, take no time on the kernel's clock
#= TIMEOUT_S=n             after n seconds an NMI makes the kernel panic and export; 30 s later the machine is stopped
#= CHECK=1                 for `make deps`: only list what is missing
#= DEPS=skip               do not look for Debian packages (systems without apt)
#= CASES='pattern ...'     for `make test-kernel`, `make test-integration`, `make test-viewers`: only the cases whose name matches;
#=                         for `make test-unit`: only these programs: CASES='host-schedule host-cli*'
#= FAST=1                  for `make test-unit`: without sanitizers, in a directory of its own (build/test-fast)
#= AREA=name N=n SEED=n STAGES=name,... AGAIN=1  for `make mutate`: where, how many mutants and which, by which tests;
#=                         survivors once more (docs/verification.md)
#= RUNS=n                  for `make sweep`: the greatest number of runs (1000)
#= RECORDS=n               for `make test-record-path`: the number of records to check
#= FUZZ_RUNS=n FUZZ_SECONDS=n  for `make test-fuzz`
#= PREFIX=dir DESTDIR=dir LIBDIR=dir  for `make install`, `make install-tracer`
#= CCACHE= SINGLE=%        compile without ccache (used if it is installed); each source by itself, not those of a folder together
#= CXX=program WERROR=1    the compiler of kernel and tools: g++ or clang++; its warnings are errors, as in .ci/run, except in
#=                         applications
#= PYTHON=program          for `make python`: the interpreter that will import the module (Debian's, /usr/bin/python3)
#= GDB_PORT=n              for `make debug`: where QEMU waits for gdb
