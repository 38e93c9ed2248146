# The flags of each kind of program, and the rules that compile and link with them.
#
#   kind     objects in                 flags
#   kernel   build/kernel-<options>/    KERNEL_CXXFLAGS   freestanding
#   common   build/kernel-common/       COMMON_CXXFLAGS   lib, drivers and tracer, the same in every kernel
#   checked  .../checked/               the same          the test kernel: checks every assertion (lib/assert.hpp)
#   efi      build/uefi/                EFI_FLAGS         GNU-EFI, relocatable
#   host     build/host/                HOST_CXXFLAGS     as released
#   python   build/python/obj/          the same          the bindings, with the headers of Python (mk/python.mk)
#   test     build/test/obj/            TEST_CXXFLAGS     clang's, address and undefined-behaviour sanitizers; also for libFuzzer
#   test     build/test-fast/obj/       the same          with FAST=1: without sanitizers
#   test     build/test-tsan/obj/       the same          with FAST=1 TSAN=1: under the thread sanitizer (make test-tsan)
#   test     build/coverage/obj/        the same          with COUNTED=1: as with FAST=1, and lines are counted
#   sim      build/simulation/obj/      as the host tools, with every assertion
#   bench    build/bench/obj/           BENCH_CXXFLAGS    as the host tools, with the record path
CXX := g++
CLANG := clang++
CLANG_CXX := $(findstring clang,$(CXX))
# Compiles through ccache if it is installed; CCACHE= disables it.
CCACHE := $(shell command -v ccache)

# Each compiler, and each version of it, warns of other things, so a warning is an error only if WERROR=1 asks for it. Only
# g++ is asked for the warnings that clang does not know.
ERROR := $(if $(WERROR),-Werror)
GNU_WARNINGS := -Wuseless-cast -Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wcast-align=strict \
  -Wimplicit-fallthrough=5 -Wvolatile
WARNINGS := $(ERROR) -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnull-dereference \
  -Wnon-virtual-dtor -Woverloaded-virtual -Wformat=2 -Wundef -Wmissing-declarations -Wredundant-decls -Wvla -Wswitch-enum \
  -Wextra-semi -Wzero-as-null-pointer-constant -Wsuggest-override -Wmismatched-tags \
  $(if $(CLANG_CXX),-Wno-string-conversion,$(GNU_WARNINGS))
# An application belongs to its user: no warning refuses it, and none of them is about style.
STYLE_WARNINGS = $(filter-out -Wall -Wextra -w,$(WARNINGS))
COMMON := -std=c++20 -g -iquote . -MMD -MP
CHECKED := -DREMORA_CHECKED=1

KERNEL_DEFINES := -DREMORA_TRACER=$(if $(filter NEW,$(TRACER)),1,0) -DREMORA_TSC=$(if $(filter TRUE,$(TSC)),1,0) \
  $(if $(filter ON,$(COMPENSATION)),-DREMORA_COMPENSATION=1) $(if $(TASKS),-DREMORA_TASKS=$(TASKS)) $(if $(SECTIONS),-DREMORA_SECTIONS=1)
# With -mgeneral-regs-only clang refuses the headers of the library that name long double.
GENERAL_REGISTERS := $(if $(CLANG_CXX),-mno-mmx -mno-sse -msoft-float,-mgeneral-regs-only)
# The image has the same names of sources wherever it is built.
RELATIVE := -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=./=
KERNEL_FLAGS := -O2 -ffreestanding -mno-red-zone $(GENERAL_REGISTERS) -mcmodel=small -fno-pic -fno-pie \
  -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -fcf-protection=none \
  -fno-stack-protector $(RELATIVE) $(KERNEL_DEFINES) -I arch/x86_64
KERNEL_CXXFLAGS := $(COMMON) $(WARNINGS) -Wframe-larger-than=1024 $(KERNEL_FLAGS) -fno-exceptions -fno-rtti \
  -fno-threadsafe-statics -fno-use-cxa-atexit
# These rooms know no option but the clock: they are compiled once for all kernels.
COMMON_ROOMS := lib/% drivers/% tracer/%
COMMON_DEFINES := -DREMORA_TRACER=1 $(filter -DREMORA_TSC=%,$(KERNEL_DEFINES))
COMMON_CXXFLAGS := $(filter-out $(KERNEL_DEFINES),$(KERNEL_CXXFLAGS)) $(COMMON_DEFINES)
KERNEL_LDFLAGS := -nostdlib -static -no-pie -Wl,-T,linker.ld -Wl,-z,max-page-size=0x1000 -Wl,--build-id=sha1 \
  -Wl,--orphan-handling=error -Wl,--fatal-warnings -Wl,--gc-sections -Wl,-z,noexecstack

