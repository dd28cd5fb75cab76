/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs a fuzz target once for each file of the folders given, without libFuzzer: the corpus as a plain test, with any
 * compiler. Fails when there is no file at all. */

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "target.h"

#define INPUT_MAX ((size_t) 4 << 20)

static int run_file(const char *path)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	uint8_t *data;
	size_t n;

	if (!f || fstat(fileno(f), &st) < 0 || !S_ISREG(st.st_mode) || (size_t) st.st_size > INPUT_MAX) {
		fprintf(stderr, "%s: cannot be used as input\n", path);
		if (f)
			fclose(f);
		return -EINVAL;
	}
	/* Exactly as long as the file, so that a read beyond its end shows. */
	data = malloc(st.st_size ? (size_t) st.st_size : 1);
	n = data ? fread(data, 1, (size_t) st.st_size, f) : 0;
	fclose(f);
	if (!data)
		return -ENOMEM;
	LLVMFuzzerTestOneInput(data, n);
	free(data);
	return 0;
}

static int run_folder(const char *folder, unsigned *count)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int r = 0;

	if (!d) {
		fprintf(stderr, "%s: %s\n", folder, strerror(errno));
		return -ENOENT;
	}
	while (r == 0 && (e = readdir(d))) {
		char path[4096];

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		r = run_file(path);
		(*count)++;
	}
	closedir(d);
	return r;
}

int main(int argc, char **argv)
{
	unsigned count = 0;

	for (int i = 1; i < argc; i++)
		if (run_folder(argv[i], &count) < 0)
			return 1;
	printf("%u inputs\n", count);
	return count > 0 ? 0 : 1;
}
