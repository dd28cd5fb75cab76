# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Kernels. One source tree is patched and unpatched in place, touching only
# files that change: make then rebuilds little, and ccache, which keys on
# paths, hits.

SRC=$CACHE/src/linux

verb_build() {
	parse_options "$@"
	[ ${#REST[@]} -eq 0 ] || die "build takes options only, not '${REST[0]}'"
	ensure_kernel
	ensure_selftests
	ensure_guest
	ensure_plugin 1
	say "kernel: $KERNEL"
	say "selftests: $SELFTESTS"
}

# patches of a flavour, one path a line
flavour_patches() {
	case $1 in
	stock) ;;
	patched) series_patches ;;
	mutation:*)
		series_patches
		echo "$MUTATIONS_DIR/${1#mutation:}.patch" ;;
	esac
}

config_fragments() {
	echo "$LAB_DIR/config/lean.config"
	[ "$CONFIG" = lean ] || echo "$LAB_DIR/config/$CONFIG.config"
	[ "$GRANULE" = 4k ] || echo "$LAB_DIR/config/granule-$GRANULE.config"
}

# everything that decides what the compiler makes of it
kernel_key() {
	{
		source_version
		"${CROSS}gcc" --version | head -n1
		# contents, not names: a renumbered series is the same kernel
		flavour_patches "$FLAVOUR" | xargs -r cat
		config_fragments | xargs cat
	} | sha256sum | cut -c1-16
}

# Sets KERNEL to the directory that holds Image, config and info.
ensure_kernel() {
	need "${CROSS}gcc" gcc-aarch64-linux-gnu
	KERNEL=$CACHE/kernels/$(kernel_key)
	[ -f "$KERNEL/Image" ] && return
	with_lock source setup_source
	with_lock tree build_kernel
}

kmake() {
	nice -n 15 make -C "$SRC" ARCH=arm64 CROSS_COMPILE="$CROSS" CC="ccache ${CROSS}gcc" HOSTCC="ccache gcc" \
		KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' KBUILD_BUILD_USER=lab KBUILD_BUILD_HOST=lab \
		-j"$JOBS" "$@"
}

build_kernel() {
	local out=$CACHE/build/$CONFIG-$GRANULE began=$SECONDS

	[ -f "$KERNEL/Image" ] && return
	need ccache ccache
	export CCACHE_DIR=${CCACHE_DIR:-$CACHE/ccache}
	say "building kernel $FLAVOUR $CONFIG $GRANULE on $JOBS CPUs"
	patch_tree "$FLAVOUR"
	mkdir -p "$out"
	config_fragments | xargs cat >"$out.fragment"
	kmake O="$out" KCONFIG_ALLCONFIG="$out.fragment" allnoconfig >"$out.log" 2>&1 || build_failed "$out.log"
	check_config "$out.fragment" "$out/.config"
	kmake O="$out" Image >"$out.log" 2>&1 &
	show_progress $! "$out.log" || build_failed "$out.log"
	keep_kernel "$out"
	times >"$out.times"
	say "kernel built in $((SECONDS - began)) s of wall clock, $(cpu_seconds "$out.times") s of CPU time"
}

build_failed() {
	grep -nE 'error|Error|No rule' "$1" | head -n 20 >&2
	die "build failed: $1"
}

# a symbol that kconfig dropped silently would make tests skip silently
check_config() {
	local want lost=0

	while read -r want; do
		grep -qxF "$want" "$2" && continue
		# a later fragment may have overridden it
		[ "$(grep -E "^(# )?${want%%=*}[= ]" "$1" | tail -n1)" = "$want" ] || continue
		say "config: asked for '$want', kconfig says '$(grep -E "^(# )?${want%%=*}[= ]" "$2" || echo unset)'"
		lost=1
	done < <(grep '^CONFIG_' "$1")
	[ $lost -eq 0 ] || die "the configuration above does not hold together"
}

# a line every 30 s: how many objects, and how long
show_progress() {
	local pid=$1 log=$2 began=$SECONDS last=$SECONDS

	while kill -0 "$pid" 2>/dev/null; do
		sleep 1
		[ $((SECONDS - last)) -ge 30 ] || continue
		last=$SECONDS
		say "  $((SECONDS - began)) s: $(grep -c '^  CC\|^  AS\|^  HYPCOPY' "$log" || true) objects"
	done
	wait "$pid"
}

# cpu_seconds FILE: of the children in what the shell's `times` wrote
cpu_seconds() {
	tail -n1 "$1" | sed 's/[ms]/ /g' | awk '{ printf "%d\n", $1 * 60 + $2 + $3 * 60 + $4 }'
}

keep_kernel() {
	local tmp=$KERNEL.tmp

	rm -rf "$tmp"
	mkdir -p "$tmp"
	cp "$1/arch/arm64/boot/Image" "$1/System.map" "$tmp/"
	cp "$1/.config" "$tmp/config"
	{
		echo "source linux-source-6.12 $(source_version)"
		echo "flavour $FLAVOUR"
		echo "config $CONFIG"
		echo "granule $GRANULE"
		echo "compiler $("${CROSS}gcc" --version | head -n1)"
		flavour_patches "$FLAVOUR" | xargs -r sha256sum | sed -E 's/^(.{12})[^ ]* .*\//patch \1 /'
	} >"$tmp/info"
	rm -rf "$KERNEL"
	mv "$tmp" "$KERNEL"
}

# files a list of patches touches
patched_files() {
	xargs -r sed -nE 's/^(---|\+\+\+) [ab]\/([^[:space:]]+).*/\2/p' | sort -u
}

# Bring the tree to FLAVOUR. Originals of touched files are kept beside it, the
# new state is made in a stage, and only what differs is copied: times of
# untouched files stay.
patch_tree() {
	local stage=$CACHE/src/stage orig=$CACHE/src/orig f p

	rm -rf "$stage"
	mkdir -p "$stage" "$orig"
	touch "$orig/.touched"
	flavour_patches "$1" | patched_files >"$stage/.now"
	while read -r f; do
		keep_original "$f" "$orig"
		[ -f "$orig/$f" ] && install -D -m 644 "$orig/$f" "$stage/$f"
	done <"$stage/.now"
	while read -r p; do
		patch -d "$stage" -p1 -F0 -s -N --no-backup-if-mismatch <"$p" >&2 ||
			die "patch does not apply to linux-source-6.12 $(source_version): $p"
	done < <(flavour_patches "$1")
	sort -u "$orig/.touched" "$stage/.now" >"$orig/.touched.new"
	mv "$orig/.touched.new" "$orig/.touched"
	while read -r f; do
		settle_file "$f" "$stage" "$orig"
	done <"$orig/.touched"
}

keep_original() {
	grep -qxF "$1" "$2/.touched" && return
	[ -f "$SRC/$1" ] && install -D -m 644 "$SRC/$1" "$2/$1"
	return 0
}

settle_file() {
	local f=$1 want

	if grep -qxF "$f" "$2/.now"; then want=$2/$f; else want=$3/$f; fi
	if [ ! -f "$want" ]; then
		rm -f "$SRC/$f"
	elif ! cmp -s "$want" "$SRC/$f"; then
		mkdir -p "$(dirname "$SRC/$f")"
		# scripts in the tree keep their mode
		cat "$want" >"$SRC/$f"
	fi
}
