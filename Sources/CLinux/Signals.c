#include "CLinuxSignals.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>

static uint64_t noted;
static sem_t notes;

static void prepare(void) { sem_init(&notes, 0, 0); }

static void note(int signal) {
    int before = errno;
    __atomic_fetch_or(&noted, (uint64_t)1 << (signal - 1), __ATOMIC_RELEASE);
    sem_post(&notes);
    errno = before;
}

static void prepare_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}

int clinux_note_signal(int signal) {
    if (signal < 1 || signal > 64) return EINVAL;
    prepare_once();
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, NULL) == 0 ? 0 : errno;
}

uint64_t clinux_await_signals(void) {
    prepare_once();
    while (1) {
        uint64_t all = __atomic_exchange_n(&noted, 0, __ATOMIC_ACQUIRE);
        if (all) return all;
        sem_wait(&notes);
    }
}
