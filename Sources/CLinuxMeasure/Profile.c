#define _GNU_SOURCE
#include "CLinuxProfile.h"
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// The handler only makes system calls by syscall(2), reads a clock of the vDSO and accesses its own memory: it takes no
// lock and allocates nothing, wherever the thread was interrupted.

static struct clinux_profile *profile;

// MARK: Reading memory

// A frame pointer may be any value, even an unmapped address. process_vm_readv(2) fails where a load would fault.
static bool read_memory(uint64_t address, void *copy, size_t size) {
    struct iovec here = {.iov_base = copy, .iov_len = size}, there = {.iov_base = (void *)address, .iov_len = size};
    return syscall(SYS_process_vm_readv, getpid(), &here, 1L, &there, 1L, 0L) == (long)size;
}

enum { page = 4096, words_of_page = page / 8 };

/// A copied page of the stack.
struct window {
    /// The address up to which the stack can be read without a copy; 0 if unknown.
    uint64_t end;
    uint64_t start;
    uint64_t words[words_of_page];
};

static bool load(struct window *window, uint64_t address, uint64_t *word) {
    if (address % 8 != 0) return false;
    if (window->end) {
        if (address >= window->end) return false;
        *word = *(const uint64_t *)address;
        return true;
    }
    uint64_t start = address & ~(uint64_t)(page - 1);
    if (window->start != start) {
        window->start = 0;
        if (start == 0 || !read_memory(start, window->words, page)) return false;
        window->start = start;
    }
    *word = window->words[(address - start) / 8];
    return true;
}

// MARK: Code

static const struct clinux_profile_code *code_at(uint64_t address) {
    const struct clinux_profile_code *code = profile->code;
    size_t low = 0, high = profile->code_count;
    if (high == 0 || address < code[0].start || address >= code[high - 1].end) return NULL;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (address < code[middle].start) {
            high = middle;
        } else if (address >= code[middle].end) {
            low = middle + 1;
        } else {
            return &code[middle];
        }
    }
    return NULL;
}

static bool follows_call(uint64_t address) {
#if defined(__x86_64__)
    // call is E8 with 4 bytes, or FF /2 with the bytes that its ModRM byte requires.
    uint8_t bytes[7];
    if (!read_memory(address - sizeof bytes, bytes, sizeof bytes)) return false;
    const uint8_t *end = bytes + sizeof bytes;
    if (end[-5] == 0xE8) return true;
    for (int length = 2; length <= 7; length++) {
        if (end[-length] != 0xFF) continue;
        uint8_t operand = end[1 - length], mode = operand >> 6, base = operand & 7;
        if ((operand & 0x38) != 0x10) continue;
        int expected = 2;
        if (mode != 3 && base == 4) expected++;
        if (mode == 1) expected++;
        if (mode == 2 || (mode == 0 && base == 5)) expected += 4;
        if (expected == length) return true;
    }
    return false;
#else
    uint32_t instruction;
    if (!read_memory(address - 4, &instruction, sizeof instruction)) return false;
    // bl, blr, and blraa with its variants.
    return (instruction & 0xFC000000) == 0x94000000 || (instruction & 0xFEFFF800) == 0xD63F0000;
#endif
}

/// The code address in a word, without a signature.
static uint64_t code_address(uint64_t word) {
#if defined(__aarch64__)
    return word & 0x0000FFFFFFFFFFFF;
#else
    return word;
#endif
}

/// Addresses that passed a check. A program returns to only a few hundred, over and over; a system call for each would
/// be most of the work.
struct found {
    uint64_t addresses[1024];
};

static bool is_found(const struct found *found, uint64_t address) {
    return __atomic_load_n(&found->addresses[address * 0x9E3779B97F4A7C15 >> 54], __ATOMIC_RELAXED) == address;
}

static void note(struct found *found, uint64_t address) {
    __atomic_store_n(&found->addresses[address * 0x9E3779B97F4A7C15 >> 54], address, __ATOMIC_RELAXED);
}

