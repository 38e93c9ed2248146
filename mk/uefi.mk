# The UEFI loader, BOOTX64.EFI, with GNU-EFI's start code and linker script.
EFI_SOURCES := $(wildcard arch/uefi/*.cpp)

$(eval $(call linked_from,$(EFI),$(call object,$(BUILD)/uefi,$(EFI_SOURCES))))
$(EFI):
	@echo '  LD    $@'
	@ld -nostdlib -znocombreloc -z noexecstack -T /usr/lib/elf_x86_64_efi.lds -shared -Bsymbolic \
	  /usr/lib/crt0-efi-x86_64.o $(filter %.o,$^) -o $(@:.EFI=.so) -L/usr/lib -lefi -lgnuefi
	@test -z "$$(nm -u $(@:.EFI=.so))" || { nm -u $(@:.EFI=.so); exit 1; }
	@objcopy -j .text -j .sdata -j .data -j .dynamic -j .dynsym -j .rel -j .rela -j '.rel.*' -j '.rela.*' -j .reloc \
	  --target=efi-app-x86_64 $(@:.EFI=.so) $@
