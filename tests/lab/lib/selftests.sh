# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# KVM's own selftests of the tree at hand, linked statically. Mutations use
# those of the patched tree.

selftests_flavour() {
	case $FLAVOUR in
	mutation:*) echo patched ;;
	*) echo "$FLAVOUR" ;;
	esac
}

# ensure_selftests: sets SELFTESTS to a flat directory of programs
ensure_selftests() {
	local key

	key=$({
		source_version
		"${CROSS}gcc" --version | head -n1
		flavour_patches "$(selftests_flavour)" | xargs -r cat
	} | sha256sum | cut -c1-16)
	SELFTESTS=$CACHE/selftests/$key
	[ -f "$SELFTESTS/.ok" ] && return
	with_lock source setup_source
	with_lock tree build_selftests
}

build_selftests() {
	local out=$CACHE/build/selftests began=$SECONDS f

	[ -f "$SELFTESTS/.ok" ] && return
	export CCACHE_DIR=${CCACHE_DIR:-$CACHE/ccache}
	say "building KVM selftests ($(selftests_flavour))"
	patch_tree "$(selftests_flavour)"
	mkdir -p "$out"
	kmake O="$out/headers" headers_install INSTALL_HDR_PATH="$out/usr" >"$out.log" 2>&1 || build_failed "$out.log"
	rm -rf "${out:?}/bin"
	mkdir -p "$out/bin"
	# one that does not link must not cost the others: what is missing shows when it is asked for
	nice -n 15 make -k -C "$SRC/tools/testing/selftests/kvm" ARCH=arm64 CROSS_COMPILE="$CROSS" \
		CC="ccache ${CROSS}gcc" EXTRA_CFLAGS="-static" OUTPUT="$out/bin" \
		KHDR_INCLUDES="-isystem $out/usr/include" LINUX_HDR_PATH="$out/usr" -j"$JOBS" >>"$out.log" 2>&1 ||
		say "not every selftest was built: $out.log"
	mkdir -p "$SELFTESTS"
	while read -r f; do
		"${CROSS}strip" -o "$SELFTESTS/$(basename "$f")" "$f"
	done < <(find "$out/bin" -type f -perm -u+x ! -name '*.so' ! -name '*.sh')
	[ -f "$SELFTESTS/dirty_log_test" ] || build_failed "$out.log"
	touch "$SELFTESTS/.ok"
	say "selftests built in $((SECONDS - began)) s"
}
