/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* After a fixture, and after one that went wrong: the guests run on the source, and nothing is on the destination. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libvirt/virterror.h>

#include "drive.h"

#define BOOT_MS 3000

static int state_of(virDomainPtr domain, int *ret_reason)
{
	int state = VIR_DOMAIN_NOSTATE, reason = 0;

	virDomainGetState(domain, &state, &reason, 0);
	if (ret_reason)
		*ret_reason = reason;
	return state;
}

/* Bring a guest home by migrating it back: faster than booting it anew. */
static int bring_back(struct drive *d, virDomainPtr there)
{
	char *xml = virDomainGetXMLDesc(there, VIR_DOMAIN_XML_SECURE | VIR_DOMAIN_XML_MIGRATABLE);
	char *other = xml ? strstr(xml, "-other.raw'") : NULL;
	virDomainPtr here;

	/* After a storage copy it has the other disk: put it back on its own. */
	if (other)
		memmove(other, other + strlen("-other"), strlen(other + strlen("-other")) + 1);
	here = virDomainMigrate2(there, d->conn[SRC], xml, VIR_MIGRATE_LIVE | VIR_MIGRATE_UNSAFE, NULL, "tcp://127.0.0.1", 0);
	free(xml);
	if (!here)
		return -1;
	virDomainFree(here);
	return 0;
}

static void clear_destination(struct drive *d)
{
	virDomainPtr *domains = NULL;
	int n = virConnectListAllDomains(d->conn[DST], &domains, 0);

	for (int i = 0; i < n; i++) {
		bool whole = state_of(domains[i], NULL) == VIR_DOMAIN_RUNNING;

		if (!whole || bring_back(d, domains[i]) < 0)
			virDomainDestroy(domains[i]);
		virDomainUndefine(domains[i]);
		virDomainFree(domains[i]);
	}
	free(domains);
}

/* Define a domain again, from the XML that the rig made it of. */
static int define_again(struct drive *d, virDomainPtr domain)
{
	char path[256], xml[4096];
	virDomainPtr defined;
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.xml", d->rig, virDomainGetName(domain));
	file = fopen(path, "re");
	if (!file)
		return fail("%s: %s", path, strerror(errno));
	n = fread(xml, 1, sizeof(xml) - 1, file);
	fclose(file);
	xml[n] = '\0';
	defined = virDomainDefineXML(d->conn[SRC], xml);
	if (!defined)
		return fail("%s is not defined again: %s", virDomainGetName(domain), virGetLastErrorMessage());
	virDomainFree(defined);
	return 0;
}

static int revive(struct drive *d, virDomainPtr domain)
{
	int reason, state = state_of(domain, &reason);

	if (virDomainIsPersistent(domain) == 0 && define_again(d, domain) < 0)
		return -1;
	if (state == VIR_DOMAIN_PAUSED && reason == VIR_DOMAIN_PAUSED_USER && virDomainResume(domain) == 0)
		return 0;
	if (state == VIR_DOMAIN_RUNNING)
		return 0;
	virDomainDestroy(domain);
	virDomainManagedSaveRemove(domain, 0);
	if (virDomainCreate(domain) < 0)
		return fail("%s does not start: %s", virDomainGetName(domain), virGetLastErrorMessage());
	/* Its init has to be dirtying memory again before the next fixture. */
	sleep_ms(BOOT_MS);
	return 0;
}

int reset(struct drive *d)
{
	virDomainPtr *domains = NULL;
	int n, r = 0;

	clear_destination(d);
	n = virConnectListAllDomains(d->conn[SRC], &domains, 0);
	if (n < 0)
		return fail("the source does not list its guests: %s", virGetLastErrorMessage());
	for (int i = 0; i < n; i++) {
		if (revive(d, domains[i]) < 0)
			r = -1;
		virDomainFree(domains[i]);
	}
	free(domains);
	return r;
}
