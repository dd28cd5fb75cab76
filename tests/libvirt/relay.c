/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "relay.h"

#define MAX_LINKS 8
/* Small, so that what is stalled is stalled: loopback's own buffers would swallow megabytes. */
#define BUFFER (64 * 1024)
#define TICK_MS 5

struct half {
	int from, to;
	size_t start, end; /* of what has been read and not yet written */
	bool closed;	   /* nothing more will be read */
	char data[BUFFER];
};

struct link {
	bool used;
	struct half halves[2]; /* from source to destination, and back */
};

struct relay {
	int listener;
	uint16_t port;
	pthread_t thread;
	atomic_bool stop, stalled, cut;
	atomic_llong limit;
	int64_t budget, filled_ns; /* of the limit: bytes that may pass now, and when that was reckoned */
	struct link links[MAX_LINKS];
};

static struct sockaddr_in address(const char *host, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, host, &a.sin_addr);
	return a;
}

static void link_close(struct link *link)
{
	if (!link->used)
		return;
	close(link->halves[0].from);
	close(link->halves[0].to);
	link->used = false;
}

static void accept_one(struct relay *r)
{
	struct sockaddr_in to = address("127.0.0.2", r->port);
	int size = BUFFER, in = accept4(r->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), out;
	struct link *link = NULL;

	if (in < 0)
		return;
	out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	for (size_t i = 0; i < MAX_LINKS && !link; i++)
		if (!r->links[i].used)
			link = &r->links[i];
	if (out < 0 || !link || connect(out, (struct sockaddr *) &to, sizeof(to)) < 0) {
		close(in);
		if (out >= 0)
			close(out);
		return;
	}
	setsockopt(out, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	link->used = true;
	for (int i = 0; i < 2; i++) {
		struct half *half = &link->halves[i];

		half->from = i == 0 ? in : out;
		half->to = i == 0 ? out : in;
		half->start = half->end = 0;
		half->closed = false;
	}
}

/* Bytes that may pass now, at most `want`. */
static size_t allowed(struct relay *r, size_t want)
{
	int64_t limit = atomic_load(&r->limit), now_ns;
	struct timespec now;

	if (limit == 0)
		return want;
	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
	r->budget += (now_ns - r->filled_ns) / 1000 * limit / 1000000;
	r->filled_ns = now_ns;
	/* What was not used is not saved up for more than a few ticks. */
	if (r->budget > limit / 50)
		r->budget = limit / 50;
	return r->budget < (int64_t) want ? (size_t) r->budget : want;
}

/* Move what can be moved. False if the link is broken. */
static bool pump(struct relay *r, struct half *half, bool limited)
{
	if (half->start == half->end && !half->closed) {
		size_t want = limited ? allowed(r, BUFFER) : BUFFER;
		ssize_t n = want > 0 ? recv(half->from, half->data, want, MSG_DONTWAIT) : -1;

		if (n == 0) {
			half->closed = true;
			shutdown(half->to, SHUT_WR);
		} else if (n < 0 && want > 0 && errno != EAGAIN && errno != EINTR) {
			return false;
		}
		half->start = 0;
		half->end = n > 0 ? (size_t) n : 0;
		if (limited)
			r->budget -= (int64_t) half->end;
	}
	if (half->start < half->end) {
		ssize_t n = send(half->to, half->data + half->start, half->end - half->start, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n > 0)
			half->start += (size_t) n;
	}
	return true;
}

static void wait_ready(struct relay *r)
{
	struct pollfd fds[1 + 2 * MAX_LINKS] = { { .fd = r->listener, .events = POLLIN } };
	nfds_t n = 1;
	bool held = atomic_load(&r->stalled);

	for (size_t i = 0; i < MAX_LINKS && !held; i++)
		for (int side = 0; side < 2 && r->links[i].used; side++) {
			struct half *half = &r->links[i].halves[side];

			if (half->start < half->end)
				fds[n++] = (struct pollfd) { .fd = half->to, .events = POLLOUT };
			else if (!half->closed && (side == 1 || allowed(r, BUFFER) > 0))
				fds[n++] = (struct pollfd) { .fd = half->from, .events = POLLIN };
		}
	poll(fds, n, TICK_MS);
	if (fds[0].revents)
		accept_one(r);
}

static void *relay_run(void *opaque)
{
	struct relay *r = opaque;

	while (!atomic_load(&r->stop)) {
		bool cut = atomic_exchange(&r->cut, false);

		wait_ready(r);
		for (size_t i = 0; i < MAX_LINKS; i++) {
			struct link *link = &r->links[i];

			if (!link->used)
				continue;
			if (cut || (!atomic_load(&r->stalled) &&
				    (!pump(r, &link->halves[0], true) || !pump(r, &link->halves[1], false) ||
				     (link->halves[0].closed && link->halves[1].closed))))
				link_close(link);
		}
	}
	for (size_t i = 0; i < MAX_LINKS; i++)
		link_close(&r->links[i]);
	return NULL;
}

struct relay *relay_new(uint16_t port)
{
	struct relay *r = calloc(1, sizeof(*r));
	struct sockaddr_in at = address("127.0.0.1", port);
	int one = 1, size = BUFFER;

	if (!r)
		return NULL;
	r->port = port;
	r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(r->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(r->listener, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (r->listener < 0 || bind(r->listener, (struct sockaddr *) &at, sizeof(at)) < 0 || listen(r->listener, 4) < 0 ||
	    pthread_create(&r->thread, NULL, relay_run, r) != 0) {
		if (r->listener >= 0)
			close(r->listener);
		free(r);
		return NULL;
	}
	return r;
}

struct relay *relay_free(struct relay *r)
{
	if (!r)
		return NULL;
	atomic_store(&r->stop, true);
	pthread_join(r->thread, NULL);
	close(r->listener);
	free(r);
	return NULL;
}

void relay_limit(struct relay *r, int64_t bytes_s)
{
	atomic_store(&r->limit, bytes_s);
}

void relay_stall(struct relay *r, bool stalled)
{
	atomic_store(&r->stalled, stalled);
}

void relay_cut(struct relay *r)
{
	atomic_store(&r->cut, true);
}
