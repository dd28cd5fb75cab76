# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Console text in, RESULT lines out. Exit 1 if one of them failed. A test that
# never answered failed; so did one during which the kernel complained.

function detail_of(line) {
	sub(/^lab: RESULT [^ ]+ [^ ]+ ?/, "", line)
	return line
}

BEGIN {
	while ((getline line < plan) > 0) {
		split(line, field, "\t")
		order[++n] = field[1]
	}
	running = "boot"
}

/^lab: BEGIN / {
	running = $3
	next
}

/^lab: OUT / {
	last[$3] = $0
	sub(/^lab: OUT [^ ]+ /, "", last[$3])
	if (last[$3] ~ /^(FAIL|failed:|not ok|cannot)/ || last[$3] ~ /ASSERT|Assertion/)
		said[$3] = last[$3]
	next
}

/^lab: RESULT / {
	status[$3] = $4
	detail[$3] = detail_of($0)
	running = "after-" $3
	next
}

/^lab: READY/ {
	ready = 1
}

/^lab: DONE/ {
	done = 1
}

$0 ~ splat && !/^lab: / {
	if (!(running in complaint))
		complaint[running] = $0
}

function print_result(name, state, text) {
	printf "RESULT %s/%s %s %s\n", label, name, state, text
	if (state == "fail")
		failed = 1
}

END {
	if (!ready)
		print_result("boot", "fail", "no init: " ("boot" in complaint ? complaint["boot"] : "exit " qemu_rc))
	for (i = 1; i <= n; i++) {
		name = order[i]
		text = detail[name]
		if (name in said && status[name] != "pass")
			text = text ": " said[name]
		else if (name in last && status[name] != "pass")
			text = text ": " last[name]
		if (name in complaint)
			print_result(name, "fail", "kernel: " complaint[name])
		else if (!(name in status))
			print_result(name, "fail", "no result: the machine died or ran out of time, exit " qemu_rc)
		else
			print_result(name, status[name], text)
		delete complaint[name]
	}
	for (name in complaint)
		print_result("kernel-log", "fail", name ": " complaint[name])
	if (!done)
		print_result("power-off", "fail", "the machine did not power off by itself, exit " qemu_rc)
	if (failed)
		printf "lab: console in %s\n", log_file > "/dev/stderr"
	exit failed
}
