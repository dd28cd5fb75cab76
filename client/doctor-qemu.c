/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* QEMU processes, as /proc shows them. None is opened, traced or run: a version is told only where a process runs the very
 * file that is installed here, since what a container calls QEMU is not ours to execute. */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "doctor.h"
#include "text.h"

#define CMDLINE_MAX (256 * 1024)
#define INIT_PID_NAMESPACE "pid:[4026531836]" /* PROC_PID_INIT_INO of the kernel */

struct process {
	char *pid, *name, *uuid;
	char *base; /* of the program */
	bool other_pids, own_mounts, known; /* in another pid namespace; libvirt here knows it */
	dev_t dev;
	ino_t ino;
};

struct processes {
	struct process *v;
	size_t n, unreadable;
};

static char *link_text(const char *root, const char *pid, const char *name)
{
	_cleanup_free_ char *path = xprintf("%s/%s/%s", root, pid, name);
	char text[256];
	ssize_t n = readlink(path, text, sizeof text - 1);

	if (n < 0)
		return NULL;
	text[n] = 0;
	return xstrdup(text);
}

/* The argument behind an option, within a command line whose NULs have become newlines. */
static char *argument(const char *cmdline, const char *option)
{
	size_t n = strlen(option);

	for (const char *p = cmdline; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		if (strncmp(p, option, n) == 0 && p[n] == '\n')
			return xstrndup(p + n + 1, strcspn(p + n + 1, "\n"));
	return NULL;
}

static char *read_cmdline(const struct doctor *d, const char *pid)
{
	_cleanup_free_ char *path = xprintf("%s/%s/cmdline", d->proc, pid);
	FILE *f = fopen(path, "re");
	char *text;
	size_t n;

	if (!f)
		return NULL;
	text = xcalloc(CMDLINE_MAX + 1, 1);
	n = fread(text, 1, CMDLINE_MAX, f);
	fclose(f);
	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = '\n';
	return text;
}

/* The program's name without its folder; NULL when it is no QEMU. */
static char *qemu_base(const char *cmdline)
{
	size_t len = strcspn(cmdline, "\n");
	const char *base = cmdline;

	for (size_t i = 0; i < len; i++)
		if (cmdline[i] == '/')
			base = cmdline + i + 1;
	if (strncmp(base, "qemu-system-", 12) != 0 && strncmp(base, "qemu-kvm\n", 9) != 0 && strncmp(base, "kvm\n", 4) != 0)
		return NULL;
	return xstrndup(base, len - (size_t) (base - cmdline));
}

/* "guest=NAME,..." of libvirt, or plain NAME; to be freed. */
static char *guest_name(const char *cmdline)
{
	char *name = argument(cmdline, "-name");
	const char *p = name ? strstr(name, "guest=") : NULL;
	char *bare;

	if (!name)
		return xstrdup("no name");
	p = p ? p + 6 : name;
	bare = xstrndup(p, strcspn(p, ","));
	free(name);
	return bare;
}

static bool is_known(const struct doctor *d, const char *uuid)
{
	for (size_t i = 0; uuid && i < d->n_known; i++)
		if (strcasecmp(d->known_uuids[i], uuid) == 0)
			return true;
	return false;
}

static bool differs(const struct doctor *d, const char *pid, const char *ns)
{
	_cleanup_free_ char *theirs = link_text(d->proc, pid, ns), *mine = link_text(d->proc, "self", ns);

	return theirs && mine && strcmp(theirs, mine) != 0;
}

static void look_at_process(const struct doctor *d, const char *pid, struct processes *p)
{
	_cleanup_free_ char *cmdline = read_cmdline(d, pid), *machine = NULL, *exe = xprintf("%s/%s/exe", d->proc, pid);
	struct process one = { 0 };
	struct stat st;

	if (!cmdline) {
		p->unreadable += errno != ENOENT && errno != ESRCH;
		return;
	}
	machine = argument(cmdline, "-machine");
	if (machine && strncmp(machine, "none", 4) == 0)
		return; /* libvirt asking QEMU what it can do: no guest */
	one.base = qemu_base(cmdline);
	if (!one.base)
		return;
	one.pid = xstrdup(pid);
	one.name = guest_name(cmdline);
	one.uuid = argument(cmdline, "-uuid");
	one.other_pids = differs(d, pid, "ns/pid");
	one.own_mounts = differs(d, pid, "ns/mnt");
	one.known = is_known(d, one.uuid);
	if (stat(exe, &st) == 0) {
		one.dev = st.st_dev;
		one.ino = st.st_ino;
	}
	p->v = xrealloc(p->v, p->n + 1, sizeof *p->v);
	p->v[p->n++] = one;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return atoi(x->pid) - atoi(y->pid);
}

static int find_processes(const struct doctor *d, struct processes *p)
{
	DIR *dir = opendir(d->proc);
	struct dirent *e;

	if (!dir)
		return -errno;
	while ((e = readdir(dir)))
		if (isdigit((unsigned char) e->d_name[0]))
			look_at_process(d, e->d_name, p);
	closedir(dir);
	if (p->n)
		qsort(p->v, p->n, sizeof *p->v, by_pid);
	return 0;
}

/* The version that an installed program gives; NULL when it gives none. */
static char *program_version(const char *path)
{
	const char *argv[] = { path, "--version", NULL };
	_cleanup_free_ char *text = doctor_run(argv, 5000);
	const char *at = text ? strstr(text, "version ") : NULL;

	return at ? xstrndup(at + 8, strcspn(at + 8, " \n")) : NULL;
}

/* Where programs are installed: root's folders, so that what is run from there is root's as well. */
static const char *const folders[] = { "/usr/bin", "/usr/local/bin", "/usr/libexec" };
#define N_FOLDERS (sizeof folders / sizeof folders[0])

static char *find_binary(const struct doctor *d)
{
	_cleanup_free_ char *full = xprintf("qemu-system-%s", d->machine);
	const char *names[] = { full, "qemu-kvm" };

	for (size_t i = 0; i < N_FOLDERS * 2; i++) {
		char *path = xprintf("%s/%s", folders[i / 2], names[i % 2]);

		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

static void look_at_binary(struct doctor *d)
{
	static const char lost[] = "this host runs no guests of its own kind";
	_cleanup_free_ char *path = find_binary(d), *raw = path ? program_version(path) : NULL, *version = raw ? text_safe(raw) : NULL;

	if (!path)
		doctor_add(d, "qemu-binary", DOCTOR_MISSING, 0, "installed QEMU", lost, "install QEMU for this architecture", "none for %s", d->machine);
	else if (!version)
		doctor_add(d, "qemu-binary", DOCTOR_UNKNOWN, 0, "installed QEMU", lost, NULL, "%s does not tell its version", path);
	else
		doctor_add(d, "qemu-binary", DOCTOR_OK, 0, "installed QEMU", lost, NULL, "%s (%s)", version, path);
}

/* The version of the installed program that a process runs; NULL when it runs another file. */
static char *running_version(const struct process *p)
{
	for (size_t i = 0; i < N_FOLDERS; i++) {
		_cleanup_free_ char *path = xprintf("%s/%s", folders[i], p->base);
		struct stat st;

		if (p->ino && stat(path, &st) == 0 && st.st_dev == p->dev && st.st_ino == p->ino)
			return program_version(path);
	}
	return NULL;
}

/* One of a few versions and how many processes run it. */
struct version {
	char *text;       /* NULL: not known */
	const char *base; /* of the program */
	ino_t ino;
	size_t n;
};

static size_t count_versions(const struct processes *p, struct version *v)
{
	size_t n = 0, k;

	for (size_t i = 0; i < p->n; i++) {
		for (k = 0; k < n && v[k].ino != p->v[i].ino; k++)
			;
		if (k == n)
			v[n++] = (struct version) { running_version(&p->v[i]), p->v[i].base, p->v[i].ino, 0 };
		v[k].n++;
	}
	return n;
}

static void look_at_running(struct doctor *d, const struct processes *p)
{
	struct version *v = xcalloc(p->n, sizeof *v);
	size_t n = count_versions(p, v);
	char *text = xstrdup("");
	bool known = true;

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *one = xprintf("%s %s", v[i].base, v[i].text ? v[i].text : "of unknown version, no file installed here");
		_cleanup_free_ char *safe = text_safe(one);
		char *longer = xprintf("%s%s%s (%zu running)", text, *text ? ", " : "", safe, v[i].n);

		known &= v[i].text != NULL;
		free(v[i].text);
		free(text);
		text = longer;
	}
	if (n)
		doctor_add(d, "qemu-running", known ? DOCTOR_OK : DOCTOR_UNKNOWN, 0, "running QEMU",
			   "what is known about a QEMU version may not hold for these",
			   "if QEMU was upgraded meanwhile: a guest keeps the old program until it is started anew", "%s", text);
	free(text);
	free(v);
}

/* "4711 (guest1, in another pid namespace)", of those that libvirt here does not know. */
static char *unknown_ones(const struct processes *p, size_t *ret_n)
{
	char *text = xstrdup("");

	*ret_n = 0;
	for (size_t i = 0; i < p->n; i++) {
		_cleanup_free_ char *name = NULL;
		char *longer;

		if (p->v[i].known || ++*ret_n > 8)
			continue;
		name = text_safe(p->v[i].name);
		longer = xprintf("%s%s%s (%s%s)", text, *text ? ", " : "", p->v[i].pid, name,
				 p->v[i].other_pids ? ", in another pid namespace" : p->v[i].own_mounts ? ", in a mount namespace of its own" : "");
		free(text);
		text = longer;
	}
	return text;
}

static void look_at_guests(struct doctor *d, const struct processes *p)
{
	static const char lost[] = "migrations of these guests pass unseen";
	static const char remedy[] = "name the libvirt that runs them in Uris= of rollbackd.conf (in a container: its socket, qemu+unix:///system?socket=PATH); "
				     "a QEMU that no libvirt runs cannot be watched";
	size_t n;
	_cleanup_free_ char *text = unknown_ones(p, &n);

	if (p->n == 0)
		doctor_add(d, "qemu-known", DOCTOR_OK, DOCTOR_MATTERS, "guests libvirt knows", lost, remedy, "no QEMU runs that can be seen from here");
	else if (n == 0)
		doctor_add(d, "qemu-known", DOCTOR_OK, DOCTOR_MATTERS, "guests libvirt knows", lost, remedy, "all %zu running", p->n);
	else if (!d->libvirt_answered || d->libvirt_failed)
		doctor_add(d, "qemu-known", DOCTOR_UNKNOWN, DOCTOR_MATTERS, "guests libvirt knows", lost, remedy,
			   "%zu of %zu running are not known to a libvirt that answered: %s", n, p->n, text);
	else
		doctor_add(d, "qemu-known", DOCTOR_MISSING, DOCTOR_MATTERS, "guests libvirt knows", lost, remedy,
			   "%zu of %zu running are not known to libvirt: %s", n, p->n, text);
}

static void look_at_view(struct doctor *d, const struct processes *p)
{
	static const char lost[] = "QEMU processes outside of it do not show, and neither do their backing and their end";
	static const char remedy[] = "run on the host itself, in its pid namespace, as root";
	_cleanup_free_ char *mine = link_text(d->proc, "self", "ns/pid");

	if (!mine)
		doctor_add(d, "pid-namespace", DOCTOR_UNKNOWN, 0, "view of processes", lost, remedy, "the pid namespace cannot be read");
	else if (strcmp(mine, INIT_PID_NAMESPACE) != 0)
		doctor_add(d, "pid-namespace", DOCTOR_MISSING, 0, "view of processes", lost, remedy, "this is a pid namespace of its own");
	else if (p->unreadable)
		doctor_add(d, "pid-namespace", DOCTOR_MISSING, 0, "view of processes", lost, remedy, "%zu process%s cannot be read (hidepid?)", p->unreadable,
			   p->unreadable == 1 ? "" : "es");
	else
		doctor_add(d, "pid-namespace", DOCTOR_OK, 0, "view of processes", lost, remedy, "the host's pid namespace");
}

void doctor_qemu(struct doctor *d)
{
	struct processes p = { 0 };
	int r = find_processes(d, &p);

	if (r < 0)
		doctor_add(d, "pid-namespace", DOCTOR_UNKNOWN, 0, "view of processes", "nothing is known about running guests", NULL, "%s", strerror(-r));
	else
		look_at_view(d, &p);
	look_at_binary(d);
	look_at_running(d, &p);
	if (r == 0)
		look_at_guests(d, &p);
	for (size_t i = 0; i < p.n; i++) {
		free(p.v[i].pid);
		free(p.v[i].name);
		free(p.v[i].base);
		free(p.v[i].uuid);
	}
	free(p.v);
}
