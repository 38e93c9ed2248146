# The Python module `remora` (docs/python.md): the reader library, the model of the schedule, and the bindings.
# Debian's Python has the packages; another one needs numpy itself. The headers of libraries are not warned about.
PYTHON := /usr/bin/python3
PYTHON_VERSION = $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_python_version())')
PYTHON_INCLUDES = -isystem $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')
$(eval $(call compiled,$(BUILD)/python/obj,PY   ,$$(CXX) $$(HOST_CXXFLAGS) $$(PYTHON_INCLUDES)))
$(eval $(call linked,$(PYTHON_MODULE),$(call units,$(BUILD)/python/obj,$(wildcard python/*.cpp)) \
  $(call host_objects,$(READER_SOURCES) $(wildcard host/schedule/*.cpp host/analyse/*.cpp host/sql/*.cpp) $(COMMON_SOURCES)),\
  -shared $(TRACE_LIBRARY_LIBS) -lsqlite3))

.PHONY: python
python: ## build: the Python module, build/python/remora.so (docs/python.md)
	@$(MAKE) --no-print-directory deps PACKAGES='$(PACKAGES_RUN) $(PACKAGES_HOST) $(PACKAGES_PYTHON)'
	+@mk/build.sh '$(MAKE)' $(JOBS) $(PYTHON_MODULE)

# Debian's Python looks below /usr/local in the directory of its version, below /usr in that of all versions.
PYTHON_FOLDER = lib/python$(if $(filter /usr,$(PREFIX)),3,$(PYTHON_VERSION))/dist-packages
