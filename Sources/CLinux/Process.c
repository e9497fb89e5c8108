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

static void block_signals(sigset_t *before) {
    static const int own[] = {SIGILL, SIGTRAP, SIGFPE, SIGBUS, SIGSEGV, SIGSYS, SIGPIPE, SIGPROF};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, before);
}

int clinux_start_thread(clinux_thread *thread, void *(*body)(void *), void *argument) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (!thread) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
#ifndef __GLIBC__
    // Musl's threads have 128 KiB; glibc's have RLIMIT_STACK, which is this as a rule.
    pthread_attr_setstacksize(&attributes, 8 << 20);
#endif
    // A new thread has the signal mask of its creator.
    sigset_t before;
    block_signals(&before);
    pthread_t detached;
    int failure = pthread_create(thread ? &thread->id : &detached, &attributes, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failure;
}

void clinux_join_thread(clinux_thread thread) { pthread_join(thread.id, NULL); }
uintptr_t clinux_thread_self(void) { return (uintptr_t)pthread_self(); }

void clinux_block_sigpipe(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}
