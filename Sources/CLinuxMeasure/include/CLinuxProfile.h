// Sampling of stacks within the process by SIGPROF: timers of threads' CPU time, and the handler. For OpBenchRunner's
// SignalSampler; a process has at most one at a time. And marks that external tools recognise by name.
#ifndef CLINUX_PROFILE_H
#define CLINUX_PROFILE_H
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A range of executable addresses.
struct clinux_profile_code {
    uint64_t start, end;
    /// Whether its functions keep frame pointers; other functions use the register freely.
    uint64_t has_frames;
};

/// The data that the handler reads and writes. To be set up before `clinux_profile_open` and left alone until
/// `clinux_profile_close`, except for atomic reads of the counts.
struct clinux_profile {
    /// Zeroed memory. A sample consists of these words: its time by CLOCK_MONOTONIC in ns, never 0 and written last;
    /// its weight in ns of CPU time; thread | number of addresses << 32; the thread's name in two words; the addresses,
    /// innermost first: the next instruction, then the return addresses.
    uint64_t *words;
    uint64_t capacity;
    /// May exceed `capacity`: samples that did not fit were lost.
    uint64_t used;
    uint64_t lost_samples, lost_weight;
    /// In ascending order, without overlaps.
    const struct clinux_profile_code *code;
    size_t code_count;
    int64_t period_ns;
    /// The return address of threads' start functions, in the C library; 0 if unknown.
    uint64_t thread_start;
    /// The number of running handlers.
    int running;
    int is_open;
};

enum { clinux_profile_header = 5, clinux_profile_most_frames = 512 };

/// Installs the handler. Returns 0 or an errno value: EBUSY if SIGPROF has one already, ENOTSUP for an unsupported
/// processor, EPERM or ENOSYS if the process may not read its own memory by process_vm_readv(2).
int clinux_profile_open(struct clinux_profile *profile);

/// Reads data that handlers may be writing.
static inline uint64_t clinux_profile_load(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

/// Ignores the signal from now on, and returns when no handler runs any more. The timers must be deleted first.
void clinux_profile_close(void);

/// Starts a timer that sends a thread of this process SIGPROF whenever it has used `profile->period_ns` of CPU time,
/// first after `first_ns`. timer_create(2) with SIGEV_THREAD_ID. Returns the kernel's number of the timer, or a
/// negative errno value.
int clinux_profile_start_timer(const struct clinux_profile *profile, pid_t thread, int64_t first_ns);

void clinux_profile_delete_timer(int timer);

/// Whether most functions in that readable code begin by setting up a frame. In libraries built with frame pointers,
/// functions that do are at least 2.6 times as many as those that do not, in others at most 1.2 times.
int clinux_profile_has_frames(uint64_t start, uint64_t end);

/// Prepares `clinux_profile_backtrace`, without any signal. Not while sampling is open.
void clinux_profile_use(struct clinux_profile *profile);

/// The function that jemalloc calls for the stack of an allocation, by mallctl(3) `experimental.hooks.prof_backtrace`:
/// an address in jemalloc, then the return addresses.
void clinux_profile_backtrace(void **addresses, unsigned *length, unsigned most);

/// Runs `body(context, returns_to)` on a new thread that takes no signals. `returns_to` is the return address of
/// threads' start functions. pthread_create(3). Returns 0 or an errno value.
int clinux_profile_start_thread(
    void (*body)(void *context, uint64_t returns_to), void *context, pthread_t *thread);

/// Do nothing. callgrind recognises these names: it resets its counts when the first is entered, and writes them when
/// the second is entered; see OpBenchRunner's Callgrind.
void clinux_counting_begins(void);
void clinux_counting_ends(void);
#endif
