// Counts its own calls in the way that opbench counts those of its samples; built and run by test_calls.py.
//
//   count_calls exact     prints the futex calls and threads of known loops
//   count_calls exit      exits with 7
//   count_calls crash     ends itself with SIGSEGV
//   count_calls hang      prints its process id, and waits to be killed
#define _GNU_SOURCE
#include "CLinuxCalls.h"
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int word;

static void *wake(void *count) {
    for (long i = 0; i < (long)count; i++) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return NULL;
}

int main(int argc, char **argv) {
    const volatile struct clinux_calls *calls = clinux_count_calls();
    if (!calls) {
        puts("not permitted");
        return 0;
    }
    if (argc < 2) return 64;
    if (strcmp(argv[1], "exit") == 0) return 7;
    if (strcmp(argv[1], "crash") == 0) raise(SIGSEGV);
    if (strcmp(argv[1], "hang") == 0) {
        printf("%d\n", getpid());
        fflush(stdout);
        while (1) pause();
    }
    unsigned long before = calls->futex;
    wake((void *)1000);
    unsigned long alone = calls->futex - before;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, wake, (void *)500);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("%lu %lu %lu\n", alone, (unsigned long)calls->futex - before - alone, (unsigned long)calls->threads);
    return 0;
}
