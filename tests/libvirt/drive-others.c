/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Post-copy, storage copy, and what QEMU does by migrating though nobody migrates: save, dump, snapshot. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <libvirt/virterror.h>

#include "drive.h"
#include "drive-xml.h"

/* QEMU's pace in pre-copy, so that the guest has its region dirty again at the end, and in post-copy, so that it lasts. */
#define PRECOPY_MIB_S 40
#define POSTCOPY_MIB_S 8
/*
 * How long post-copy runs before it is cut, ms. The kernel's own pages must have arrived by then: a vCPU of a software-emulated
 * guest that waits for one inside an interrupt holds QEMU's big lock, and then no monitor command is answered, recovery
 * included. Pages that a vCPU waits for go first, unless they queue behind others in a slow relay: so QEMU limits itself.
 */
#define POSTCOPY_MS 700
#define RECOVER_TRIES 3
#define SLOW_MIB_S 4
/* Of the disk, filled so that copying it takes a while. */
#define DISK_MIB 24

static int start_postcopy(struct drive *d, size_t from)
{
	virDomainPtr domain;
	int r;

	if (expect(from, "src guest1 iteration 1") < 0)
		return -1;
	domain = domain_on(d, SRC, "guest1");
	if (!domain)
		return -1;
	r = virDomainMigrateStartPostCopy(domain, 0);
	virDomainFree(domain);
	return r == 0 ? 0 : fail("post-copy could not be started: %s", virGetLastErrorMessage());
}

static int postcopy(struct drive *d)
{
	size_t from = watch_now();
	struct move *m = move_begin(d, "guest1", &(struct move_options) { .flags = VIR_MIGRATE_POSTCOPY, .mib_s = PRECOPY_MIB_S });

	if (!m || start_postcopy(d, from) < 0 || move_end(m, true) < 0)
		return -1;
	return expect_state(d, DST, "guest1", VIR_DOMAIN_RUNNING);
}

/* As far as a post-copy whose stream was cut: both QEMUs are there, and neither has all of the guest. */
static int cut_postcopy(struct drive *d, struct relay *relay)
{
	size_t from = watch_now();
	struct move *m = move_begin(d, "guest1", &(struct move_options) {
		.flags = VIR_MIGRATE_POSTCOPY, .relay = true, .mib_s = PRECOPY_MIB_S, .postcopy_mib_s = POSTCOPY_MIB_S });

	if (!m || start_postcopy(d, from) < 0 || expect(from, "dst guest1 RESUMED/POSTCOPY") < 0)
		return -1;
	sleep_ms(POSTCOPY_MS);
	relay_cut(relay);
	if (move_end(m, false) < 0 || expect(from, "src guest1 SUSPENDED/POSTCOPY_FAILED") < 0)
		return -1;
	return expect(from, "dst guest1 RESUMED/POSTCOPY_FAILED");
}

static int recover_postcopy(struct drive *d)
{
	struct move *m = move_begin(d, "guest1", &(struct move_options) {
		.flags = VIR_MIGRATE_POSTCOPY | VIR_MIGRATE_POSTCOPY_RESUME, .relay = true });

	return m ? move_end(m, true) : -1;
}

static int postcopy_recover(struct drive *d)
{
	struct relay *relay = relay_new(d->relay_port);
	int r = -1;

	if (!relay)
		return fail("no relay on port %u: %s", d->relay_port, strerror(errno));
	if (cut_postcopy(d, relay) == 0)
		/* Now and then QEMU 7.2 does not understand the first pages after a cut, and pauses again: one tries again. */
		for (int i = 0; i < RECOVER_TRIES && r < 0; i++) {
			sleep_ms(d->pause_ms);
			r = recover_postcopy(d);
		}
	relay_free(relay);
	return r < 0 ? r : expect_state(d, DST, "guest1", VIR_DOMAIN_RUNNING);
}

static int said(int r, const char *what)
{
	return r == 0 ? 0 : fail("%s failed: %s", what, virGetLastErrorMessage());
}

static int save(struct drive *d)
{
	virDomainPtr domain = domain_on(d, SRC, "guest1");
	char path[256];
	int r;

	if (!domain)
		return -1;
	snprintf(path, sizeof(path), "%s/guest1.save", d->rig);
	r = said(virDomainSave(domain, path), "save");
	if (r == 0) {
		sleep_ms(d->pause_ms);
		r = said(virDomainRestore(d->conn[SRC], path), "restore");
	}
	unlink(path);
	virDomainFree(domain);
	return r < 0 ? r : expect_state(d, SRC, "guest1", VIR_DOMAIN_RUNNING);
}

