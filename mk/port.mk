# The tracer as a library for other kernels (port/): one relocatable object in an archive for each code model, headers
# and entry macros, as they are installed below build/port/.
LIBRARY := $(BUILD)/port
PORT_MODELS := kernel small
PORT_HEADERS := $(addprefix $(LIBRARY)/include/,remora_tracer.h remora_ftrace.h remora_events.h remora_entry.inc remora_entry.asm)
PORT_SOURCES := $(filter-out tracer/kernel_instance.cpp tracer/instance.cpp tracer/ftrace_instructions.cpp tracer/export/sink_% \
  tracer/reliable/%,$(TRACER_SOURCES)) $(TRACER_ASM) $(wildcard port/*.cpp port/asm/*.S) $(LIB_SOURCES) lib/memory.cpp
PORT_FLAGS = $(filter-out -mcmodel=% -I arch/x86_64,$(COMMON_CXXFLAGS)) -fno-common -fno-gnu-unique -fvisibility=hidden -I $(LIBRARY)/include
# All that a kernel may name; the rest is hidden.
PORT_NAMES := port/names.txt

define port_library
$(call object,$(LIBRARY)/$(1)/obj,$(wildcard port/*.cpp)): $(LIBRARY)/include/remora_events.h
$(call compiled,$(LIBRARY)/$(1)/obj,PORT,$$(CXX) $$(PORT_FLAGS) -mcmodel=$(1))
$(call assembled,$(LIBRARY)/$(1)/obj,-DREMORA_TRACER=1)
$(call linked_from,$(LIBRARY)/$(1)/libremora-tracer.a,$(call object,$(LIBRARY)/$(1)/obj,$(PORT_SOURCES)))
$(LIBRARY)/$(1)/libremora-tracer.a: port/merge.ld $(PORT_NAMES) mk/port.mk
	@echo '  AR    $$@'
	@ld -r --gc-sections $(foreach name,$(file <$(PORT_NAMES)),-u $(name)) $$(filter-out %/gs.S.o,$$(filter %.o,$$^)) -o $$(@D)/kept.o
	@ld -r -T port/merge.ld --force-group-allocation $$(@D)/kept.o -o $$(@D)/remora-tracer.o
	@objcopy --strip-debug --keep-global-symbols=$(PORT_NAMES) $$(@D)/remora-tracer.o
	@rm -f $$@ && ar rcs $$@ $$(@D)/remora-tracer.o $$(filter %/gs.S.o,$$^)
endef
$(foreach model,$(PORT_MODELS),$(eval $(call port_library,$(model))))

$(eval $(call linked,$(LIBRARY)/events_header,$(call object,$(BUILD)/bench/obj,port/generate/events_header.cpp)))
$(LIBRARY)/include/remora_events.h: $(LIBRARY)/events_header
	@mkdir -p $(@D)
	@$< >$@
$(LIBRARY)/include/%: port/%
	@mkdir -p $(@D)
	@cp $< $@

.PHONY: port
port: $(PORT_HEADERS) $(PORT_MODELS:%=$(LIBRARY)/%/libremora-tracer.a) ## build: the tracer as a library for other kernels, in build/port/

# What a kernel's build finds: by pkg-config remora-tracer for the lower 2 GiB and remora-tracer-kernel for the upper ones,
# by CMake's find_package(RemoraTracer) the targets RemoraTracer::tracer and RemoraTracer::tracer-kernel.
# Both name the archive by its path: with a linker script of its own (-T), ld knows no directory of the system.
INSTALLED_CMAKE = $(INSTALLED_LIB)/cmake/RemoraTracer
.PHONY: install-tracer
install-tracer: port ## install: PREFIX=/usr/local DESTDIR= LIBDIR=lib: the tracer as a library for other kernels
	@install -d $(INSTALLED_LIB)/pkgconfig $(INSTALLED_CMAKE)
	@install -D -m 644 -t $(INSTALLED)/include/remora-tracer $(PORT_HEADERS)
	@install -m 644 $(LIBRARY)/small/libremora-tracer.a $(INSTALLED_LIB)/libremora-tracer.a
	@install -m 644 $(LIBRARY)/kernel/libremora-tracer.a $(INSTALLED_LIB)/libremora-tracer-kernel.a
	$(call pkg_config,remora-tracer,The tracer of Remora for kernels in the lower 2 GiB,-tracer,$${libdir}/libremora-tracer.a)
	$(call pkg_config,remora-tracer-kernel,The tracer of Remora for kernels in the upper 2 GiB,-tracer,$${libdir}/libremora-tracer-kernel.a)
	@for file in port/cmake/*.cmake; do \
	  sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' $$file >$(INSTALLED_CMAKE)/$${file##*/}; done
	@printf '  installed %s\n' $(INSTALLED_LIB)/libremora-tracer.a $(INSTALLED_LIB)/libremora-tracer-kernel.a $(INSTALLED)/include/remora-tracer/