/// The code that a call returns to `word`, or NULL if it is not a return address.
static const struct clinux_profile_code *returns_to(uint64_t word) {
    static struct found found;
    uint64_t address = code_address(word);
    if (address < page) return NULL;
    const struct clinux_profile_code *code = code_at(address - 1);
    if (!code || is_found(&found, address)) return code;
    if (!follows_call(address)) return NULL;
    note(&found, address);
    return code;
}

#if defined(__x86_64__)
static uint64_t displaced(uint64_t from, const uint8_t *bytes) {
    int32_t displacement;
    memcpy(&displacement, bytes, sizeof displacement);
    return from + (uint64_t)(int64_t)displacement;
}
#endif

/// Whether the call before `address` is to a function without frame pointers, as far as known: by way of the table of
/// addresses that the linker fills, directly or from a stub.
static bool looks_like_frameless_call(uint64_t address) {
#if defined(__x86_64__)
    uint8_t bytes[6], stub[11];
    uint64_t entry, function;
    if (!read_memory(address - sizeof bytes, bytes, sizeof bytes)) return false;
    if (bytes[0] == 0xFF && bytes[1] == 0x15) {
        entry = displaced(address, bytes + 2);
    } else if (bytes[1] == 0xE8) {
        uint64_t target = displaced(address, bytes + 2);
        static const uint8_t landing[] = {0xF3, 0x0F, 0x1E, 0xFA};
        if (!read_memory(target, stub, sizeof stub)) return false;
        size_t jump = memcmp(stub, landing, sizeof landing) == 0 ? sizeof landing : 0;
        if (stub[jump] == 0xF2) jump++;
        if (stub[jump] != 0xFF || stub[jump + 1] != 0x25) return false;
        entry = displaced(target + jump + 6, stub + jump + 2);
    } else {
        return false;
    }
    if (!read_memory(entry, &function, sizeof function)) return false;
    const struct clinux_profile_code *code = code_at(function);
    return code && !code->has_frames;
#else
    return returns_to(address) != NULL;
#endif
}

static bool calls_frameless(uint64_t address) {
    static struct found found;
    if (is_found(&found, address)) return true;
    if (!looks_like_frameless_call(address)) return false;
    note(&found, address);
    return true;
}

/// Whether no frame has been set up at `ip`, or it has been removed already, so the return address is at the stack's
/// top, or 8 bytes further after `push %rbp`: `offset` is the distance.
static bool is_outside_of_frame(uint64_t ip, uint64_t *offset) {
    *offset = 0;
#if defined(__x86_64__)
    uint8_t bytes[5];
    if (!read_memory(ip - 1, bytes, sizeof bytes)) return false;
    static const uint8_t move[] = {0x55, 0x48, 0x89, 0xE5}, landing[] = {0xF3, 0x0F, 0x1E, 0xFA};
    if (memcmp(bytes, move, sizeof move) == 0) {
        *offset = 8;
        return true;
    }
    // push %rbp; ret; endbr64; the jump of a stub.
    return bytes[1] == 0x55 || bytes[1] == 0xC3 || memcmp(bytes + 1, landing, sizeof landing) == 0
        || (bytes[1] == 0xFF && bytes[2] == 0x25);
#else
    return false;
#endif
}

// MARK: Walking

/// The largest distance between two frames.
static const uint64_t largest_frame = 1 << 20;

/// The range of a search for a return address.
static const uint64_t largest_search = 8192;

struct walk {
    struct window window;
    uint64_t *addresses;
    size_t count;
    /// The lower end of the frames not seen yet.
    uint64_t low;
};

// Swift marks frames of asynchronous functions by bit 60 of the frame pointer that they save; its runtime's Backtracing
// module reads it in the same way.
static uint64_t frame_pointer(uint64_t word) { return word & 0x0FFFFFFFFFFFFFFF; }

static bool is_frame(struct walk *walk, uint64_t frame, uint64_t *caller, uint64_t *address) {
    return frame >= walk->low && frame - walk->low < largest_frame && load(&walk->window, frame, caller)
        && load(&walk->window, frame + 8, address) && returns_to(*address);
}

