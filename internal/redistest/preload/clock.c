// Loaded into a Redis before all else, this gives it a wall clock of its own: the machine's plus what stands
// in a file, in microseconds. Timers stay true, as the monotonic clock does. libfaketime does the same and
// more, but does not start with jemalloc, which asks for the time before libfaketime is ready.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile long long *offset; // in the file; NULL until it is mapped

__attribute__((constructor)) static void map_offset(void) {
	const char *path = getenv("REDISTEST_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	void *at = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED)
		offset = at;
	close(fd);
}

int clock_gettime(clockid_t id, struct timespec *ts) {
	int failed = (int)syscall(SYS_clock_gettime, id, ts);
	if (failed || !offset || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
		return failed;
	long long micros = *offset + ts->tv_nsec / 1000;
	ts->tv_nsec %= 1000;
	ts->tv_sec += micros / 1000000;
	micros %= 1000000;
	if (micros < 0) {
		micros += 1000000;
		ts->tv_sec--;
	}
	ts->tv_nsec += micros * 1000;
	return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone) {
	(void)zone;
	struct timespec ts;
	int failed = clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return failed;
}

time_t time(time_t *out) {
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	if (out)
		*out = ts.tv_sec;
	return ts.tv_sec;
}
