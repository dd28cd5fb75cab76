# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What a fresh Debian 12 lacks. Every step looks first: run twice costs nothing.

LAB_PACKAGES=(
	gcc make libc6-dev patch flex bison bc libssl-dev libelf-dev rsync cpio xz-utils gzip python3 perl
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross linux-libc-dev-arm64-cross
	linux-source-6.12 qemu-system-arm ccache
)

verb_setup() {
	[ $# -eq 0 ] || die "setup takes no arguments"
	setup_packages
	with_lock source setup_source
	with_lock busybox setup_busybox
	with_lock qemu setup_new_qemu
}

setup_packages() {
	local p missing=()

	for p in "${LAB_PACKAGES[@]}"; do
		dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return
	[ "$(id -u)" -eq 0 ] || die "packages missing, and not root to install them: ${missing[*]}"
	say "installing ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq update
	apt-get -qq install -y --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" >&2
}

# One pristine tree that builds patch and unpatch; its path is part of what ccache keys on.
setup_source() {
	local version

	version=$(source_version)
	[ "$(cat "$CACHE/src/version" 2>/dev/null)" = "$version" ] && return
	say "unpacking linux-source-6.12 $version"
	rm -rf "$CACHE/src"
	mkdir -p "$CACHE/src/linux"
	tar -C "$CACHE/src/linux" --strip-components=1 -xf /usr/src/linux-source-6.12.tar.xz
	echo "$version" >"$CACHE/src/version"
}

source_version() {
	dpkg-query -W -f='${Version}' linux-source-6.12 2>/dev/null ||
		die "package linux-source-6.12 is missing: run 'lab setup' as root"
}

# A shell for the emulated host. Tests do without it.
setup_busybox() {
	[ -x "$CACHE/arm64/busybox" ] && return
	say "fetching busybox-static for arm64"
	fetch_busybox || say "no busybox for arm64: 'lab shell' will not work"
}

# Called where set -e is off: every step is chained.
fetch_busybox() {
	local dir=$CACHE/arm64

	private_apt "$dir/apt" arm64 bookworm &&
		private_download "$dir/apt" busybox-static &&
		dpkg-deb -x "$dir"/apt/archives/busybox-static_*.deb "$dir/root" &&
		cp "$dir/root/bin/busybox" "$dir/busybox"
}

# bookworm's QEMU 7.2 knows no neoverse-v1; backports' does. Without it that model is skipped.
setup_new_qemu() {
	[ -f "$CACHE/qemu-new/ok" ] && return
	say "fetching a newer QEMU from bookworm-backports"
	fetch_new_qemu || say "no newer QEMU: neoverse-v1 will be skipped"
}

# Likewise.
fetch_new_qemu() {
	local dir=$CACHE/qemu-new qemu missing

	private_apt "$dir/apt" "$(dpkg --print-architecture)" bookworm bookworm-backports &&
		private_download "$dir/apt" qemu-system-arm/bookworm-backports qemu-system-common/bookworm-backports \
			qemu-system-data/bookworm-backports &&
		unpack_all "$dir" || return 1
	qemu=$dir/root/usr/bin/qemu-system-aarch64
	# what the machine's own libraries do not cover, by the library's Debian name
	missing=$(LD_LIBRARY_PATH=$(new_qemu_libs) ldd "$qemu" | awk '/not found/ { print $1 }')
	if [ -n "$missing" ]; then
		# shellcheck disable=SC2046,SC2086
		private_download "$dir/apt" $(library_packages $missing) && unpack_all "$dir" || return 1
	fi
	LD_LIBRARY_PATH=$(new_qemu_libs) "$qemu" --version >&2 && touch "$dir/ok"
}

unpack_all() {
	local deb

	for deb in "$1"/apt/archives/*.deb; do
		dpkg-deb -x "$deb" "$1/root" || return 1
	done
}

new_qemu_libs() {
	echo "$CACHE/qemu-new/root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)"
}

# libfoo.so.3 is in package libfoo3, or libfoo1-3 if the name ends in a digit
library_packages() {
	local so stem n

	for so; do
		stem=${so%%.so*}
		n=${so##*.so.}
		case $stem in
		*[0-9]) stem=$stem- ;;
		esac
		echo "$stem$n"
	done | sort -u
}