static bool add(struct walk *walk, uint64_t address) {
    if (walk->count == clinux_profile_most_frames) return false;
    walk->addresses[walk->count++] = code_address(address);
    return true;
}

/// Whether a word on the stack, above `place`, is a saved frame pointer. A `strict` check requires the caller's frame
/// too: the first register that a function saves, and its return address, look like a frame.
static bool is_saved_frame(struct walk *walk, uint64_t place, uint64_t frame, bool strict) {
    if (frame <= place || frame - place >= largest_frame) return false;
    uint64_t low = walk->low, caller, address, next, unused;
    walk->low = place + 8;
    bool is_saved = is_frame(walk, frame, &caller, &address);
    if (is_saved && strict && code_address(address) != profile->thread_start) {
        walk->low = frame + 16;
        is_saved = is_frame(walk, frame_pointer(caller), &next, &unused);
    }
    walk->low = low;
    return is_saved;
}

static uint64_t search_once(struct walk *walk, uint64_t frame, bool strict) {
    uint64_t doubtful = 0;
    for (uint64_t place = walk->low; place < walk->low + largest_search && place != frame; place += 8) {
        uint64_t word;
        if (!load(&walk->window, place, &word)) break;
        if (frame == 0) {
            if (is_saved_frame(walk, place, frame_pointer(word), strict)) frame = frame_pointer(word);
            continue;
        }
        const struct clinux_profile_code *code = returns_to(word);
        if (!code || !code->has_frames) continue;
        if (calls_frameless(code_address(word))) {
            walk->low = place + 8;
            return add(walk, word) ? frame : 0;
        }
        if (doubtful == 0) doubtful = word;
    }
    // One of the functions between has a frame nevertheless, or the call is unknown.
    if (frame && doubtful && !add(walk, doubtful)) return 0;
    return frame;
}

/// Finds the next function that keeps frame pointers, after functions that do not, and adds the address in it.
///
/// If these have not changed the register, `candidate`, it still points to that function's frame. If they have, one of
/// them has saved it on the stack first, below its return address. This is preferably an address after a call to such a
/// function; otherwise the first one after a call through a pointer or to a function that jumped to another. The stack
/// may also hold words from calls that have returned, so the functions between are left out.
///
/// Returns the frame of the function that was found, or 0 if the search failed.
static uint64_t search(struct walk *walk, uint64_t candidate) {
    uint64_t caller, address;
    if (is_frame(walk, candidate, &caller, &address)) return search_once(walk, candidate, true);
    uint64_t frame = search_once(walk, 0, true);
    return frame ? frame : search_once(walk, 0, false);
}

static void walk_frames(struct walk *walk, uint64_t ip, uint64_t frame) {
    const struct clinux_profile_code *code = code_at(ip);
    uint64_t offset, word, caller;
    add(walk, ip);
    if (!code || !code->has_frames) {
        frame = search(walk, frame);
    } else if (is_outside_of_frame(ip, &offset) && load(&walk->window, walk->low + offset, &word) && returns_to(word)) {
        add(walk, word);
        walk->low += offset + 8;
        bool is_whole = returns_to(word)->has_frames && is_frame(walk, frame_pointer(frame), &caller, &word);
        if (!is_whole) frame = search(walk, frame);
    } else if (!is_frame(walk, frame_pointer(frame), &caller, &word)) {
        frame = search(walk, 0);
    }
    while (is_frame(walk, frame_pointer(frame), &caller, &word)) {
        walk->low = frame_pointer(frame) + 16;
        if (!add(walk, word) || code_address(word) == profile->thread_start) return;
        code = returns_to(word);
        if (caller == 0 && code->has_frames) return;
        uint64_t next, address;
        bool is_whole = code->has_frames && is_frame(walk, frame_pointer(caller), &next, &address);
        frame = is_whole ? caller : search(walk, frame_pointer(caller));
    }
}

// MARK: The handler

