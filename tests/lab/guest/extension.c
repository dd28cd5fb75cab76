/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "extension.h"

#include <errno.h>
#include <unistd.h>

#include "memory.h"

/* Part A's switch. */
#define PARAMETER "/sys/module/kvm/parameters/recover_huge_pages"

bool extension_has_log_off(void)
{
	return access(PARAMETER, F_OK) == 0;
}

int extension_set_log_off(bool on)
{
	if (!extension_has_log_off())
		return on ? -ENOTSUP : 0;
	return write_file(PARAMETER, on ? "Y" : "N");
}

int extension_make_hole(const struct vm *vm, uint64_t ipa, uint64_t size, struct extension_result *ret_result)
{
	(void)vm;
	(void)ipa;
	(void)size;
	(void)ret_result;
	return -ENOTSUP;
}

int extension_recover(const struct vm *vm, uint64_t ipa, uint64_t size, struct extension_result *ret_result)
{
	return extension_make_hole(vm, ipa, size, ret_result);
}
