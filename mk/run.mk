# Packages, and booting in QEMU.
PACKAGES_RUN := g++ make binutils libfmt-dev libsimdjson-dev libzstd-dev zlib1g-dev libmicrohttpd-dev nettle-dev nlohmann-json3-dev libcli11-dev \
  qemu-system-x86 $(if $(filter uefi,$(BOOT)),ovmf gnu-efi) $(if $(filter uefi,$(BOOT))$(filter disk both auto,$(SINK)),mtools dosfstools)
# What else the whole program needs (make host).
PACKAGES_HOST := libsqlite3-dev libprotozero-dev pkg-config
# What publishes to NATS and loads into ClickHouse (make fleet).
PACKAGES_FLEET := libnats-dev libcurl4-openssl-dev
# What the Python module needs (make python).
PACKAGES_PYTHON := pybind11-dev python3-dev python3-numpy
PACKAGES_TEST := $(PACKAGES_HOST) $(PACKAGES_FLEET) $(PACKAGES_PYTHON) ovmf gnu-efi mtools dosfstools nats-server clickhouse-server libgtest-dev libgmock-dev tshark sqlite3 clang-format clang-tidy shellcheck gdb python3 \
  python3-yaml libxml2-utils valgrind git libbenchmark-dev liblttng-ust-dev lttng-tools spin clang libclang-rt-dev groff man-db \
  babeltrace babeltrace2 python3-lttnganalyses trace-cmd kernelshark xvfb imagemagick x11-utils xdotool gtkwave \
  protobuf-compiler lld llvm python3-clang chromium chromium-driver python3-selenium firefox-esr nodejs poppler-utils nasm cmake npm:speedscope@1.25.0
ALL_PACKAGES := $(PACKAGES_RUN) $(PACKAGES_TEST)
PACKAGES := $(ALL_PACKAGES)
# All processors, unless the user chose a number.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
CHECK :=
DEPS :=
GDB_PORT := 1234
export GDB_PORT

.PHONY: deps apps run debug
deps: ## install: the Debian packages that are missing (CHECK=1: only list them)
	@$(if $(filter skip,$(DEPS)),:,.ci/deps $(if $(CHECK),--check) $(PACKAGES))

apps: ## run: the applications for APP=
	@source qemu/lib.sh && list_apps

# The kernel needs no package but the compiler: it is compiled while packages are installed.
run: ## run: build, boot, receive the trace, check it
	@source qemu/lib.sh && check_values
	@mkdir -p $(BUILD)
	+@$(MAKE) --no-print-directory deps PACKAGES='$(PACKAGES_RUN)' >$(BUILD)/packages.log 2>&1 & packages=$$!; \
	  mk/build.sh '$(MAKE)' $(JOBS) $(KERNEL) || exit; \
	  wait $$packages || { tail -n 20 $(BUILD)/packages.log >&2; exit 1; }; \
	  mk/build.sh '$(MAKE)' $(JOBS) $(REMORA) $(if $(filter uefi,$(BOOT)),$(EFI)) $(if $(filter on,$(OBSERVE)),$(OBSERVER))
	@qemu/run.sh $(KERNEL) $(EFI) $(REMORA)

debug: ## run: boot stopped, for gdb
	@source qemu/lib.sh && check_values
	@$(MAKE) --no-print-directory deps PACKAGES='$(PACKAGES_RUN) gdb'
	@$(MAKE) --no-print-directory $(JOBS) kernel $(EFI)
	@qemu/debug.sh $(KERNEL) $(EFI)
