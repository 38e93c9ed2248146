# Tests. Each suite appends its counts to the file RESULTS, if one is given.

# --- unit tests: each folder of tests/unit with sources in it is a program, tests/unit/host/trace is build/test/host-trace.
# A program links from the library of its area (build/test/host.a) what it uses.
TEST_SUPPORT := $(wildcard tests/support/*.cpp)
# Sources under test, by area; headers need not be listed. The host's command line (main) never belongs to a test.
TESTED_tracer := $(filter-out tracer/kernel_instance.cpp,$(TRACER_SOURCES)) $(TRACER_ASM) $(ATTEMPTS_SOURCES) \
  $(wildcard tests/support/tracer/*.cpp)
TESTED_drivers := $(DRIVER_SOURCES)
# Without the kernel files that only work on the machine.
TESTED_kernel := $(filter-out kernel/root/% kernel/panic/% kernel/interrupt/% kernel/run/real_mode.cpp,$(KERNEL_SOURCES)) \
  $(wildcard tests/support/fake_machine/*.cpp)
TESTED_host := $(filter-out fleet/program/main.cpp,$(FLEET_SOURCES)) $(COMPAT_SOURCES) host/observer/request_log.cpp $(CODEC_SOURCES) \
  $(wildcard tracer/reliable/sender*.cpp)
LIBRARIES_tracer := $(ATTEMPTS_LDFLAGS) $(GS_LDFLAGS)
LIBRARIES_host := $(FLEET_LIBS)

TEST_FOLDERS := $(sort $(patsubst %/,%,$(dir $(call DEEP,tests/unit,.cpp))))
# The tests of convert/, foreign/ and fleet/ use the library of the host, those of the kernel's bridge to the tracer its.
test_area = $(if $(filter tests/unit/kernel/trace,$(1)),tracer,$(patsubst convert,host,$(patsubst foreign,host,$(patsubst \
  fleet,host,$(word 3,$(subst /, ,$(1)))))))
test_program = $(TEST)/$(subst /,-,$(patsubst tests/unit/%,%,$(1)))
TEST_LD = $(CLANG) -fuse-ld=lld $(SANITIZE) $(if $(COUNTED),-fprofile-instr-generate)
# An area is a shared library, which its programs share. It may lack what only the machine has: no test calls that. With
# SINGLE=% it is an archive, from which a program takes the objects that it uses: so a mutant costs one object and a link.
# So is the tracer: tests know the addresses of its record path.
library_kind = $(if $(filter-out tracer,$(1)),$(if $(findstring lib/%,$(SINGLE)),so,a),a)
test_objects = $(call units,$(TEST)/obj,$(TESTED_$(1)) $(LIB_SOURCES) lib/assert_hosted.cpp)
define test_library
$(call linked,$(TEST)/lib$(1).so,$(call test_objects,$(1)),-shared $(LIBRARIES_$(1)),$$(TEST_LD))
$(call archived,$(TEST)/lib$(1).a,$(call test_objects,$(1)))
endef
$(eval $(call archived,$(TEST)/support.a,$(call object,$(TEST)/obj,$(TEST_SUPPORT))))
test_folder = $(call linked,$(call test_program,$(1)),$(call units,$(TEST)/obj,$(wildcard $(1)/*.cpp)) \
  $(TEST)/support.a $(TEST)/lib$(call test_area,$(1)).$(call library_kind,$(call test_area,$(1))),-Wl$(comma)-rpath$(comma)'$$$$ORIGIN' -Wl$(comma)--allow-shlib-undefined \
  -lgmock -lgtest -lgtest_main -lfmt $(LIBRARIES_$(call test_area,$(1))) -lpthread,$$(TEST_LD))
$(foreach area,$(sort $(foreach folder,$(TEST_FOLDERS),$(call test_area,$(folder)))),$(eval $(call test_library,$(area))))
$(foreach folder,$(TEST_FOLDERS),$(eval $(call test_folder,$(folder))))
TEST_PROGRAMS := $(foreach folder,$(TEST_FOLDERS),$(call test_program,$(folder)))
# The scripts of the page run under node, without a browser.
PAGE_TESTS := $(wildcard tests/unit/host/report/page/*_test.js)
TESTS_CHOSEN := $(if $(CASES),$(filter $(addprefix $(TEST)/,$(subst *,%,$(CASES))),$(TEST_PROGRAMS)),$(TEST_PROGRAMS))

.PHONY: test-unit
test-unit: $(TESTS_CHOSEN) $(if $(CASES),,$(PAGE_TESTS) $(D3)) ## test: the units, without QEMU, under sanitizers; FAST=1: without; the page's scripts
	@tests/unit.sh $(filter-out $(D3),$^)

# The programs whose tests have several threads at the same data.
.PHONY: test-tsan
test-tsan: ## test: work by several threads (-j), under the thread sanitizer
	$(call make_with,FAST=1 TSAN=1 CASES='host-workers host-analyse host-cli-event' test-unit)

.PHONY: soak-readings
soak-readings: export EVERY_PLACE := 1
soak-readings: export GTEST_FILTER := *Readings*
soak-readings: $(TEST)/host-formats ## test: a small input of each format, cut and changed at every place
	@tests/unit.sh $<

# The traces are those that the last `make test-kernel` left, beside those in the tree.
.PHONY: soak-loss
soak-loss: export EVERY_PLACE := 1
soak-loss: export RECORDS := 1500
soak-loss: export TRACES := $(wildcard $(BUILD)/guest/*/ramdisk.img.files)
soak-loss: export GTEST_FILTER := *Loss*
soak-loss: $(TEST)/host-analyse-oracle ## test: recorded traces without each record and each window of records
	@tests/unit.sh $<

