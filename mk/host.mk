# The host tools, the reader library for others, and libraries with the published interfaces of other systems.
TRACE_LIBRARY_LIBS := -lfmt -lzstd -lsimdjson
HOST_LIBS := $(TRACE_LIBRARY_LIBS) -lsqlite3 -lz -lmicrohttpd -lnettle
FLEET_LIBS := $(HOST_LIBS) -lnats -lcurl

# The program of a first run, the full one, and the one for fleets, which needs the libraries of servers: each has what
# the one before it has. foreign/tools and foreign/published are programs and libraries of their own, host/observer is a
# plugin of QEMU.
FIRST_SOURCES := $(filter-out host/observer/% host/sql/% host/cli/command/sql/%,$(call DEEP,host,.cpp)) $(wildcard foreign/kev/*.cpp foreign/tlog/*.cpp)
FULL_SOURCES := $(sort $(filter-out host/program/main.cpp,$(FIRST_SOURCES)) $(filter-out host/observer/% host/program/main.cpp,$(call DEEP,host,.cpp)) \
  $(call DEEP,convert,.cpp))
FLEET_SOURCES := $(sort $(filter-out convert/program/main.cpp,$(FULL_SOURCES)) $(call DEEP,fleet,.cpp))
COMPAT_SOURCES := $(wildcard foreign/published/*.cpp)
READER_SOURCES := $(foreach room,host/text host/workers host/trace host/formats foreign/kev foreign/tlog,$(call DEEP,$(room),.cpp))
COMMON_SOURCES := $(CODEC_SOURCES) $(LIB_SOURCES) lib/assert_hosted.cpp
host_objects = $(call units,$(BUILD)/host,$(1))

# g++ 12 reports a null pointer in CLI11's vectors of words; it is a false positive.
$(BUILD)/host/host/cli/command/command_line.cpp.o $(BUILD)/host/foreign/tools/tlogdump.cpp.o: \
  HOST_CXXFLAGS := $(filter-out -Wnull-dereference,$(HOST_CXXFLAGS))
# At -O1 it does not see that an optional without a value is not read.
$(addprefix $(BUILD)/host/fleet/questions/,unit.o jobs.cpp.o): HOST_CXXFLAGS += -Wno-maybe-uninitialized

$(eval $(call linked,$(REMORA),$(call host_objects,$(FIRST_SOURCES) $(COMMON_SOURCES)),$(TRACE_LIBRARY_LIBS) -lmicrohttpd -lnettle -lz))
$(eval $(call linked,$(REMORA_FULL),$(call host_objects,$(FULL_SOURCES) $(COMMON_SOURCES)),$(HOST_LIBS)))

# Only `make fleet`, the tests and `make install` after it need it.
$(eval $(call linked,$(REMORA_FLEET),$(call host_objects,$(FLEET_SOURCES) $(COMMON_SOURCES)),$(FLEET_LIBS)))

# QEMU has the symbols that are open in its plugin.
$(eval $(call linked,$(OBSERVER),$(call host_objects,$(wildcard host/observer/*.cpp)),-shared))

# GCC 12 finds null pointers in CLI11's vectors of strings, or not, whatever else is in the unit.
$(BUILD)/host/host/cli/command/unit.o: HOST_CXXFLAGS += $(if $(CLANG_CXX),,-Wno-null-dereference)

# The page draws with d3. Its file is taken out of Debian's package; what the package depends on is not installed.
D3 := $(BUILD)/d3.min.js
$(D3):
	@mkdir -p $(BUILD)/d3
	@echo '  GET   $@'
	@if test -e /usr/share/nodejs/d3/dist/d3.min.js; then cp /usr/share/nodejs/d3/dist/d3.min.js $@; else \
	  cd $(BUILD)/d3 && { { apt-get -qq download node-d3 && dpkg-deb -x node-d3_*.deb . && cp usr/share/nodejs/d3/dist/d3.min.js ..; } || \
	  { echo 'error: node-d3 cannot be downloaded; remedy: copy d3.min.js of d3 7 to $@' >&2; exit 1; }; }; fi

# The assembler copies the parts of the reports' pages and the dissector's script into these objects; the compiler does
# not list them. SINGLE=% compiles the sources of a folder by themselves.
$(foreach kind,host test/obj test-fast/obj coverage/obj,$(addprefix $(BUILD)/$(kind)/,host/report/unit.o \
  host/report/frame.cpp.o fleet/report/unit.o fleet/report/page.cpp.o)): \
  $(wildcard host/report/page/* fleet/report/page/*) $(D3)
$(foreach kind,host test/obj test-fast/obj coverage/obj,$(BUILD)/$(kind)/convert/dissector/dissector.cpp.o): convert/dissector/remora.lua

# The reader library's headers include each other by their paths from the root, so they are installed under one directory
# of their own.
TRACE_LIBRARY := $(BUILD)/host/libremora-trace.a
TRACE_HEADERS = $(foreach room,host/text host/trace host/formats foreign/kev foreign/tlog,$(call DEEP,$(room),.hpp)) $(wildcard lib/*.hpp tracer/*.hpp \
  $(foreach room,record names chunk export compact,tracer/$(room)/*.hpp) tracer/record/*.h)
$(eval $(call archived,$(TRACE_LIBRARY),$(call host_objects,$(READER_SOURCES) $(COMMON_SOURCES))))

# compat_library NAME SOURCES LIBRARIES: the shared library exports only the symbols that its header marks. The file has
# the name that programs are linked to (its SONAME), the link the name that the linker looks for.
define compat_library
$(call archived,$(BUILD)/host/$(1).a,$(call host_objects,$(2)))
$(call linked,$(BUILD)/host/$(1).so.1,$(call host_objects,$(2)),-shared -Wl$(comma)-soname$(comma)$(1).so.1 \
  -Wl$(comma)--no-undefined -Wl$(comma)--exclude-libs$(comma)ALL $(3))
$(BUILD)/host/$(1).so: $(BUILD)/host/$(1).so.1
	@ln -sf $$(<F) $$@
endef
$(eval $(call compat_library,libtraceparser,$(READER_SOURCES) $(wildcard convert/kev/*.cpp \
  convert/writer/*.cpp host/output/*.cpp foreign/published/traceparser*.cpp) $(COMMON_SOURCES),$(TRACE_LIBRARY_LIBS)))
$(eval $(call compat_library,libtlog,$(wildcard foreign/published/tlog*.cpp) foreign/tlog/kinds.cpp lib/assert_hosted.cpp,))
TRACEPARSER := $(BUILD)/host/libtraceparser
COMPAT_LIBRARIES := $(foreach name,libtraceparser libtlog,$(BUILD)/host/$(name).a $(BUILD)/host/$(name).so.1)
COMPAT_LINKS := $(patsubst %.so.1,%.so,$(filter %.so.1,$(COMPAT_LIBRARIES)))
# What programs in C that link the static libraries need, too.
TRACEPARSER_PRIVATE_LIBS := $(TRACE_LIBRARY_LIBS) -lstdc++ -lm
TLOG_PRIVATE_LIBS := -lstdc++ -lm

# The printer of .kev files uses only its library, as a user's program would.
tool = $(call linked,$(BUILD)/host/$(1),$(call host_objects,foreign/tools/$(1).cpp) $(2),$(TRACE_LIBRARY_LIBS))
$(eval $(call tool,traceprinter,$(TRACEPARSER).a))
$(eval $(call tool,tlogdump,$(TRACE_LIBRARY)))
TOOLS := $(BUILD)/host/traceprinter $(BUILD)/host/tlogdump

# Example programs for users of the libraries, in C.
SAMPLES := $(BUILD)/host/examples/traceparser_sample
$(BUILD)/host/examples/traceparser_sample: examples/traceparser_sample.c foreign/published/traceparser.h $(TRACEPARSER).a
	@mkdir -p $(@D)
	@echo '  CC    $<'
	@gcc -std=c11 -O2 -Wall -Wextra -Wpedantic $(ERROR) -I foreign/published $< $(TRACEPARSER).a -o $@ $(TRACEPARSER_PRIVATE_LIBS)

.PHONY: host fleet compat install
host: $(REMORA) $(REMORA_FULL) $(OBSERVER) $(TRACE_LIBRARY) compat ## build: the host tools

fleet: host $(REMORA_FLEET) ## build: what publishes traces to NATS and loads them into ClickHouse (docs/fleet.md)

compat: $(COMPAT_LINKS) $(COMPAT_LIBRARIES) $(TOOLS) $(SAMPLES) ## build: libraries with published interfaces, their programs

PREFIX := /usr/local
DESTDIR :=
# Where libraries go, below PREFIX; a package of Debian has lib/x86_64-linux-gnu.
LIBDIR := lib
# A .pc file separates its words by blanks, and so does make.
$(foreach key,PREFIX DESTDIR LIBDIR,$(if $(filter 0 1,$(words $($(key)))),,\
  $(call refuse,$(key)="$($(key))" holds a blank: install into a directory without one)))
INSTALLED = $(DESTDIR)$(PREFIX)
INSTALLED_LIB = $(INSTALLED)/$(LIBDIR)

# pkg_config NAME DESCRIPTION HEADERS LIBRARIES PRIVATE: writes pkgconfig/NAME.pc. HEADERS is below include/remora;
# PRIVATE is what `pkg-config --static` adds.
pkg_config = @printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include/remora' 'libdir=$${prefix}/$(LIBDIR)' '' \
  'Name: $(1)' 'Description: $(2)' 'Version: $(VERSION)' 'Cflags: -I$${includedir}$(3)' 'Libs: $(4)' \
  'Libs.private: $(5)' >$(INSTALLED_LIB)/pkgconfig/$(1).pc
VERSION := $(shell sed -n 's/.*kVersion = "Remora \(.*\)".*/\1/p' lib/version.hpp)

install: ## install: PREFIX=/usr/local DESTDIR= LIBDIR=lib: programs, library, headers, manual page, completion, systemd unit
	@$(MAKE) --no-print-directory deps PACKAGES='$(PACKAGES_RUN) $(PACKAGES_HOST)'
	+@mk/build.sh '$(MAKE)' $(JOBS) host
	@install -d $(INSTALLED)/bin $(INSTALLED_LIB)/pkgconfig $(INSTALLED)/share/man/man1 \
	  $(INSTALLED)/share/bash-completion/completions
	@install -s $(REMORA) $(REMORA_FULL) $(wildcard $(REMORA_FLEET)) $(INSTALLED)/bin
	@install -s $(TOOLS) $(INSTALLED)/bin
	@install -m 644 $(TRACE_LIBRARY) $(COMPAT_LIBRARIES) $(INSTALLED_LIB)
	@cp -P --remove-destination $(COMPAT_LINKS) $(INSTALLED_LIB)
	$(if $(wildcard $(PYTHON_MODULE)),@install -D -s -m 644 $(PYTHON_MODULE) $(INSTALLED)/$(PYTHON_FOLDER)/$(notdir $(PYTHON_MODULE)))
	@install -D -m 644 -t $(INSTALLED)/include/remora/compat foreign/published/*.h
	@for name in traceparser trace; do install -D -m 644 foreign/published/traceparser.h $(INSTALLED)/include/remora/compat/sys/$$name.h; done
	@for header in $(TRACE_HEADERS); do install -D -m 644 $$header $(INSTALLED)/include/remora/$$header; done
	$(call pkg_config,remora-trace,Reads traces of Remora and S.Ha.R.K. and of QNX and tlog as one stream of events,,-L$${libdir} -lremora-trace $(TRACE_LIBRARY_LIBS))
	$(call pkg_config,libtraceparser,The published C interface to QNX .kev files,/compat,-L$${libdir} -ltraceparser,$(TRACEPARSER_PRIVATE_LIBS))
	$(call pkg_config,libtlog,The published C interface to tlog files,/compat,-L$${libdir} -ltlog,$(TLOG_PRIVATE_LIBS))
	@$(REMORA) manual >$(INSTALLED)/share/man/man1/remora.1
	@$(REMORA) completion bash >$(INSTALLED)/share/bash-completion/completions/remora
	@install -d $(INSTALLED)/lib/systemd/system
	@sed 's|@PREFIX@|$(PREFIX)|' host/collector/remora-record.service.in >$(INSTALLED)/lib/systemd/system/remora-record.service
	@printf '  installed %s\n' $(addprefix $(INSTALLED)/bin/,$(notdir $(REMORA) $(REMORA_FULL) $(wildcard $(REMORA_FLEET)) $(TOOLS))) \
	  $(addprefix $(INSTALLED_LIB)/,$(notdir $(TRACE_LIBRARY) $(COMPAT_LIBRARIES)) pkgconfig/remora-trace.pc pkgconfig/libtraceparser.pc pkgconfig/libtlog.pc) \
	  $(if $(wildcard $(PYTHON_MODULE)),$(INSTALLED)/$(PYTHON_FOLDER)/$(notdir $(PYTHON_MODULE))) $(INSTALLED)/lib/systemd/system/remora-record.service $(INSTALLED)/include/remora/ $(INSTALLED)/share/man/man1/remora.1 $(INSTALLED)/share/bash-completion/completions/remora
