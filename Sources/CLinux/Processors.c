#define _GNU_SOURCE
#include "CLinuxProcessors.h"
#include <errno.h>
#include <sched.h>
#include <unistd.h>

// A kernel that knows more processors than the set has room for answers EINVAL. `cpu_set_t` has room for 1,024.
enum { most_processors = 1 << 16 };

/// The processors of a thread; 0 for the calling one. To be freed by CPU_FREE. NULL, with errno, if they are unknown.
static cpu_set_t *processors_of(pid_t thread, size_t *size) {
    for (int room = CPU_SETSIZE; room <= most_processors; room *= 2) {
        cpu_set_t *set = CPU_ALLOC(room);
        if (!set) return NULL;
        *size = CPU_ALLOC_SIZE(room);
        CPU_ZERO_S(*size, set);
        if (sched_getaffinity(thread, *size, set) == 0) return set;
        int failure = errno;
        CPU_FREE(set);
        errno = failure;
        if (failure != EINVAL) return NULL;
    }
    return NULL;
}

int clinux_allowed_processors(void) {
    size_t size;
    cpu_set_t *set = processors_of(getpid(), &size);
    if (!set) return 0;
    int count = CPU_COUNT_S(size, set);
    CPU_FREE(set);
    return count;
}

int clinux_list_allowed_processors(int *processors, int capacity) {
    size_t size;
    cpu_set_t *set = processors_of(getpid(), &size);
    if (!set) return -errno;
    int count = 0;
    for (int processor = 0; (size_t)processor < size * 8; processor++) {
        if (!CPU_ISSET_S(processor, size, set)) continue;
        if (count < capacity) processors[count] = processor;
        count++;
    }
    CPU_FREE(set);
    return count;
}

int clinux_use_main_threads_processors(void) {
    size_t size;
    cpu_set_t *set = processors_of(getpid(), &size);
    if (!set) return errno;
    int failure = sched_setaffinity(0, size, set) == 0 ? 0 : errno;
    CPU_FREE(set);
    return failure;
}

int clinux_stay_on_processors(const int *processors, int count) {
    cpu_set_t *wanted = CPU_ALLOC(most_processors);
    if (!wanted) return ENOMEM;
    size_t size = CPU_ALLOC_SIZE(most_processors);
    CPU_ZERO_S(size, wanted);
    int failure = 0;
    for (int i = 0; i < count; i++) {
        if (processors[i] < 0 || processors[i] >= most_processors) failure = EINVAL;
        else CPU_SET_S(processors[i], size, wanted);
    }
    if (!failure && sched_setaffinity(0, size, wanted) != 0) failure = errno;
    // The kernel grants a part without a word.
    size_t size_granted;
    cpu_set_t *granted = failure ? NULL : processors_of(0, &size_granted);
    if (!failure && !granted) failure = errno;
    if (granted) {
        if (CPU_COUNT_S(size_granted, granted) != CPU_COUNT_S(size, wanted)) failure = EINVAL;
        CPU_FREE(granted);
    }
    CPU_FREE(wanted);
    return failure;
}

void clinux_stay_on_processor(void) {
    int processor = sched_getcpu();
    if (processor >= 0) clinux_stay_on_processors(&processor, 1);
}