static int64_t monotonic_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void keep(const ucontext_t *context, int64_t weight) {
    uint64_t addresses[clinux_profile_most_frames];
    struct walk walk = {.window = {.end = 0, .start = 0}, .addresses = addresses, .count = 0};
#if defined(__x86_64__)
    const greg_t *registers = context->uc_mcontext.gregs;
    walk.low = (uint64_t)registers[REG_RSP];
    walk_frames(&walk, (uint64_t)registers[REG_RIP], (uint64_t)registers[REG_RBP]);
#elif defined(__aarch64__)
    walk.low = context->uc_mcontext.sp;
    const struct clinux_profile_code *caller = returns_to(context->uc_mcontext.regs[30]);
    const struct clinux_profile_code *code = code_at(context->uc_mcontext.pc);
    // The C library's leaf functions keep their caller only in the link register.
    if (caller && caller->has_frames && code && !code->has_frames) {
        add(&walk, context->uc_mcontext.pc);
        walk_frames(&walk, context->uc_mcontext.regs[30], context->uc_mcontext.regs[29]);
    } else {
        walk_frames(&walk, context->uc_mcontext.pc, context->uc_mcontext.regs[29]);
    }
#endif
    uint64_t size = clinux_profile_header + walk.count;
    uint64_t place = __atomic_fetch_add(&profile->used, size, __ATOMIC_RELAXED);
    if (place > profile->capacity || profile->capacity - place < size) {
        __atomic_fetch_add(&profile->lost_samples, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&profile->lost_weight, (uint64_t)weight, __ATOMIC_RELAXED);
        return;
    }
    uint64_t *words = profile->words + place;
    words[1] = (uint64_t)weight;
    words[2] = (uint64_t)(uint32_t)syscall(SYS_gettid) | (uint64_t)walk.count << 32;
    char name[16] = {0};
    prctl(PR_GET_NAME, name);
    memcpy(words + 3, name, sizeof name);
    memcpy(words + clinux_profile_header, addresses, walk.count * sizeof *addresses);
    // The record is complete: pairs with the reader's acquire.
    __atomic_store_n(words, (uint64_t)monotonic_now(), __ATOMIC_RELEASE);
}

static void handle(int signal, siginfo_t *info, void *context) {
    (void)signal;
    int failure = errno;
    struct clinux_profile *open = profile;
    // Sequentially consistent: either `clinux_profile_close` sees this handler, or the handler sees that it is closed.
    __atomic_fetch_add(&open->running, 1, __ATOMIC_SEQ_CST);
    // A signal from another sender is not a sample.
    if (__atomic_load_n(&open->is_open, __ATOMIC_SEQ_CST) && info->si_code == SI_TIMER) {
        // The kernel checks such timers at its clock ticks, 100 to 1000 times per second; periods that passed in
        // between are overruns.
        keep(context, (1 + (int64_t)info->si_overrun) * open->period_ns);
    }
    __atomic_fetch_sub(&open->running, 1, __ATOMIC_SEQ_CST);
    errno = failure;
}

// MARK: Preparation

int clinux_profile_has_frames(uint64_t start, uint64_t end) {
    // Data of a library, other than code, comes before its code.
    if (end - start > 6 << 20) start = end - (6 << 20);
    size_t with = 0, without = 0;
#if defined(__x86_64__)
    // push %rbp, then mov %rsp, %rbp; or pushes of r15, r14 or rbx.
    const uint8_t *at = (const uint8_t *)start, *last = (const uint8_t *)end - 4;
    while (at < last && (at = memchr(at, 0x55, (size_t)(last - at)))) {
        at++;
        if (at[0] == 0x48 && at[1] == 0x89 && at[2] == 0xE5) with++;
        if ((at[0] == 0x41 && (at[1] == 0x57 || at[1] == 0x56)) || (at[0] == 0x53 && at[1] == 0x48)) without++;
    }
#else
    // mov x29, sp; compilers for this processor keep the chain, except in functions that call nothing.
    for (const uint32_t *at = (const uint32_t *)start; at < (const uint32_t *)end; at++) with += *at == 0x910003FD;
#endif
    return with > 2 * without;
}

