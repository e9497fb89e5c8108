// Preloaded into opbench by test_long_runs.py: makes samples of some cells fail when they create their first thread.
// The last digit of the cell's parameter `items` selects the failure:
//
//   0, 1  nothing                                  5  allocates until its limit of memory, then ends as out of memory
//   2     aborts                                   7  prints endlessly, until that fails, then aborts
//   3     reads from an invalid address            8  starts a process that sleeps, and continues
//   4     computes endlessly                       9  stops itself
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int fault;

__attribute__((constructor)) static void begin(int argc, char **argv) {
    static char order[1 << 16];
    if (argc != 2 || strcmp(argv[1], "__sample") != 0) return;
    // The memory that is read later stays in place.
    if (pread(STDIN_FILENO, order, sizeof order - 1, 0) <= 0) return;
    // The parameters are JSON within JSON.
    static const char name[] = "\\\"items\\\":";
    const char *items = strstr(order, name);
    if (items) fault = atoi(items + sizeof name - 1) % 10;
}

static void leak(void) {
    struct rlimit limit = {1UL << 30, 1UL << 30};
    setrlimit(RLIMIT_AS, &limit);
    void *volatile memory;
    while ((memory = malloc(1 << 20))) memset(memory, 1, 1 << 20);
    static const char words[] = "out of memory\n";
    ssize_t written = write(STDERR_FILENO, words, sizeof words - 1);
    (void)written;
    abort();
}

static void print_without_end(void) {
    static char lines[1 << 14];
    for (size_t i = 0; i < sizeof lines; i += 16) memcpy(lines + i, "and so on so on\n", 16);
    while (write(STDERR_FILENO, lines, sizeof lines) > 0) {}
    abort();
}

static void go_wrong(void) {
    int what = fault;
    fault = 0;
    switch (what) {
    case 2: abort();
    case 3: *(volatile int *)8 = 1; break;
    case 4: for (volatile int i = 0;; i++) {}
    case 5: leak(); break;
    case 7: print_without_end(); break;
    case 8:
        if (fork() == 0) {
            sleep(100000);
            _exit(0);
        }
        break;
    case 9: raise(SIGSTOP); break;
    default: break;
    }
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    if (fault) go_wrong();
    return REAL(pthread_create)(thread, attributes, body, argument);
}
