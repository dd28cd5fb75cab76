/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/mark.h"

static const char *const mark_table[MARK_MAX] = {
	[MARK_TB] = "Tb", [MARK_T0] = "T0", [MARK_TS] = "Ts", [MARK_T1] = "T1", [MARK_T2] = "T2",
	[MARK_T3] = "T3", [MARK_TE] = "Te", [MARK_T4] = "T4", [MARK_T5] = "T5",
	[MARK_D0] = "D0", [MARK_D1] = "D1", [MARK_D2] = "D2", [MARK_D3] = "D3", [MARK_D4] = "D4",
};
STRING_TABLE_DEFINE(mark, enum mark_id, mark_table);

static const char *const stamp_source_table[STAMP_MAX] = {
	[STAMP_NONE] = "none",
	[STAMP_QMP] = "qmp",
	[STAMP_ARRIVAL] = "arrival",
	[STAMP_LIFECYCLE] = "lifecycle",
	[STAMP_JOB] = "job",
	[STAMP_KERNEL] = "kernel",
	[STAMP_INFERRED] = "inferred",
};
STRING_TABLE_DEFINE(stamp_source, enum stamp_source, stamp_source_table);

static const char *const missing_table[MISSING_MAX] = {
	[MISSING_NOT_SEEN] = "not-seen",
	[MISSING_NOT_MEASURED] = "not-measured",
	[MISSING_NOT_APPLICABLE] = "not-applicable",
	[MISSING_PAUSED_BEFORE] = "paused-before",
	[MISSING_JOINED_LATE] = "joined-late",
	[MISSING_QMP_REFUSED] = "qmp-refused",
	[MISSING_POOL_TAKEN] = "pool-taken",
};
STRING_TABLE_DEFINE(missing, enum missing, missing_table);
