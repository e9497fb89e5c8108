#define _GNU_SOURCE
#include "CLinuxProcess.h"
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static void (*forked)(void);

static void mark_child(void) {
    __atomic_fetch_or(&clinux_marks, clinux_mark_forked, __ATOMIC_RELAXED);
    forked();
}

void clinux_watch_forks(void (*in_child)(void)) {
    forked = in_child;
    pthread_atfork(NULL, NULL, mark_child);
}

void clinux_block_signals(sigset_t *before) {
    static const int own[] = {SIGILL, SIGTRAP, SIGFPE, SIGBUS, SIGSEGV, SIGSYS, SIGPIPE, SIGPROF};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, before);
}
