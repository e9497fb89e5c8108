// Preloaded into opbench by prove-long-runs: samples of some cells go wrong when they make their first thread. What goes
// wrong is the last digit of the cell's parameter `items`:
//
//   0, 1  nothing                                  5  allocates until its limit of memory, then ends as out of memory
//   2     aborts                                   6  fills the disk at FAULT_DISK, then ends by exit code 74
//   3     reads from nowhere                       7  prints without end, until that fails, then aborts
//   4     computes without end                     8  starts a process that sleeps, and goes on
//                                                  9  stops itself
//
// FAKE_SAMPLE=F  instead of the samples' processes the program F is executed: samples that take no time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int fault;

__attribute__((constructor)) static void begin(int argc, char **argv) {
    static char order[1 << 16];
    if (argc != 2 || strcmp(argv[1], "__sample") != 0) return;
    // The place from which it is read later stays.
    if (pread(STDIN_FILENO, order, sizeof order - 1, 0) <= 0) return;
    static const char name[] = "\"items\":{\"integer\":{\"_0\":";
    const char *items = strstr(order, name);
    if (items) fault = atoi(items + sizeof name - 1) % 10;
}

static void leak(void) {
    struct rlimit limit = {1UL << 30, 1UL << 30};
    setrlimit(RLIMIT_AS, &limit);
    void *memory;
    while ((memory = malloc(1 << 20))) memset(memory, 1, 1 << 20);
    static const char words[] = "out of memory\n";
    ssize_t written = write(STDERR_FILENO, words, sizeof words - 1);
    (void)written;
    abort();
}

static void fill_disk(void) {
    static char block[1 << 16];
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", getenv("FAULT_DISK"), (int)getpid());
    // A disk that is no small one is not filled.
    struct rlimit limit = {64UL << 20, 64UL << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    unlink(path);
    while (file >= 0 && write(file, block, sizeof block) > 0) {}
    perror(path);
    _exit(74);
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
    case 6: fill_disk(); break;
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

int posix_spawn(
    pid_t *process, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
    char *const *arguments, char *const *environment) {
    const char *fake = getenv("FAKE_SAMPLE");
    int is_sample = fake && arguments[0] && arguments[1] && strcmp(arguments[1], "__sample") == 0;
    return REAL(posix_spawn)(process, is_sample ? fake : path, actions, attributes, arguments, environment);
}
