# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# CELL and CELL2 lines of a console, joined with the plugin's marks, as two
# Markdown tables: one of counts and times, one of stalls.

function value(tag, name) {
	return (tag, name) in count ? count[tag, name] : 0
}

# three significant figures, in the largest unit that keeps them readable
function duration(ns) {
	if (ns >= 1e9)
		return sprintf("%.2f s", ns / 1e9)
	if (ns >= 1e6)
		return sprintf("%.1f ms", ns / 1e6)
	return sprintf("%.0f us", ns / 1e3)
}

function hold(    ns) {
	ns = cell["x_holds"] > 0 ? cell["x_longest_ns"] : cell["holds"] > 0 ? cell["longest_ns"] : 0
	return ns ? duration(ns) : "-"
}

function add_pairs(    i, pair) {
	for (i = 5; i <= NF; i++) {
		split($i, pair, "=")
		cell[pair[1]] = pair[2]
	}
}

function add_row(    tag, s) {
	tag = cell["method"] == "logoff" ? cell["logoff_tag"] : cell["op_tag"]
	s = sprintf("| %s | %d | %d | %s | %s ", cell["backing"], cell["mib"], cell["density"], cell["access"], cell["method"])
	s = s sprintf("| %d | %d | %d | %d | %d ", value(tag, "IPAS2E1IS"), value(tag, "RIPAS2E1IS"),
		value(tag, "VMALLS12E1IS"), value(tag, "VMALLE1IS"), value(tag, "DC_CIVAC"))
	s = s sprintf("| %s | %s | %s | %s ", cell["x_holds"] ? cell["x_flushes"] "/" cell["x_holds"] : "-", hold(),
		cell["method"] == "logoff" ? "-" : duration(cell["op_ns"]), duration(cell["logoff_ns"]))
	s = s sprintf("| %s | %d, %d, %d, %d |", duration(cell["touch_ns"]), cell["kib_whole"], cell["kib_split"],
		cell["kib_op"], cell["kib_touch"])
	rows[++n_rows] = s
}

function add_stall() {
	stalls[++n_stalls] = sprintf("| %s | %d | %d | %s | %s | %d | %s | %s%s | %d |", cell["backing"], cell["mib"],
		cell["density"], cell["access"], cell["method"], cell["stall"], duration(cell["idle_stall_ns"]),
		cell["ran_dry"] ? ">= " : "", cell["stall_faults"] ? duration(cell["busy_stall_ns"]) : "none taken",
		cell["stall_faults"])
}

BEGIN {
	while ((getline line < marks) > 0) {
		n = split(line, field, " ")
		for (i = 3; i <= n; i++) {
			split(field[i], pair, "=")
			count[field[2], pair[1]] = pair[2]
		}
	}
}

/^lab: OUT [^ ]+ CELL / {
	delete cell
	add_pairs()
}

/^lab: OUT [^ ]+ CELL2 / {
	add_pairs()
	if (cell["stall"] > 0)
		add_stall()
	else
		add_row()
}

END {
	print "| backing | MiB | density % | access | method | IPA | range | VM | S1 | clean | flushes/holds | hold | method | log-off | touch | tables KiB |"
	print "|---|--:|--:|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"
	for (i = 1; i <= n_rows; i++)
		print rows[i]
	if (!n_stalls)
		exit
	print "\nSlowest stage-2 fault of the vCPUs that fault elsewhere meanwhile (the idle pass is the same with nothing else going on):\n"
	print "| backing | MiB | density % | access | method | vCPUs | idle | during | faults |"
	print "|---|--:|--:|---|---|--:|--:|--:|--:|"
	for (i = 1; i <= n_stalls; i++)
		print stalls[i]
}
