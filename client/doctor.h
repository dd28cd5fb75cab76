/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_DOCTOR_H
#define ROLLBACKCTL_DOCTOR_H

/* What rollbackd needs of a host, one finding a right or capability. Everything here only looks: no guest is touched, no
 * setting changed, nothing mounted or loaded. Roots are parameters, so that tests (and containers) can show other trees. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ctl.h"

enum doctor_state { DOCTOR_OK, DOCTOR_MISSING, DOCTOR_UNKNOWN, DOCTOR_STATE_MAX };

struct finding {
	const char *group, *id;
	char *subject;   /* "" or what exactly: a URI, ... */
	char *title;
	enum doctor_state state;
	bool matters;    /* missing, it makes the exit code 1: rollbackd would not see or not record migrations rightly */
	char *found;     /* what was seen */
	const char *lost, *remedy; /* without it; NULL where nothing is */
};

struct doctor {
	struct ctl *c;
	const char *proc, *sys, *dev; /* "/proc", "/sys", "/dev" */
	uint64_t page_size;           /* bytes */
	const char *machine;          /* as uname -m says */
	char **uris;                  /* NULL-terminated */
	struct finding *findings;
	size_t n;
	char **known_uuids;           /* active domains of every libvirt that answered */
	size_t n_known;
	bool libvirt_answered, libvirt_failed;
	const char *group;            /* of the findings that are added now */
};

/* Adds a finding of the current group; found is a format. lost and remedy: string constants. */
#define DOCTOR_MATTERS (1u << 0)
struct finding *doctor_add(struct doctor *d, const char *id, enum doctor_state state, unsigned flags, const char *title, const char *lost,
			   const char *remedy, const char *found, ...) __attribute__((format(printf, 8, 9)));
void doctor_done(struct doctor *d);

/* The groups. Each adds its findings. */
void doctor_bus(struct doctor *d);
void doctor_libvirt(struct doctor *d);
void doctor_rights(struct doctor *d);
void doctor_kvm(struct doctor *d);
void doctor_tracing(struct doctor *d);
void doctor_security(struct doctor *d);
void doctor_memory(struct doctor *d);
void doctor_qemu(struct doctor *d);

/* doctor-read.c: a file below a root, without its last newline, to be freed; at most limit bytes. NULL with errno set. */
char *doctor_read(size_t limit, const char *root, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define DOCTOR_SMALL 65536
bool doctor_exists(const char *root, const char *path);
/* Is word one of the words of text, between blanks? */
bool doctor_has_word(const char *text, const char *word);
/* The word in brackets of "always [madvise] never", to be freed; NULL when there is none. */
char *doctor_chosen(const char *text);
/* Number behind "key" at the begin of a line, e.g. "CapEff:" in base 16. */
bool doctor_number(const char *text, const char *key, int base, uint64_t *ret_);

/* doctor-child.c: runs work in a child that is killed when it has not ended after timeout_ms, and gives what it wrote to fd
 * (at most DOCTOR_SMALL bytes, to be freed). NULL with errno set; ETIMEDOUT when it took too long. */
char *doctor_in_child(void (*work)(int fd, void *userdata), void *userdata, int timeout_ms);
/* The standard output of a program. */
char *doctor_run(const char *const *argv, int timeout_ms);

/* doctor-config.c: Uris= of the configuration file and its .d folder, or the default. NULL-terminated, freed by
 * doctor_free_words(). NULL: the file (named, or found to be there) cannot be read, errno says why. */
char **doctor_config_uris(const char *file);
void doctor_free_words(char **words);

#endif
