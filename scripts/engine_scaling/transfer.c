// How long a cache line takes from one processor to another: transfer CPU CPU. Prints nanoseconds, one way: the median of
// 31 series of 20,000 round trips.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { trips = 20000, series = 31 };

static _Alignas(128) atomic_uint ball;

static void stay_on(int processor) {
    cpu_set_t *only = CPU_ALLOC(8192);
    CPU_ZERO_S(CPU_ALLOC_SIZE(8192), only);
    CPU_SET_S(processor, CPU_ALLOC_SIZE(8192), only);
    if (sched_setaffinity(0, CPU_ALLOC_SIZE(8192), only) != 0) {
        perror("transfer");
        exit(64);
    }
}

static void *return_ball(void *processor) {
    stay_on(*(int *)processor);
    for (unsigned i = 0; i < trips * series; i++) {
        while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * i + 1) {}
        atomic_store_explicit(&ball, 2 * i + 2, memory_order_release);
    }
    return NULL;
}

static int compare(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: transfer CPU CPU\n");
        return 64;
    }
    int here = atoi(words[1]), there = atoi(words[2]);
    pthread_t other;
    if (pthread_create(&other, NULL, return_ball, &there) != 0) return 1;
    stay_on(here);
    double times[series];
    unsigned i = 0;
    for (int s = 0; s < series; s++) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (int trip = 0; trip < trips; trip++, i++) {
            atomic_store_explicit(&ball, 2 * i + 1, memory_order_release);
            while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * i + 2) {}
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        times[s] = ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) / (2.0 * trips);
    }
    pthread_join(other, NULL);
    qsort(times, series, sizeof *times, compare);
    printf("%.1f %.1f %.1f\n", times[series / 2], times[series / 10], times[series - 1 - series / 10]);
    return 0;
}
