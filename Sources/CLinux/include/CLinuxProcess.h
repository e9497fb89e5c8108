// OperationEngine's process: its forks and its threads.
#ifndef CLINUX_PROCESS_H
#define CLINUX_PROCESS_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "CLinuxTrace.h"

/// From now on a child that fork(2) makes is marked as one that lost the engine's threads. pthread_atfork(3).
/// `in_child` is called there, on its only thread. To be called once.
void clinux_watch_forks(void (*in_child)(void));

/// Whether this process is such a child. Written before the child runs anything else, hence a plain load.
static inline bool clinux_is_forked(void) { return clinux_has_mark(clinux_mark_forked); }

/// A thread that is joined. Swift sees another type behind pthread_t with each C library.
typedef struct {
    pthread_t id;
} clinux_thread;

/// Starts a thread, which is to be joined, or is detached if `thread` is NULL. It blocks every signal that is not sent for
/// something the thread itself does: handlers, signalfd(2) and sigwait(3) of the application get them on its own threads.
/// Returns 0 or an errno value. pthread_create(3).
int clinux_start_thread(clinux_thread *thread, void *(*body)(void *), void *argument);

/// Waits until the thread has ended. pthread_join(3).
void clinux_join_thread(clinux_thread thread);

/// A number that no other thread has while the calling thread lives, and that fork(2) keeps. pthread_self(3).
uintptr_t clinux_thread_self(void);

/// Makes writes of the calling thread to a pipe without readers fail instead of ending the process. pthread_sigmask(3).
void clinux_block_sigpipe(void);

#endif
