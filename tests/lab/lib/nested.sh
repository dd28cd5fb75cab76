# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A real QEMU inside the emulated host, for tests whose command starts with
# ./qemu_: an archive of arm64 QEMU with the libraries it needs, a kernel for
# its guest (the host's own) and that guest's init. Appended to the initramfs.

# ensure_nested: sets NESTED to a cpio.gz
ensure_nested() {
	NESTED=$CACHE/arm64/nested-qemu.cpio.gz
	[ -f "$NESTED" ] || with_lock nested build_nested
}

build_nested() {
	local dir=$CACHE/arm64/qemu deb tree=$CACHE/arm64/nested-tree

	[ ! -f "$NESTED" ] || return 0
	say "fetching QEMU for arm64"
	private_apt "$dir/apt" arm64 bookworm
	APT_CONFIG=$dir/apt/apt.conf apt-get -qq -y --download-only --no-install-recommends install qemu-system-arm >&2
	rm -rf "$dir/root" "$tree"
	mkdir -p "$dir/root" "$tree"
	for deb in "$dir"/apt/archives/*.deb; do
		dpkg-deb -x "$deb" "$dir/root"
	done
	copy_closure "$dir/root" "$tree" usr/bin/qemu-system-aarch64
	install -D "$dir/root/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1" "$tree/lib/ld-linux-aarch64.so.1"
	mkdir -p "$tree/usr/share/qemu/keymaps"
	(cd "$tree" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 | gzip -6) >"$NESTED.tmp"
	mv "$NESTED.tmp" "$NESTED"
	rm -rf "$tree" "$dir"
}

# copy_closure FROM TO FILE: the program and every library it needs, by NEEDED entries
copy_closure() {
	local from=$1 to=$2 file found name
	local -a todo=("$3")

	while [ ${#todo[@]} -gt 0 ]; do
		file=${todo[0]}
		todo=("${todo[@]:1}")
		[ ! -e "$to/$file" ] || continue
		mkdir -p "$to/$(dirname "$file")"
		cp -L "$from/$file" "$to/$file"
		while read -r name; do
			found=$(cd "$from" && find lib usr/lib -name "$name" | head -n1)
			[ -z "$found" ] || todo+=("$found")
		done < <("${CROSS}objdump" -p "$from/$file" 2>/dev/null | awk '$1 == "NEEDED" { print $2 }')
	done
}

# add_nested ROOT: what lies beside QEMU, into the tree of the initramfs
add_nested() {
	local guest=$RUN_DIR/nested

	mkdir -p "$guest"/{dev,proc} "$1/lab/nested"
	cp "$GUEST/nested_init" "$guest/init"
	(cd "$guest" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$1/lab/nested/initrd.gz"
	cp "$KERNEL/Image" "$1/lab/nested/Image"
}
