# The kernel's images. Sources are found by their folders; there is no list.
DEEP = $(wildcard $(1)/*$(2) $(1)/*/*$(2) $(1)/*/*/*$(2) $(1)/*/*/*/*$(2))
LIB_SOURCES := $(filter-out lib/memory.cpp lib/assert_hosted.cpp,$(wildcard lib/*.cpp))
TRACER_SOURCES := $(call DEEP,tracer,.cpp)
TRACER_ASM := $(wildcard tracer/record/*.S)
DRIVER_SOURCES := $(call DEEP,drivers,.cpp)
ARCH_SOURCES := $(wildcard arch/x86_64/*.cpp)
ARCH_ASM := $(wildcard arch/x86_64/*.S)
KERNEL_SOURCES := $(call DEEP,kernel,.cpp)
APP_SOURCES := $(wildcard apps/*.cpp)
# The coder for compact chunks, shared by the kernel and the tools.
CODEC_SOURCES := $(wildcard tracer/compact/*.cpp)
# Attempts to record are counted outside of the tracer: the linker redirects the calls through tests/support/attempts/.
ATTEMPTS_SOURCES := $(wildcard tests/support/attempts/*.cpp tests/support/attempts/*.S)
ATTEMPTS_LDFLAGS := $(addprefix -Wl$(comma)--wrap=,tracer_record tracer_record_long \
  _ZN6tracer6detail13refuse_recordEv _ZN6tracer7Control12close_activeEv)
# GS leads to a processor's CpuTrace itself (tracer/log.hpp). linker.ld says the same of the kernel.
GS_LDFLAGS := -Wl,--defsym=remora_gs=0
GUEST_TEST_SOURCES := $(wildcard tests/kernel/*.cpp) tests/soak/checker.cpp $(ATTEMPTS_SOURCES)

# Sources that serve only the trace, and their replacement.
TRACE_ROOT := $(addprefix kernel/root/,tracing.cpp carrying.cpp trace_cost.cpp instruction_steps.cpp network.cpp storage.cpp streaming.cpp)
OFF_SOURCES := $(if $(filter OFF,$(TRACER)),$(TRACER_SOURCES) $(TRACER_ASM) $(TRACE_ROOT),kernel/root/tracing_off.cpp)
IMAGE_SOURCES := $(filter-out $(OFF_SOURCES),$(LIB_SOURCES) lib/memory.cpp $(TRACER_SOURCES) $(TRACER_ASM) \
  $(DRIVER_SOURCES) $(ARCH_SOURCES) $(ARCH_ASM) $(KERNEL_SOURCES))

# kernel_image IMAGE SOURCES OPTIONS [OBJECTS IN]
define kernel_image
$(call linked_from,$(1),$(call kernel_objects,$(or $(4),$(KERNEL_DIR)),$(IMAGE_SOURCES) $(APP_SOURCES) $(2)))
$(1): linker.ld
	@echo '  LD    $$@'
	@$$(CXX) $$(KERNEL_LDFLAGS) $(3) $$(filter %.o,$$^) -o $$@
	@test -z "$$$$(nm -u $$@)" || { nm -u $$@; echo '$$@: undefined symbols' >&2; rm -f $$@; exit 1; }
endef
$(eval $(call kernel_image,$(KERNEL)))
$(eval $(call kernel_image,$(TEST_KERNEL),$(GUEST_TEST_SOURCES),$(ATTEMPTS_LDFLAGS),$(CHECKED_DIR)))
# The same objects with the texts of trace_printf among the constants, so that the kernel can export them (linker.ld).
INBAND_SCRIPT := $(BUILD)/inband.ld
$(INBAND_SCRIPT): linker.ld
	@mkdir -p $(@D)
	@sed -e '/^    \.trace_formats 0/,/^    }/ { H; d }' -e '/^    formats_/d' -e '/^    \.rodata :/ { x; G; s/ 0 (INFO)//' \
	  -e 's/\*(\.rodata\._ZN6[^)]*)/formats_begin = .; & formats_end = .;/; s/\n    }\n/\n    } :rodata\n/ }' $< >$@
ifeq ($(FORMATS),inband)
$(KERNEL): $(INBAND_SCRIPT)
$(KERNEL): KERNEL_LDFLAGS := $(subst linker.ld,$(INBAND_SCRIPT),$(KERNEL_LDFLAGS))
endif
# Figures and mutants need the test kernel's applications in the released kernel.
$(eval $(call kernel_image,$(RELEASED_TEST_KERNEL),$(GUEST_TEST_SOURCES),$(ATTEMPTS_LDFLAGS)))
MANY_TASKS_LDFLAGS := -Wl,--defsym=image_limit=0x2000000 -Wl,--defsym=arena_limit=0x7000000
# The kernel's operations are measured alone: no part of the test kernel is in this image.
# Without a tracer, there is no record and no export to be measured.
$(eval $(call kernel_image,$(BENCH_KERNEL),$(filter-out $(if $(filter OFF,$(TRACER)),tests/bench/guest/export_% tests/bench/guest/record_%),\
  $(wildcard tests/bench/guest/*.cpp)),$(if $(TASKS),$(MANY_TASKS_LDFLAGS))))

# Only g++ makes calls of loops in freestanding code.
ifeq ($(CLANG_CXX),)
$(COMMON_DIR)/lib/memory.cpp.o $(COMMON_DIR)/checked/lib/memory.cpp.o: COMMON_CXXFLAGS += -fno-tree-loop-distribute-patterns
endif

# A kernel with other options is built by a separate make.
COMPENSATED_OPTIONS := COMPENSATION=ON TRACER=NEW TSC=TRUE
COMPENSATED_KERNEL := $(BUILD)/kernel-compensation/kernel.elf
COMPENSATED_TEST_KERNEL := $(BUILD)/kernel-compensation/kernel-test-released.elf
OFF_OPTIONS := TRACER=OFF TSC=TRUE
# The plus sign is for the number of jobs: make does not see $(MAKE) in a line that is itself expanded.
make_with = +@$(MAKE) --no-print-directory $(1)

.PHONY: kernel
kernel: $(KERNEL) ## build: the kernel image
