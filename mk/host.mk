# The host tools, the reader library for others, and libraries with the published interfaces of other systems.
TRACE_LIBRARY_LIBS := -lfmt -lzstd
HOST_LIBS := $(TRACE_LIBRARY_LIBS) -lsqlite3

# host/tools: programs of one file each; host/compat: published interfaces of other systems, as libraries in C.
HOST_SOURCES := $(filter-out host/tools/% host/compat/%,$(call DEEP,host,.cpp))
COMPAT_SOURCES := $(wildcard host/compat/*.cpp)
READER_SOURCES := $(foreach room,text trace formats,$(call DEEP,host/$(room),.cpp))
COMMON_SOURCES := $(CODEC_SOURCES) $(LIB_SOURCES) lib/assert_hosted.cpp
host_objects = $(call object,$(BUILD)/host,$(1))

# g++ 12 reports a null pointer in CLI11's vectors of words; it is a false positive.
$(BUILD)/host/host/cli/command/command_line.cpp.o $(BUILD)/host/host/tools/tlogdump.cpp.o: \
  HOST_CXXFLAGS := $(filter-out -Wnull-dereference,$(HOST_CXXFLAGS))

$(eval $(call linked,$(REMORA),$(call host_objects,$(HOST_SOURCES) $(COMMON_SOURCES)),$(HOST_LIBS)))

# The reader library's headers include each other by their paths from the root, so they are installed under one directory
# of their own.
TRACE_LIBRARY := $(BUILD)/host/libremora-trace.a
TRACE_HEADERS = $(foreach room,text trace formats,$(call DEEP,host/$(room),.hpp)) $(wildcard lib/*.hpp tracer/*.hpp tracer/compact/*.hpp)
$(eval $(call archived,$(TRACE_LIBRARY),$(call host_objects,$(READER_SOURCES) $(COMMON_SOURCES))))

# compat_library NAME SOURCES LIBRARIES: the shared library exports only the symbols that its header marks.
define compat_library
$(call archived,$(BUILD)/host/$(1).a,$(call host_objects,$(2)))
$(call linked,$(BUILD)/host/$(1).so,$(call host_objects,$(2)),-shared -Wl$(comma)-soname$(comma)$(1).so.1 \
  -Wl$(comma)--no-undefined -Wl$(comma)--exclude-libs$(comma)ALL $(3))
endef
$(eval $(call compat_library,libtraceparser,$(READER_SOURCES) $(wildcard host/convert/records/kev*.cpp) \
  host/convert/output_file.cpp host/convert/survey.cpp $(wildcard host/compat/traceparser*.cpp) $(COMMON_SOURCES),$(TRACE_LIBRARY_LIBS)))
$(eval $(call compat_library,libtlog,host/compat/tlog.cpp lib/assert_hosted.cpp,))
TRACEPARSER := $(BUILD)/host/libtraceparser
COMPAT_LIBRARIES := $(foreach name,libtraceparser libtlog,$(BUILD)/host/$(name).a $(BUILD)/host/$(name).so)

# The printer of .kev files uses only its library, as a user's program would.
tool = $(call linked,$(BUILD)/host/$(1),$(call host_objects,host/tools/$(1).cpp) $(2),$(TRACE_LIBRARY_LIBS))
$(eval $(call tool,traceprinter,$(TRACEPARSER).a))
$(eval $(call tool,tlogdump,$(TRACE_LIBRARY)))
TOOLS := $(BUILD)/host/traceprinter $(BUILD)/host/tlogdump

# Example programs for users of the libraries, in C.
SAMPLES := $(BUILD)/host/examples/traceparser_sample
$(BUILD)/host/examples/traceparser_sample: examples/traceparser_sample.c host/compat/traceparser.h $(TRACEPARSER).a
	@mkdir -p $(@D)
	@echo '  CC    $<'
	@gcc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -I host/compat $< $(TRACEPARSER).a -o $@ $(TRACE_LIBRARY_LIBS) -lstdc++ -lm

.PHONY: host compat install
host: $(REMORA) compat ## build: the host tools

compat: $(COMPAT_LIBRARIES) $(TOOLS) $(SAMPLES) ## build: libraries with published interfaces, their programs

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

install: host $(TRACE_LIBRARY) ## install: PREFIX=/usr/local DESTDIR=: programs, library, headers, manual page, completion
	@install -d $(INSTALLED)/bin $(INSTALLED)/lib/pkgconfig $(INSTALLED)/share/man/man1 \
	  $(INSTALLED)/share/bash-completion/completions
	@install $(REMORA) $(INSTALLED)/bin
	@install $(TOOLS) $(INSTALLED)/bin
	@install -m 644 $(TRACE_LIBRARY) $(COMPAT_LIBRARIES) $(INSTALLED)/lib
	@for library in $(notdir $(filter %.so,$(COMPAT_LIBRARIES))); do ln -sf $$library $(INSTALLED)/lib/$$library.1; done
	@install -D -m 644 -t $(INSTALLED)/include/remora/compat host/compat/*.h
	@for header in $(TRACE_HEADERS); do install -D -m 644 $$header $(INSTALLED)/include/remora/$$header; done
	@printf '%s\n' "$$PKG_CONFIG" >$(INSTALLED)/lib/pkgconfig/remora-trace.pc
	@$(REMORA) manual >$(INSTALLED)/share/man/man1/remora.1
	@$(REMORA) completion bash >$(INSTALLED)/share/bash-completion/completions/remora
