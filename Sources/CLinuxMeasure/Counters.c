#define _GNU_SOURCE
#include "CLinuxCounters.h"
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int clinux_open_counter(uint32_t type, uint64_t event) {
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = type,
        .config = event,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    long counter = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return counter < 0 ? -errno : (int)counter;
}

int clinux_read_counter(int counter, struct clinux_count *count) {
    return read(counter, count, sizeof *count) == (ssize_t)sizeof *count ? 0 : -1;
}
