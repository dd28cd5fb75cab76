# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The lab's own programs for the emulated host, static arm64.

GUEST_CFLAGS=(-std=gnu11 -O2 -g0 -Wall -Wextra -Wno-missing-field-initializers -D_GNU_SOURCE -static -pthread)

# ensure_guest: sets GUEST to a directory with init and, in bin/, the programs
ensure_guest() {
	local key sources

	need "${CROSS}gcc" gcc-aarch64-linux-gnu
	sources=$(find "$LAB_DIR/guest" -type f | sort)
	[ ! -d "$REPO_DIR/include/uapi" ] || sources+=" $(find "$REPO_DIR/include/uapi" -type f | sort)"
	# shellcheck disable=SC2086
	key=$(cat $sources "$LAB_DIR/lib/guest.sh" | sha256sum | cut -c1-16)
	GUEST=$CACHE/guest/$key
	[ -f "$GUEST/ok" ] && return
	with_lock guest build_guest
}

build_guest() {
	local include=()

	[ -f "$GUEST/ok" ] && return
	[ -d "$REPO_DIR/include/uapi" ] && include=(-I "$REPO_DIR/include/uapi")
	mkdir -p "$GUEST/bin"
	"${CROSS}gcc" "${GUEST_CFLAGS[@]}" -o "$GUEST/init" "$LAB_DIR/guest/init.c"
	"${CROSS}gcc" "${GUEST_CFLAGS[@]}" "${include[@]}" -o "$GUEST/bin/probe" \
		"$LAB_DIR"/guest/{probe,cell,extension,stall,vm,memory,holds}.c "$LAB_DIR/guest/payload.S"
	"${CROSS}gcc" "${GUEST_CFLAGS[@]}" "${include[@]}" -o "$GUEST/bin/qemu_cancel" \
		"$LAB_DIR"/guest/{qemu_cancel,qmp,extension,memory}.c
	"${CROSS}gcc" "${GUEST_CFLAGS[@]}" -o "$GUEST/nested_init" "$LAB_DIR/guest/nested_init.c"
	touch "$GUEST/ok"
}