# With counters, also what no program contains is compiled: its lines count as not executed. The linker leaves out of a
# library what no test of the area uses, so all of it is looked at.
UNTESTED := $(if $(COUNTED),$(call object,$(TEST)/obj,$(ARCH_SOURCES) $(filter-out $(TESTED_tracer),$(TRACER_SOURCES))))
COUNTED_OBJECTS := $(if $(COUNTED),$(sort $(UNTESTED) $(call units,$(TEST)/obj,$(filter tracer/%.cpp drivers/%.cpp kernel/%.cpp \
  host/%.cpp,$(foreach area,tracer drivers kernel host,$(TESTED_$(area)))))))
$(UNTESTED): TEST_CXX += -I arch/x86_64

.PHONY: verification-figures
verification-figures: $(if $(COUNTED),$(TEST_PROGRAMS) $(COUNTED_OBJECTS)) ## figures: write into docs/verification.md which lines the unit programs execute, what campaigns of mutants found, and what the model finds
	$(if $(COUNTED),@tests/verification/figures.py docs/verification.md $^,$(call make_with,$(JOBS) COUNTED=1 $@))

# Prints what the host library makes of jobs, for the comparison with tests/accounting/; as the host tools.
ACCOUNTS := $(BUILD)/host/accounts
$(eval $(call linked,$(ACCOUNTS),$(call host_objects,tests/accounting/accounts.cpp $(READER_SOURCES) $(wildcard host/schedule/*.cpp) \
  $(COMMON_SOURCES)),$(TRACE_LIBRARY_LIBS)))

# --- fuzzing: tests/fuzz/NAME_fuzz.cpp and the corpus beside it -----------------------------------------------------------
FUZZ_NAMES := $(sort $(patsubst tests/fuzz/%_fuzz.cpp,%,$(wildcard tests/fuzz/*_fuzz.cpp)))
FUZZ_RUNS := 2000
FUZZ_SECONDS := 0
# The objects of the unit tests: the readers and the collector are in the host's library; the guest's sender and its drivers.
fuzz_target = $(call linked,$(BUILD)/fuzz/$(1),$(call object,$(TEST)/obj,tests/fuzz/$(1)_fuzz.cpp $(wildcard tests/support/fuzz_*.cpp)) \
  $(TEST)/libhost.so $(TEST)/libdrivers.so,-fsanitize=fuzzer -Wl$(comma)-rpath$(comma)$$(CURDIR)/$(TEST) $(FLEET_LIBS),$$(TEST_LD))
$(foreach name,$(FUZZ_NAMES),$(eval $(call fuzz_target,$(name))))
FUZZ_PROGRAMS := $(addprefix $(BUILD)/fuzz/,$(FUZZ_NAMES))

.PHONY: test-fuzz
test-fuzz: $(FUZZ_PROGRAMS) ## test: readers, collector, drivers and sender under libFuzzer: FUZZ_RUNS=2000 inputs, or FUZZ_SECONDS=n
	@tests/fuzz/run.sh $(BUILD)/fuzz $(FUZZ_RUNS) $(FUZZ_SECONDS) $(FUZZ_NAMES)

.PHONY: soak-fuzz
soak-fuzz: FUZZ_RUNS := 100000
soak-fuzz: test-fuzz ## test: the same, 100000 inputs

# --- the record path's object code under a storm of signals; optimised, no sanitizer ------------------------------
RECORDS := 100000000
SOAK := $(BUILD)/soak/record_soak
$(eval $(call linked,$(SOAK),$(call object,$(BUILD)/bench/obj,$(wildcard tests/soak/*.cpp) tests/bench/uncounted.cpp \
  lib/assert_hosted.cpp $(filter-out tracer/kernel_instance.cpp,$(TRACER_SOURCES)) $(TRACER_ASM)),-no-pie $(GS_LDFLAGS) -lgtest -lfmt -lpthread))

.PHONY: test-record-path
test-record-path: $(SOAK) ## test: RECORDS=n records under nested interrupts: none torn, inverted or uncounted
	@tests/soak/run.sh $(SOAK) $(RECORDS)

# --- simulation: sender and receiver of the acknowledged export over a virtual network ------------------------------------
SEEDS := 2000
SOAK_SEEDS := 10000
SIMULATION := $(BUILD)/simulation/export
$(eval $(call linked,$(SIMULATION),$(call units,$(BUILD)/simulation/obj,$(wildcard tests/simulation/*.cpp tracer/reliable/sender*.cpp \
  host/collector/reliable/*.cpp) lib/assert_hosted.cpp),-lfmt))

.PHONY: test-simulation soak-simulation simulation-figures
test-simulation: $(SIMULATION) ## test: the export over a simulated network, SEEDS=2000 runs for each kind of failure
	@$(SIMULATION) $(SEEDS)

soak-simulation: $(SIMULATION) ## test: the same, SOAK_SEEDS=10000 runs
	@$(SIMULATION) $(SOAK_SEEDS)

simulation-figures: $(SIMULATION) ## figures: write into docs/adr/0014-reliable-export.md what the simulation measures
	@tests/simulation/figures.py $(SIMULATION) $(SEEDS) docs/adr/0014-reliable-export.md

# --- checks of the sources ------------------------------------------------------------------------------------------------
# A check without files would pass, so a missing list of files is an error.
listed = $(or $(shell git ls-files -co --exclude-standard $(1) | sort),$(error git lists no files here: the checks need \
  a clone that git trusts; remedy: git config --global --add safe.directory $(CURDIR)))
# Code of another house keeps its style.
SOURCES = $(filter-out examples/tiny/% examples/template/%,$(call listed,'*.hpp' '*.cpp' '*.h' '*.S'))
SCRIPTS = $(call listed,'*.sh' '.ci/*')
export KERNEL TEST_KERNEL EFI REMORA BUILD CASES
# Dependency files are not needed if nothing is built.
flags_to_check = $(filter-out -MMD -MP,$(1))

.PHONY: test-structure verify-entries check-headers lint format
test-structure: kernel $(TEST_KERNEL) ## test: includes, headers, image sections, style, TRACER=OFF
	$(call make_with,kernel $(OFF_OPTIONS))
	@tests/structure/run.sh

verify-entries: $(KERNEL) ## test: show the effect of every interrupt gate on an interrupted record
	@tests/structure/entry_check.py --table

check-headers: export HEADER_FLAGS_KERNEL = $(call flags_to_check,$(KERNEL_CXXFLAGS))
check-headers: export HEADER_FLAGS_HOST = $(call flags_to_check,$(HOST_CXXFLAGS) $(PYTHON_INCLUDES))
check-headers: export HEADER_FLAGS_TEST = $(call flags_to_check,$(filter-out -fconstexpr-steps=% -fsanitize=% -fno-sanitize-recover=%,$(TEST_CXXFLAGS)))
check-headers: export HEADER_FLAGS_EFI = $(call flags_to_check,$(EFI_FLAGS))
check-headers: ## test: every header compiles alone
	@tests/structure/headers_alone.py $(filter %.hpp %.h,$(SOURCES))

lint: export TIDY_FLAGS = -std=c++20 -iquote . -isystem /usr/include/efi $(PYTHON_INCLUDES) -I tests/support/fake_machine \
  -I $(LIBRARY)/include -DREMORA_TRACER=1 -DREMORA_TSC=1 -Wno-unknown-warning-option -fconstexpr-steps=100000000
lint: $(LIBRARY)/include/remora_events.h ## test: clang-format, clang-tidy, shellcheck
	@.ci/lint $(SOURCES) $(SCRIPTS)

format: ## test: apply clang-format
	@clang-format -i $(filter %.hpp %.cpp %.h,$(SOURCES))

# What the suites run is compiled before them, so that they are timed without a compiler.
.PHONY: test-build everything
test-build: ## test: compile what the other suites run; the processor time has a limit
	+@tests/build_cost.sh $(MAKE) --no-print-directory everything

everything: all compat fleet port $(PYTHON_MODULE) $(TEST_KERNEL) $(RELEASED_TEST_KERNEL) $(ACCOUNTS) $(SOAK) $(SIMULATION) $(TEST_PROGRAMS) $(FUZZ_PROGRAMS) ## build: what `make test` runs
	$(call make_with,kernel $(COMPENSATED_OPTIONS) $(COMPENSATED_TEST_KERNEL))
	$(call make_with,kernel $(OFF_OPTIONS))

# --- whole programs ---------------------------------------------------------------------------------------------------------
.PHONY: test test-model verify test-kernel test-integration test-viewers test-mutants test-mutants-slice golden golden-diff
test: deps ## test: everything
	@tests/all.sh test-build test-unit test-structure test-model test-record-path test-simulation test-kernel test-integration test-viewers test-fleet test-mutants-slice test-fuzz golden-diff experiment-clock

.PHONY: soak
soak: deps ## test: every header alone; long campaigns: SOAK_SEEDS=10000 simulated exports for each kind of failure, 200 hangs, 200 resets, 1000 random task sets, small inputs damaged at every place, traces without each record, the compensated clock under assertions, 100000 fuzz inputs, test-tsan
	@tests/all.sh check-headers soak-simulation soak-hangs soak-resets soak-sets soak-readings soak-loss soak-compensated soak-fuzz test-record-path test-tsan soak-fleet soak-packages soak-mutate

.PHONY: soak-compensated
soak-compensated: export COMPENSATED_TEST_KERNEL := $(BUILD)/kernel-compensation/kernel-test.elf
soak-compensated: $(TEST_KERNEL) $(REMORA) ## test: the cases of the compensated clock in a kernel that checks its assertions
	$(call make_with,$(COMPENSATED_OPTIONS) $(COMPENSATED_TEST_KERNEL))
	@tests/run.py guest '*_compensated'

.PHONY: soak-hangs
soak-hangs: export HANGS := 200
soak-hangs: $(TEST_KERNEL) $(REMORA) ## test: two hundred hangs at random instants
	@tests/run.py integration hangs_at_random_instants

.PHONY: soak-resets
soak-resets: export RESETS := 200
soak-resets: $(TEST_KERNEL) $(REMORA) ## test: two hundred resets at random instants
	@tests/run.py integration resets_at_random_instants

.PHONY: soak-sets
soak-sets: export RANDOM_SETS := 1000
soak-sets: $(TEST_KERNEL) host $(ACCOUNTS) ## test: a thousand random task sets
	@tests/run.py guest 'random_sets_*'

test-model: ## test: the model of the record path: every variant, every mutant
	@tests/models/run.py ci

verify: deps ## test: the model again, and its large variants (minutes)
	@tests/models/run.py verify

test-kernel: $(TEST_KERNEL) host $(ACCOUNTS) ## test: the cases that run in the guest
	$(call make_with,$(COMPENSATED_OPTIONS) $(COMPENSATED_TEST_KERNEL))
	@tests/run.py guest

# What cases run with other options is built before: two of them would write the same objects at a time.
test-integration: kernel $(TEST_KERNEL) fleet port $(EFI) $(ACCOUNTS) ## test: boots, exports and faults, from outside
	$(call make_with,kernel $(COMPENSATED_OPTIONS) $(COMPENSATED_TEST_KERNEL))
	$(call make_with,kernel $(OFF_OPTIONS))
	@tests/run.py integration

test-viewers: fleet $(PYTHON_MODULE) ## test: the output of `remora convert`, read by the target programs
	@tests/run.py viewers

.PHONY: test-fleet
test-fleet: fleet ## test: traces of many machines, through the real servers NATS and ClickHouse
	@tests/run.py fleet

.PHONY: soak-fleet
soak-fleet: fleet ## test: FLEET_ROUNDS=20 SEED=1: parts of a fleet killed at random, messages twice, late and forged
	@tests/soak/fleet.py $(or $(FLEET_ROUNDS),20) $(or $(SEED),1)

.PHONY: soak-packages
soak-packages: deb ## test: the packages in a bare system of the same release: installed, used, removed
	@$(MAKE) --no-print-directory deps PACKAGES='lintian debootstrap'
	@tests/soak/packages.sh $(BUILD)/deb $(VERSION)

.PHONY: pictures
pictures: export PICTURES := docs/pictures
pictures: kernel fleet ## test: draw the pictures of the documents anew, by the cases that open each viewer
	@tests/run.py viewers kernelshark_drawn vcd_shown speedscope_draws_a_trace_of_events \
	  report_a_job_shows_where_its_time_went report_compare_goes_to_what_differs \
	  fleet_report_a_week_is_drawn
	@tests/run.py integration call_stacks_are_drawn_by_a_page

test-mutants: $(RELEASED_TEST_KERNEL) $(REMORA) ## test: kernels with one error each: `remora check` must report the rule
	@tests/mutants/run.py

test-mutants-slice: $(RELEASED_TEST_KERNEL) $(REMORA) ## test: ten of these kernels
	@tests/mutants/run.py --slice

# Production code with one change at a time: what does no test notice?
mutate_in = tests/mutate/run.py $(1) $(addprefix --seed ,$(SEED)) $(addprefix --stages ,$(STAGES)) $(if $(AGAIN),--again)
.PHONY: mutate mutate-sample soak-mutate
mutate: ## test: AREA=name N=300 SEED=1: that many mutants of an area, and which of them no test notices
	@$(call mutate_in,$(AREA)) $(addprefix --count ,$(N))

mutate-sample: STAGES := unit
mutate-sample: ## test: twenty mutants that the commit picks, unit tests alone
	@$(call mutate_in,sample) --count 20 --sanitized

soak-mutate: STAGES := unit
soak-mutate: ## test: five hundred mutants, unit tests alone
	@$(call mutate_in,all) --count 500

golden-diff golden: export KERNEL := $(KERNEL)
golden-diff golden: export REMORA := $(REMORA)
golden-diff: kernel host $(ACCOUNTS) ## test: the first event in which an application's schedule differs from the golden file
	@tests/golden/golden.py diff

golden: kernel host $(ACCOUNTS) ## test: rewrite the golden files, for an intended change
	@tests/golden/golden.py update
