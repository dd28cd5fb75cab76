/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "doctor.h"
#include "rollbackd/names.h"

/* Only as much of the file's format as doctor needs; whether it is right as a whole is for `rollbackd --check-config`. */

void doctor_free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

static char *trim(char *s)
{
	char *end;

	s += strspn(s, " \t\r");
	end = s + strlen(s);
	while (end > s && strchr(" \t\r", end[-1]))
		*--end = 0;
	return s;
}

static char **split(const char *value)
{
	char **words = xcalloc(strlen(value) + 2, sizeof *words);
	size_t n = 0;

	while (*value) {
		size_t len = strcspn(value, ";");
		char *word = xstrndup(value, len), *bare = xstrdup(trim(word));

		if (*bare)
			words[n++] = bare;
		else
			free(bare);
		free(word);
		value += len + (value[len] == ';');
	}
	return words;
}

/* Replaces *uris by what the file says, if it says anything. */
static void read_text(char *text, char ***uris)
{
	bool in_libvirt = false;
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *s = trim(line), *equals = strchr(s, '=');

		if (*s == '[')
			in_libvirt = strcmp(s, "[Libvirt]") == 0;
		if (!in_libvirt || *s == '#' || !equals)
			continue;
		*equals = 0;
		if (strcmp(trim(s), "Uris") != 0)
			continue;
		doctor_free_words(*uris);
		*uris = split(trim(equals + 1));
	}
}

static int is_conf(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return e->d_name[0] != '.' && n > 5 && strcmp(e->d_name + n - 5, ".conf") == 0;
}

/* In order of name, byte by byte, whatever the locale: as the daemon reads them. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_folder(const char *file, char ***uris)
{
	_cleanup_free_ char *folder = xprintf("%s.d", file);
	struct dirent **entries;
	int n = scandir(folder, &entries, is_conf, by_name);

	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *text = doctor_read(DOCTOR_SMALL, folder, "%s", entries[i]->d_name);

		if (text)
			read_text(text, uris);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

char **doctor_config_uris(const char *file)
{
	const char *name = file ? file : RBD_CONFIG_FILE;
	_cleanup_free_ char *text = doctor_read(DOCTOR_SMALL, *name == '/' ? "" : ".", "%s", name);
	char **uris = NULL;

	if (!text && (file || errno != ENOENT))
		return NULL;
	if (text)
		read_text(text, &uris);
	read_folder(name, &uris);
	return uris && *uris ? uris : (doctor_free_words(uris), split("qemu:///system"));
}
