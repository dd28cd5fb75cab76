# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the plugin counted against what the architecture and the kernel's page
# table code demand. Input: console text. Variables: marks (file), range, fwb,
# page (bytes). One RESULT line a cell, NAME-counts.
#
# L leaves and T tables to unmap, N blocks:
#   slot deletion, no range or no FWB   L + T single flushes by IPA
#   slot deletion, range and FWB        T single, one range flush a step
#   collapse by fault                   one a block: by range, or the whole VM
#   each flush by IPA or range          one VMALLE1IS behind it
# Without FWB every cacheable leaf dropped is cleaned, line by line.

# Noise: other VMALLE1IS come from the host's own kernel mappings.
function near(is, want) {
	return is >= want && is <= want + 8
}

function value(tag, name) {
	return (tag, name) in count ? count[tag, name] : 0
}

# Instructions of one range flush of n pages: pieces of 1 to 32 << (5 * scale + 1) pages, and single ones.
function range_ops(n,    scale, ops, unit, num) {
	if (!range)
		return 0
	ops = 0
	for (scale = 3; scale >= 0 && n > 1; scale--) {
		unit = 2 ^ (5 * scale + 1)
		num = int(n / unit)
		if (num > 32)
			num = 32
		if (num > 0) {
			ops++
			n -= num * unit
		}
	}
	return ops
}

function read_marks(    line, field, n, i, pair) {
	while ((getline line < marks) > 0) {
		n = split(line, field, " ")
		for (i = 3; i <= n; i++) {
			split(field[i], pair, "=")
			count[field[2], pair[1]] = pair[2]
		}
	}
}

function add_pairs(    i, pair) {
	for (i = 5; i <= NF; i++) {
		split($i, pair, "=")
		cell[pair[1]] = pair[2]
	}
}

# Leaves and tables below a slot of which every smallest block was split.
function shape(    bytes, entries, per_table) {
	bytes = cell["mib"] * 1048576
	entries = page / 8
	per_table = entries * page
	leaves = cell["dirtied"]
	leaf_tables = bytes / per_table
	# with 4K pages and 40 bits level 1 is the root: level 2 tables, one a GiB, are freed too
	tables = leaf_tables + (page == 4096 ? int((bytes + 2 ^ 30 - 1) / 2 ^ 30) : 0)
	step = page == 4096 ? 2 ^ 30 : per_table
	steps = int((bytes + step - 1) / step)
	step_pages = (bytes < step ? bytes : step) / page
}

function expect(want, is, what) {
	if (is != want)
		wrong = wrong " " what "=" is " expected " want
}

function expect_near(want, is, what) {
	if (!near(is, want))
		wrong = wrong " " what "=" is " expected " want ".." want + 8
}

function check_slot(tag,    by_leaf) {
	by_leaf = !(range && fwb)
	expect(by_leaf ? leaves + tables : tables, value(tag, "IPAS2E1IS"), "IPAS2E1IS")
	expect(by_leaf ? 0 : steps * range_ops(step_pages), value(tag, "RIPAS2E1IS"), "RIPAS2E1IS")
	expect_near(by_leaf ? leaves + tables : tables + steps, value(tag, "VMALLE1IS"), "VMALLE1IS")
	expect(0, value(tag, "VMALLS12E1IS"), "VMALLS12E1IS")
	expect(fwb ? 0 : leaves * page / 64, value(tag, "DC_CIVAC"), "DC_CIVAC")
}

function check_fault(tag,    n) {
	# fully written pages are writable leaves: nothing faults, nothing collapses
	n = cell["density"] == 100 && cell["access"] == "rw" ? 0 : cell["blocks"]
	expect(range ? 0 : n, value(tag, "VMALLS12E1IS"), "VMALLS12E1IS")
	expect(range ? n * range_ops(cell["mib"] * 1048576 / cell["blocks"] / page) : 0, value(tag, "RIPAS2E1IS"),
		"RIPAS2E1IS")
	expect_near(range ? n : 0, value(tag, "VMALLE1IS"), "VMALLE1IS")
	expect(0, value(tag, "IPAS2E1IS"), "IPAS2E1IS")
}

# One flush a hold, no table flushed by itself, nothing cleaned that stays mapped.
# Uncontended that is one of each; a busy machine makes the kernel yield, so
# more are possible and shown.
function check_batch(tag, something,    flushes, ops) {
	flushes = cell["x_flushes"]
	ops = range_ops(cell["mib"] * 1048576 / page)
	expect(cell["x_holds"], flushes, "flush calls")
	if (something && !flushes)
		wrong = wrong " nothing was flushed"
	if (!something)
		expect(0, flushes, "flush calls")
	expect(range ? 0 : flushes, value(tag, "VMALLS12E1IS"), "VMALLS12E1IS")
	if (!range || flushes < 2)
		expect(range ? flushes * ops : 0, value(tag, "RIPAS2E1IS"), "RIPAS2E1IS")
	else if (value(tag, "RIPAS2E1IS") < flushes || value(tag, "RIPAS2E1IS") > 4 * flushes)
		wrong = wrong " RIPAS2E1IS=" value(tag, "RIPAS2E1IS") " for " flushes " range flushes"
	expect_near(range ? flushes : 0, value(tag, "VMALLE1IS"), "VMALLE1IS")
	expect(0, value(tag, "IPAS2E1IS"), "IPAS2E1IS")
	expect(0, value(tag, "DC_CIVAC"), "DC_CIVAC")
	note = ", " flushes " flush(es) in " cell["x_holds"] " hold(s)"
}

# Without FWB a table with holes is kept, and a hole is not made at all.
function check_cell(    full) {
	full = fwb || cell["density"] == 100
	if (cell["method"] == "slot")
		check_slot(cell["op_tag"])
	else if (cell["method"] == "fault")
		check_fault(cell["op_tag"])
	else if (cell["method"] == "hole")
		check_batch(cell["op_tag"], fwb)
	else if (cell["method"] == "inplace")
		check_batch(cell["op_tag"], full)
	else if (cell["method"] == "logoff")
		check_batch(cell["logoff_tag"], full && has_log_off)
}

BEGIN {
	read_marks()
}

/^lab: OUT [^ ]+ CELL / {
	delete cell
	add_pairs()
}

/^lab: OUT [^ ]+ CELL2 / {
	add_pairs()
	# faults of other vCPUs clean and flush as well
	if (cell["stall"] > 0)
		next
	shape()
	wrong = note = ""
	check_cell()
	printf "RESULT %s/%s-counts %s%s\n", label, $3, wrong == "" ? "pass" : "fail",
		wrong == "" ? " as the formula says" note : wrong
	if (wrong != "")
		failed = 1
}

END {
	exit failed
}
