# Source archive and packages of Debian (debian/). What they are built from is the commit HEAD, not the work tree.
ARCHIVE := $(BUILD)/remora-$(VERSION).tar.gz
PACKAGES_DEB := $(PACKAGES_RUN) $(PACKAGES_HOST) debhelper git
# The version's items of CHANGELOG.md, as the changelog of the packages. Its date is the commit's: with it, the same commit
# makes the same archive and, on the same system, the same packages.
DEBIAN_CHANGELOG = printf 'remora ($(VERSION)) unstable; urgency=medium\n\n'; \
  sed -n '/^\#\# /{/$(VERSION)/!q}; /^[- ] /p' CHANGELOG.md | fold -s -w 74 | \
    sed 's/ *$$//; s/^- /  * /; s/^ *\([^ *]\)/    \1/'; \
  printf '\n -- %s  %s\n' "$$(sed -n 's/^Maintainer: //p' debian/control)" "$$(git log -1 --format=%cD)"

.PHONY: dist deb
dist: ## install: build/remora-VERSION.tar.gz, the sources that git lists; `make` works in it without git
	@git rev-parse -q --verify HEAD >/dev/null 2>&1 || { echo 'error: git knows no commit here; remedy: make dist in a clone' >&2; exit 1; }
	@git diff --quiet HEAD || echo 'note: the changes of the work tree are in no commit, so they are left out' >&2
	@mkdir -p $(BUILD)
	@git archive --format=tar.gz --prefix=remora-$(VERSION)/ \
	  --add-virtual-file="remora-$(VERSION)/debian/changelog:$$($(DEBIAN_CHANGELOG))" -o $(ARCHIVE) HEAD
	@echo '  wrote $(ARCHIVE)'

# d3 comes from the build directory: the package node-d3 alone would bring 73 others.
deb: dist $(D3) ## install: build/deb/*.deb: the packages remora and libremora-tracer-dev, built from the source archive
	@$(MAKE) --no-print-directory deps PACKAGES='$(PACKAGES_DEB)'
	@rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb
	@tar -xzf $(ARCHIVE) -C $(BUILD)/deb
	@install -D -m 644 $(D3) $(BUILD)/deb/remora-$(VERSION)/$(D3)
	@cd $(BUILD)/deb/remora-$(VERSION) && env -i PATH="$$PATH" HOME="$$HOME" dpkg-buildpackage -b -us -uc -d -nc \
	  -j$(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),$(shell nproc))
	@printf '  wrote %s\n' $(BUILD)/deb/*.deb