# Hosted code carries line tables alone (-g1): whole debug information costs a third of the compiler's time.
HOST_CXXFLAGS := $(COMMON) -g1 $(WARNINGS) -O1 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -Wa,-I,$(BUILD)
TEST := $(BUILD)/$(if $(COUNTED),coverage,test$(if $(TSAN),-tsan,$(if $(FAST),-fast)))
SANITIZE := $(if $(TSAN),-fsanitize=thread,$(if $(FAST),,-fsanitize=address$(comma)undefined -fno-sanitize-recover=all))
# Counters of executed lines, of production code alone. They are in the mapped file: also those of a child that leaves by
# _exit(), as tests of the fake machine do, or that a failed assertion ends.
COUNTERS := $(if $(COUNTED),-fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation \
  -fprofile-list=tests/verification/counted.txt)
# g++ compiles the tools, clang the tests, so the sources are known to compile with both. A defaulted <=> compares with the
# literal 0, and an assertion that never holds is a text: both are no fault.
TEST_CXXFLAGS = $(COMMON) $(filter-out $(GNU_WARNINGS) -Wzero-as-null-pointer-constant,$(WARNINGS)) \
  -Wno-string-conversion $(if $(FAST),-g0,-g1) $(TEST_OPTIMISE) $(SANITIZE) $(FUZZED) $(COUNTERS) -fPIC -fconstexpr-steps=100000000 \
  -mno-red-zone -DREMORA_TRACER=$(TEST_TRACER) -DREMORA_TSC=1 $(CHECKED) -I tests/support/fake_machine -Wa,-I,$(BUILD)
TEST_CXX := $(CLANG)
# The tools and the tests are many files with large libraries: without optimisation they compile in half the time.
TEST_OPTIMISE := -O1
$(addprefix $(TEST)/obj/,host/% convert/% foreign/% fleet/% tests/unit/% tests/fuzz/%): TEST_OPTIMISE := -O0
# What the fuzz targets call reports where it has been.
$(addprefix $(TEST)/obj/,host/formats/% host/text/% host/trace/% foreign/% host/collector/% drivers/% tracer/reliable/%): \
  FUZZED := $(if $(FAST),,-fsanitize=fuzzer-no-link)
# This one counts the instructions that its own sources become.
$(TEST)/obj/tests/unit/tracer/log_test.cpp.o: TEST_OPTIMISE := -O1
$(TEST)/obj/tests/unit/tracer/log_test.cpp.o: TEST_CXX := $(CXX)
$(TEST)/obj/tests/unit/tracer/log_test.cpp.o: TEST_CXXFLAGS := $(COMMON) $(WARNINGS) -g1 -O1 -mno-red-zone -DREMORA_TRACER=1 -DREMORA_TSC=1 \
  $(CHECKED) -I tests/support/fake_machine
# The kernel's own unit tests run without a tracer, but for those of the bridge to it: the trace is checked in the guest.
TEST_TRACER := 1
$(addprefix $(TEST)/obj/,kernel/% tests/unit/kernel/% tests/support/fake_machine/%): TEST_TRACER := 0
$(TEST)/obj/tests/unit/kernel/trace/%: TEST_TRACER := 1
EFI_FLAGS := $(COMMON) -O2 -Wall -Wextra $(ERROR) -ffreestanding -fno-exceptions -fno-rtti -fno-threadsafe-statics \
  -fpic -fshort-wchar -mno-red-zone -maccumulate-outgoing-args -fno-stack-protector -fno-strict-aliasing \
  -fcf-protection=none -DGNU_EFI_USE_MS_ABI -isystem /usr/include/efi -isystem /usr/include/efi/x86_64 \
  -isystem /usr/include/efi/protocol
BENCH_CXXFLAGS = $(HOST_CXXFLAGS) -mno-red-zone -DREMORA_TRACER=1

object = $(addprefix $(1)/,$(addsuffix .o,$(2)))
# kernel_objects DIRECTORY SOURCES: those of the common rooms are in a directory of their own.
kernel_objects = $(call units,$(1),$(filter-out $(COMMON_ROOMS),$(2))) \
  $(call units,$(patsubst $(KERNEL_DIR)%,$(COMMON_DIR)%,$(1)),$(filter $(COMMON_ROOMS),$(2)))

# units DIRECTORY SOURCES: the objects of the sources, those of a folder together (mk/units.sh) but for what is in SINGLE.
SINGLE := lib/% apps/% arch/% tracer/% foreign/published/% foreign/tools/% tests/bench/% tests/soak/% tests/support/attempts/% \
  tests/accounting/% tests/unit/tracer/log_test.cpp
