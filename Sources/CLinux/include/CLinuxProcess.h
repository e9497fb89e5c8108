// OperationEngine's process: forks, and the signals that its threads take.
#ifndef CLINUX_PROCESS_H
#define CLINUX_PROCESS_H
#include <signal.h>
#include <stdbool.h>
#include "CLinuxTrace.h"

/// From now on a child that fork(2) makes is marked as one that lost the engine's threads. pthread_atfork(3).
/// `in_child` is called there, on its only thread. To be called once.
void clinux_watch_forks(void (*in_child)(void));

/// Whether this process is such a child. Written before the child runs anything else, hence a plain load.
static inline bool clinux_is_forked(void) { return clinux_has_mark(clinux_mark_forked); }

/// Blocks, for the calling thread and those it creates, every signal that is not sent for something the thread itself
/// does: handlers, signalfd(2) and sigwait(3) of the application get them on its own threads. `before` is what was
/// blocked so far. pthread_sigmask(3).
void clinux_block_signals(sigset_t *before);

#endif