static int managed_save(struct drive *d)
{
	virDomainPtr domain = domain_on(d, SRC, "guest1");
	int r;

	if (!domain)
		return -1;
	r = said(virDomainManagedSave(domain, 0), "managed save");
	if (r == 0) {
		sleep_ms(d->pause_ms);
		r = said(virDomainCreate(domain), "start from the managed save");
	}
	virDomainFree(domain);
	return r < 0 ? r : expect_state(d, SRC, "guest1", VIR_DOMAIN_RUNNING);
}

static int snapshot_memory(struct drive *d)
{
	virDomainPtr domain = domain_on(d, SRC, "guest1");
	virDomainSnapshotPtr snapshot;
	char xml[512], path[256];

	if (!domain)
		return -1;
	snprintf(path, sizeof(path), "%s/guest1.mem", d->rig);
	snprintf(xml, sizeof(xml),
		 "<domainsnapshot><memory snapshot='external' file='%s'/>"
		 "<disks><disk name='vda' snapshot='no'/></disks></domainsnapshot>", path);
	snapshot = virDomainSnapshotCreateXML(domain, xml, VIR_DOMAIN_SNAPSHOT_CREATE_LIVE | VIR_DOMAIN_SNAPSHOT_CREATE_NO_METADATA);
	virDomainFree(domain);
	unlink(path);
	if (!snapshot)
		return said(-1, "live memory snapshot");
	virDomainSnapshotFree(snapshot);
	return expect_state(d, SRC, "guest1", VIR_DOMAIN_RUNNING);
}

static int dump_live(struct drive *d)
{
	virDomainPtr domain = domain_on(d, SRC, "guest1");
	char path[256];
	int r;

	if (!domain)
		return -1;
	snprintf(path, sizeof(path), "%s/guest1.dump", d->rig);
	r = said(virDomainCoreDump(domain, path, VIR_DUMP_LIVE), "live dump");
	virDomainFree(domain);
	unlink(path);
	return r < 0 ? r : expect_state(d, SRC, "guest1", VIR_DOMAIN_RUNNING);
}

/* Fill the guest's disk, which it never uses, with what does not compress to nothing. */
static int fill_disk(struct drive *d)
{
	char path[256], block[4096];
	int fd, r = 0;

	snprintf(path, sizeof(path), "%s/guest1.raw", d->rig);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || getrandom(block, sizeof(block), 0) != sizeof(block))
		r = -1;
	for (size_t i = 0; r == 0 && i < (DISK_MIB << 20) / sizeof(block); i++)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			r = -1;
	if (r < 0)
		fail("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return r;
}

static int run_storage(struct drive *d, bool abort)
{
	size_t from = watch_now();
	char *xml = fill_disk(d) < 0 ? NULL : xml_with_other_disk(d, "guest1");
	struct move *m;
	int r = -1;

	if (!xml)
		return -1;
	m = move_begin(d, "guest1", &(struct move_options) {
		.flags = VIR_MIGRATE_NON_SHARED_DISK, .dest_xml = xml, .mib_s = abort ? SLOW_MIB_S : 0 });
	if (m && abort) {
		if (expect(from, "src guest1 JOB_STATUS_CHANGE running") == 0) {
			sleep_ms(d->pause_ms);
			if (abort_job(d, "guest1") == 0 && move_end(m, false) == 0)
				r = expect_state(d, SRC, "guest1", VIR_DOMAIN_RUNNING);
		}
	} else if (m && move_end(m, true) == 0) {
		r = expect_state(d, DST, "guest1", VIR_DOMAIN_RUNNING);
	}
	free(xml);
	return r;
}

static int storage_copy(struct drive *d)
{
	return run_storage(d, false);
}

static int storage_abort(struct drive *d)
{
	return run_storage(d, true);
}

const struct fixture other_fixtures[] = {
	{ "postcopy", postcopy, "Post-copy that succeeds." },
	{ "postcopy-recover", postcopy_recover, "Post-copy whose stream is cut, then recovered." },
	{ "save", save, "Saved to a file, then restored from it: no migration, though QEMU calls it one." },
	{ "managedsave", managed_save, "Managed save, then started again: no migration, though QEMU calls it one." },
	{ "snapshot-memory", snapshot_memory, "A live external snapshot of memory: QEMU completes a migration and the guest stays." },
	{ "dump-live", dump_live, "A live core dump: QEMU completes a migration and the guest stays." },
	{ "storage-copy", storage_copy, "A migration with storage copy that succeeds." },
	{ "storage-abort", storage_abort, "A migration with storage copy, aborted while the disk is copied: memory was never touched." },
	{ 0 },
};