units = $(call object,$(1),$(filter $(SINGLE) %.S,$(2))) $(call united,$(1),$(filter-out $(SINGLE) %.S,$(2)))
# Who builds the kernel or the tools has no use for the units of the tests, each folder of which costs a process.
FOR_USERS := help clean run debug deps apps kernel host fleet compat port python install install-tracer dist deb \
  $(KERNEL) $(EFI) $(REMORA) $(REMORA_FULL) $(REMORA_FLEET) $(OBSERVER) $(PYTHON_MODULE)
GOALS_OF_TESTS := $(filter-out $(FOR_USERS),$(MAKECMDGOALS))
has_units = $(and $(2),$(filter-out help clean,$(MAKECMDGOALS)),$(or $(GOALS_OF_TESTS),$(filter-out $(TEST)/% $(BUILD)/simulation/%,$(1))))
united = $(if $(call has_units,$(1),$(2)),$(shell mk/units.sh $(1) $(2)))

# compiled DIRECTORY LABEL COMMAND: objects of C++ sources and of units; assembled DIRECTORY DEFINES: of assembler.
define compiled
$(1)/%.cpp.o: %.cpp mk/flags.mk
	@mkdir -p $$(@D)
	@echo '  $(2) $$<'
	@$$(CCACHE) $(3) -c $$< -o $$@
$(1)/%/unit.o: $(1)/%/unit.cpp mk/flags.mk
	@echo '  $(2) $$*/'
	@$$(CCACHE) $(3) $$(if $$(findstring clang,$$(firstword $(3))),,-Wno-subobject-linkage) -c $$< -o $$@
endef
define assembled
$(1)/%.S.o: %.S mk/flags.mk
	@mkdir -p $$(@D)
	@echo '  AS    $$<'
	@$$(CXX) -g -iquote . -MMD -MP $(RELATIVE) $(if $(CLANG_CXX),-fdebug-compilation-dir=.) $(2) -c $$< -o $$@
endef
$(KERNEL_DIR)/apps/% $(CHECKED_DIR)/apps/%: KERNEL_CXXFLAGS := $(filter-out $(STYLE_WARNINGS),$(KERNEL_CXXFLAGS))
$(eval $(call compiled,$(KERNEL_DIR),CXX  ,$$(CXX) $$(KERNEL_CXXFLAGS)))
$(eval $(call compiled,$(CHECKED_DIR),CHECK,$$(CXX) $$(KERNEL_CXXFLAGS) $(CHECKED)))
$(eval $(call compiled,$(COMMON_DIR),CXX  ,$$(CXX) $$(COMMON_CXXFLAGS)))
$(eval $(call compiled,$(COMMON_DIR)/checked,CHECK,$$(CXX) $$(COMMON_CXXFLAGS) $(CHECKED)))
$(eval $(call compiled,$(BUILD)/uefi,EFI  ,$$(CXX) $$(EFI_FLAGS)))
$(eval $(call compiled,$(BUILD)/host,HOST ,$$(CXX) $$(HOST_CXXFLAGS)))
$(eval $(call compiled,$(TEST)/obj,TEST ,$$(TEST_CXX) $$(TEST_CXXFLAGS)))
$(eval $(call compiled,$(BUILD)/simulation/obj,SIM  ,$$(CXX) $$(HOST_CXXFLAGS) $(CHECKED)))
$(eval $(call compiled,$(BUILD)/bench/obj,BENCH,$$(CXX) $$(BENCH_CXXFLAGS)))
$(eval $(call assembled,$(KERNEL_DIR),$$(KERNEL_DEFINES)))
$(eval $(call assembled,$(CHECKED_DIR),$$(KERNEL_DEFINES)))
$(eval $(call assembled,$(COMMON_DIR),$$(COMMON_DEFINES)))
$(eval $(call assembled,$(COMMON_DIR)/checked,$$(COMMON_DEFINES)))
$(eval $(call assembled,$(TEST)/obj,-DREMORA_TRACER=1))
$(eval $(call assembled,$(BUILD)/bench/obj,-DREMORA_TRACER=1))

# linked_from PROGRAM OBJECTS: removing a source changes no remaining file, so the list of objects is a file as well,
# which is written only if it changes.
define linked_from
$(1): $(2) $(1).objects
$(1).objects: FORCE
	@mkdir -p $$(@D)
	@printf '%s\n' $(2) | cmp -s - $$@ || printf '%s\n' $(2) >$$@
endef
FORCE:

# linked PROGRAM OBJECTS OPTIONS [LINKER]: kernel images and the loader have rules of their own. archived LIBRARY OBJECTS.
define linked
$(call linked_from,$(1),$(2))
$(1):
	@echo '  LD    $$@'
	@$(or $(4),$$(CXX)) $$(filter %.o %.a %.so,$$^) -o $$@ $(3)
endef
define archived
$(call linked_from,$(1),$(2))
$(1):
	@echo '  AR    $$@'
	@rm -f $$@ && ar rcs $$@ $$(filter %.o,$$^)
endef
