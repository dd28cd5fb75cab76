# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Messages, the cache, and the options every verb shares.

CACHE=${ROLLBACKD_LAB_CACHE:-${HOME:-/root}/.cache/rollbackd-lab}
CROSS=aarch64-linux-gnu-
JOBS=${ROLLBACKD_LAB_JOBS:-$(nproc)}
SERIES_DIR=${ROLLBACKD_LAB_SERIES:-$REPO_DIR/kernel-patch/v6.12}
MUTATIONS_DIR=$SERIES_DIR/mutations

say() {
	printf 'lab: %s\n' "$*" >&2
}

die() {
	say "$*"
	exit 2
}

# need COMMAND PACKAGE: a missing tool is named together with its cure
need() {
	command -v "$1" >/dev/null || die "'$1' is missing (package $2): run 'lab setup' as root"
}

# with_lock NAME COMMAND...: one builder at a time on what they share
with_lock() {
	local name=$1 fd

	shift
	mkdir -p "$CACHE"
	exec {fd}>"$CACHE/.lock-$name"
	if ! flock -n "$fd"; then
		say "waiting for another lab ($name)"
		flock "$fd"
	fi
	"$@"
	exec {fd}>&-
}

have_series() {
	[ -n "$(series_patches)" ]
}

# the series in order, without its cover letter
series_patches() {
	[ ! -d "$SERIES_DIR" ] || find "$SERIES_DIR" -maxdepth 1 -name '*.patch' ! -name '0000-*' | sort
}

default_flavour() {
	if have_series; then echo patched; else echo stock; fi
}

# Sets FLAVOUR CONFIG GRANULE MEM SMP APPEND TIMEOUT LOG and the array REST.
parse_options() {
	FLAVOUR=$(default_flavour) CONFIG=lean GRANULE=4k MEM=6G SMP=2 APPEND='' TIMEOUT='' LOG=''
	REST=()
	while [ $# -gt 0 ]; do
		case $1 in
		--flavour|--config|--granule|--mem|--smp|--append|--timeout|--log)
			[ $# -ge 2 ] || die "$1 needs a value"
			set_option "$1" "$2"
			shift 2 ;;
		--*)
			die "unknown option '$1'; 'lab help' lists them" ;;
		*)
			REST+=("$1")
			shift ;;
		esac
	done
	check_options
}

set_option() {
	case $1 in
	--flavour) FLAVOUR=$2 ;;
	--config) CONFIG=$2 ;;
	--granule) GRANULE=$2 ;;
	--mem) MEM=$2 ;;
	--smp) SMP=$2 ;;
	--append) APPEND=$2 ;;
	--timeout) TIMEOUT=$2 ;;
	--log) LOG=$2 ;;
	esac
}

check_options() {
	case $FLAVOUR in
	stock) ;;
	patched)
		have_series || die "flavour 'patched': no series in $SERIES_DIR" ;;
	mutation:*)
		have_series || die "flavour '$FLAVOUR': no series in $SERIES_DIR"
		[ -f "$MUTATIONS_DIR/${FLAVOUR#mutation:}.patch" ] ||
			die "no ${FLAVOUR#mutation:}.patch in $MUTATIONS_DIR; 'lab list' shows them" ;;
	*)
		die "flavour '$FLAVOUR': expected stock, patched or mutation:NAME" ;;
	esac
	[ -f "$LAB_DIR/config/$CONFIG.config" ] || die "config '$CONFIG': expected lean or debug"
	case $GRANULE in
	4k|16k|64k) ;;
	*) die "granule '$GRANULE': expected 4k, 16k or 64k" ;;
	esac
}
