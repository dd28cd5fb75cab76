/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A configuration file. Either it is refused with one line that names the file, or every value is within its range. */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <syslog.h>
#include <unistd.h>

#include "config.h"
#include "target.h"

static void check(const struct config *c)
{
	size_t n = 0;

	while (c->uris[n])
		must(strchr(c->uris[n++], ':'));
	must(n >= 1 && n <= 16);
	must(c->status_dir[0] == '/' && c->state_dir[0] == '/');
	must(c->call_timeout >= NSEC_PER_SEC && c->call_timeout <= 300 * NSEC_PER_SEC);
	must(c->reconnect_max >= NSEC_PER_SEC && c->reconnect_max <= 3600 * NSEC_PER_SEC);
	must(c->left_paused_after >= 5 * NSEC_PER_SEC && c->left_paused_after <= 3600 * NSEC_PER_SEC);
	must(c->max_reports >= 1 && c->max_reports <= 1000000);
	must(c->max_bytes >= UINT64_C(1) << 20 && c->max_bytes <= UINT64_C(1) << 40);
	must(c->log_level >= LOG_ERR && c->log_level <= LOG_DEBUG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config c;
	char path[64], error[512] = "";
	int fd = memfd_create("rollbackd.conf", MFD_CLOEXEC), r;

	must(fd >= 0);
	must(write(fd, data, size) == (ssize_t) size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = config_load(path, &c, error, sizeof(error));
	close(fd);
	if (r < 0) {
		must(r == -EINVAL);
		must(strncmp(error, path, strlen(path)) == 0 && !strchr(error, '\n'));
		return 0;
	}
	check(&c);
	config_done(&c);
	return 0;
}