// MARK: Allocations

void clinux_profile_use(struct clinux_profile *used) { profile = used; }

/// The end of the calling thread's stack; 0 if unknown. Allocates once per thread, which jemalloc does not record.
static uint64_t own_stack_end(void) {
    static _Thread_local uint64_t end;
    pthread_attr_t attributes;
    if (end == 0 && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void *start;
        size_t size;
        if (pthread_attr_getstack(&attributes, &start, &size) == 0) end = (uint64_t)start + size;
        pthread_attr_destroy(&attributes);
    }
    return end;
}

__attribute__((noinline)) void clinux_profile_backtrace(void **addresses, unsigned *length, unsigned most) {
    const uint64_t *frame = __builtin_frame_address(0);
    uint64_t walked[clinux_profile_most_frames];
    struct walk walk = {.addresses = walked, .count = 0, .low = (uint64_t)frame + 16};
    walk.window.end = own_stack_end();
    walk.window.start = 0;
    if (walk.low > walk.window.end) walk.window.end = 0;
    walk_frames(&walk, frame[1], frame[0]);
    *length = walk.count < most ? (unsigned)walk.count : most;
    memcpy(addresses, walked, *length * sizeof *addresses);
}

// MARK: Timers

int clinux_profile_open(struct clinux_profile *opened) {
#if !defined(__x86_64__) && !defined(__aarch64__)
    return ENOTSUP;
#endif
    uint64_t probe = 0, copy;
    if (!read_memory((uint64_t)&probe, &copy, sizeof copy)) return errno == EFAULT ? ENOTSUP : errno;
    struct sigaction before, action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    if (sigaction(SIGPROF, NULL, &before) != 0) return errno;
    if ((before.sa_flags & SA_SIGINFO) || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)) return EBUSY;
    profile = opened;
    __atomic_store_n(&opened->is_open, 1, __ATOMIC_SEQ_CST);
    return sigaction(SIGPROF, &action, NULL) == 0 ? 0 : errno;
}

void clinux_profile_close(void) {
    // Ignored, because one may be pending: the default action ends the process.
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPROF, &ignore, NULL);
    __atomic_store_n(&profile->is_open, 0, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&profile->running, __ATOMIC_SEQ_CST)) usleep(100);
}

int clinux_profile_start_timer(const struct clinux_profile *opened, pid_t thread, int64_t first_ns) {
    // Encoded as in pthread_getcpuclockid(3), from the thread's number.
    clockid_t clock = (clockid_t)((~(unsigned)thread << 3) | 6);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    event._sigev_un._tid = thread;
    int timer;
    if (syscall(SYS_timer_create, clock, &event, &timer) != 0) return -errno;
    struct itimerspec times = {
        .it_value = {.tv_sec = first_ns / 1000000000, .tv_nsec = first_ns % 1000000000},
        .it_interval = {.tv_sec = opened->period_ns / 1000000000, .tv_nsec = opened->period_ns % 1000000000},
    };
    if (syscall(SYS_timer_settime, timer, 0, &times, NULL) != 0) {
        int failure = errno;
        clinux_profile_delete_timer(timer);
        return -failure;
    }
    return timer;
}

void clinux_profile_delete_timer(int timer) { syscall(SYS_timer_delete, timer); }

// MARK: The thread that finds new threads

struct start {
    void (*body)(void *context, uint64_t returns_to);
    void *context;
};

static void *run(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    start.body(start.context, code_address((uint64_t)__builtin_return_address(0)));
    return NULL;
}

int clinux_profile_start_thread(void (*body)(void *, uint64_t), void *context, pthread_t *thread) {
    struct start *start = malloc(sizeof *start);
    if (!start) return ENOMEM;
    *start = (struct start){.body = body, .context = context};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(thread, NULL, run, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure) free(start);
    return failure;
}

// MARK: Marks

// Never inlined; and not empty to the compiler, which would remove calls of them.
__attribute__((noinline)) void clinux_counting_begins(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void clinux_counting_ends(void) { __asm__ volatile("" ::: "memory"); }
