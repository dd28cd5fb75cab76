# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Booting: initramfs, QEMU, and what the console said turned into RESULT lines.

# What a kernel says when something is wrong, whoever provoked it.
SPLAT='BUG:|WARNING:|Oops|Kernel panic|Internal error|INFO: task .* blocked|rcu:.*(stall|detected)|KASAN:|UBSAN:'
SPLAT+='|possible (circular|recursive) locking|inconsistent lock state|suspicious RCU|sleeping function called'
SPLAT+='|Bad page|bad: scheduling|Unable to handle kernel|refcount_t:|list_(add|del) corruption|scheduling while atomic'
SPLAT+='|invalid wait context|bad unlock balance|held lock freed|soft lockup|hung_task'

verb_run() {
	local model

	parse_options "$@"
	[ ${#REST[@]} -ge 2 ] || die "run: expected a model and at least one test"
	model=${REST[0]}
	run_model "$model" "${REST[@]:1}"
}

verb_shell() {
	parse_options "$@"
	[ ${#REST[@]} -eq 1 ] || die "shell: expected one model"
	prepare_boot "${REST[0]}"
	ensure_selftests
	make_initrd "$RUN_DIR/initrd.gz" /dev/null shell
	qemu_command "${REST[0]}"
	"${QEMU_COMMAND[@]}"
}

# Everything a boot of MODEL needs, built or found; a scratch directory in RUN_DIR.
prepare_boot() {
	model_set "$1"
	qemu_set
	ensure_kernel
	ensure_guest
	ensure_plugin "$QEMU_API"
	[ -z "${RUN_DIR:-}" ] || rm -rf "$RUN_DIR"
	RUN_DIR=$(mktemp -d "${TMPDIR:-/tmp}/rollbackd-lab.XXXXXX")
	trap 'rm -rf "$RUN_DIR"' EXIT
}

# make_initrd FILE PLAN [shell]
make_initrd() {
	local root=$RUN_DIR/root word

	rm -rf "$root"
	mkdir -p "$root"/{dev,proc,sys,tmp,mnt,bin,lab/bin}
	cp "$GUEST/init" "$root/init"
	cp "$GUEST"/bin/* "$root/lab/bin/"
	if [ "${3:-}" = shell ]; then
		[ -x "$CACHE/arm64/busybox" ] || die "no busybox for arm64: run 'lab setup'"
		cp "$CACHE/arm64/busybox" "$root/bin/"
		for word in sh ls cat echo mount dmesg grep ps kill free; do
			ln -s busybox "$root/bin/$word"
		done
		touch "$root/lab/shell"
		cp "$SELFTESTS"/* "$root/lab/bin/" 2>/dev/null || true
	fi
	cp "$2" "$root/lab/plan" 2>/dev/null || true
	# only the selftests that the plan names, built only then: each is most of a megabyte
	while read -r word; do
		[ ! -f "$root/lab/bin/$word" ] || continue
		ensure_selftests </dev/null
		[ ! -f "$SELFTESTS/$word" ] || cp "$SELFTESTS/$word" "$root/lab/bin/"
	done < <(cut -f4 "$2" | awk '{ sub("^\\./", "", $1); print $1 }' | sort -u)
	word=
	if grep -q $'\t\./qemu_' "$2"; then
		ensure_nested
		add_nested "$root"
		word=$NESTED
	fi
	(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$1"
	# the kernel unpacks one archive after another
	[ -z "$word" ] || cat "$word" >>"$1"
}

# qemu_command MODEL: sets QEMU_COMMAND
qemu_command() {
	local append="console=ttyAMA0 earlycon panic=-1 printk.devkmsg=on rcupdate.rcu_cpu_stall_timeout=200"

	model_set "$1"
	qemu_set
	[ "$GRANULE" = 64k ] || append+=" default_hugepagesz=$([ "$GRANULE" = 4k ] && echo 2M || echo 32M)"
	[ "$GRANULE" != 4k ] || append+=" hugepagesz=1G hugepages=${GIGANTIC:-2}"
	QEMU_COMMAND=(nice -n 15 "${QEMU[@]}" -machine "$MACHINE" -cpu "$CPU" -accel tcg,thread=multi
		-smp "$SMP" -m "$MEM" -nographic -no-reboot -nodefaults -serial mon:stdio -net none
		-plugin "$PLUGIN,marks=$RUN_DIR/marks" -kernel "$KERNEL/Image" -initrd "$RUN_DIR/initrd.gz"
		-append "$append $MODEL_APPEND $APPEND")
}

# The plan of the named tests in FILE. What only a patched tree has is listed in
# FILE.skipped on a stock one.
make_plan() {
	local file=$1 name timeout huge flavours command
	shift

	: >"$file"
	: >"$file.skipped"
	for name; do
		if [[ $name == *' '* || $name == ./* ]]; then
			command=$name timeout=120 huge=256 flavours=any
			name=$(tr -cs 'A-Za-z0-9_.=\n' - <<<"${name#./}")
		else
			IFS=$'\t' read -r timeout huge flavours command < <(find_test "$name") ||
				die "test '$name' is not in tests.list; 'lab list' shows them"
		fi
		if [ "$flavours" = patched ] && [ "$FLAVOUR" = stock ]; then
			echo "$name" >>"$file.skipped"
		else
			printf '%s\t%s\t%s\t%s\n' "$name" "$timeout" "$huge" "$command" >>"$file"
		fi
	done
}

# find_test NAME: timeout, huge pages, flavours and command from tests.list
find_test() {
	awk -v name="$1" '$1 == name {
		printf "%s\t%s\t%s\t", $2, $3, $4
		$1 = $2 = $3 = $4 = ""
		sub(/^ +/, "")
		print
	}' "$LAB_DIR/tests.list"
}

# Prefix of a RESULT name.
run_label() {
	local label=$1/$FLAVOUR

	[ "$CONFIG" = lean ] || label+=/$CONFIG
	[ "$GRANULE" = 4k ] || label+=/$GRANULE
	echo "$label"
}

# run_model MODEL TEST...: boots, prints RESULT lines; 1 if any of them failed
run_model() {
	local model=$1 missing
	shift

	missing=$(model_missing "$model")
	if [ -n "$missing" ]; then
		printf "RESULT $(run_label "$model")/%s skip $missing\n" "$@"
		return 0
	fi
	prepare_boot "$model"
	make_plan "$RUN_DIR/plan" "$@"
	sed "s|^|RESULT $(run_label "$model")/|; s|\$| skip only in a patched kernel|" "$RUN_DIR/plan.skipped"
	[ -s "$RUN_DIR/plan" ] || return 0
	boot_plan "$model"
	report_results "$model" "$RUN_DIR/plan" "$LOG"
}

# boot_plan MODEL: runs RUN_DIR/plan; console in LOG, counts in RUN_DIR/marks
boot_plan() {
	local limit

	make_initrd "$RUN_DIR/initrd.gz" "$RUN_DIR/plan"
	qemu_command "$1"
	if [ -z "$LOG" ]; then
		mkdir -p "$CACHE/logs"
		LOG=$CACHE/logs/$(run_label "$1" | tr '/:' --)-$(date +%Y%m%d-%H%M%S)-$$.log
	fi
	limit=${TIMEOUT:-$(awk -F'\t' '{ s += $2 } END { print s + 120 }' "$RUN_DIR/plan")}
	QEMU_RC=0
	timeout -k 5 "$limit" "${QEMU_COMMAND[@]}" </dev/null >"$LOG" 2>&1 || QEMU_RC=$?
}

# What the console says, without its time stamps.
console_text() {
	tr -d '\r' <"$1" | sed -E 's/^\[ *[0-9]+\.[0-9]+\] ?//'
}

# report_results MODEL PLAN LOG: RESULT lines of programs, then of their counts
report_results() {
	local rc=0 label page

	label=$(run_label "$1")
	page=$((${GRANULE%k} * 1024))
	console_text "$3" >"$RUN_DIR/console"
	awk -v plan="$2" -v label="$label" -v splat="$SPLAT" -v qemu_rc="$QEMU_RC" -v log_file="$3" \
		-f "$LAB_DIR/lib/results.awk" "$RUN_DIR/console" || rc=1
	awk -v marks="$RUN_DIR/marks" -v label="$label" -v range="$RANGE" -v fwb="$FWB" -v page="$page" \
		-v has_log_off="$([ "$FLAVOUR" = stock ] || echo 1)" \
		-f "$LAB_DIR/lib/counts.awk" "$RUN_DIR/console" || rc=1
	return $rc
}
