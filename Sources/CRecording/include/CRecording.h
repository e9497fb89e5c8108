// The format of a recording: what a program's recorder writes and `opbench` reads. Layouts alone, and their checksum.
//
// A recording is a file, and the part before it in FILE.1 if it was long. A part is a sequence of blocks, each a header
// and a payload. Little-endian; all sizes are multiples of 8 bytes. A block is written by one call, so a program that is
// killed leaves whole blocks and at most one cut one, the last. A power failure may leave anything in the place of blocks
// that the disk did not have yet, zeros as a rule: what follows the first block that is not whole is not read.
//
// Order: the first block of a part is `start`. The last block of the last part is `end`; it is missing if the program
// was killed. Blocks are numbered without gaps through all parts. The events of a thread are in its blocks in the order
// of time, except `growth`; those of different threads are in any order.
//
// Names belong to numbers: of queues, of threads, and of classes, where the number is the address of the class. A part
// repeats the names and limits that its events need, since the part before it may be gone.
#ifndef CRECORDING_H
#define CRECORDING_H
#include <stddef.h>
#include <stdint.h>

enum { crecording_version = 3, crecording_longest_payload = 1 << 20 };

/// The eight bytes `oprecord`.
static const uint64_t crecording_magic = 0x64726f636572706f;

enum crecording_block {
    /// A `struct crecording_start`, and the program's name, UTF-8, padded with zeros.
    crecording_block_start = 1,
    /// Any number of `struct crecording_event`, of one thread.
    crecording_block_events = 2,
    /// Any number of `struct crecording_name`, each followed by its text, UTF-8, padded with zeros.
    crecording_block_names = 3,
    /// The time of the end, in 8 bytes.
    crecording_block_end = 4,
};

struct crecording_header {
    uint64_t magic;
    uint32_t version;
    /// An `enum crecording_block`.
    uint32_t kind;
    /// The size of the payload in bytes.
    uint32_t length;
    /// The thread whose events these are, gettid(2); 0 in other blocks.
    int32_t thread;
    /// The same in all blocks of one recording, and different in other recordings.
    uint64_t recording;
    /// Counts the blocks of the recording from 0.
    uint64_t number;
    /// How many of the thread's events before this block were not recorded.
    uint64_t lost;
    /// `crecording_checksum` of the payload.
    uint64_t payload_sum;
    /// `crecording_checksum` of the header up to here: a damaged length is noticed before it is used.
    uint64_t header_sum;
};

struct crecording_start {
    /// Seconds since 1970 at the recording's start.
    int64_t date;
    /// CLOCK_MONOTONIC at the recording's start, in nanoseconds.
    int64_t clock_start;
    /// When the process began, in clock ticks since the machine did, proc_pid_stat(5); 0 if that is unknown. execve(2)
    /// does not change it.
    uint64_t process_start;
    /// The same in all recordings that a process makes until execve(2), and different in others.
    uint64_t program_run;
    int32_t process;
    /// The processors that the program may use.
    int32_t processors;
    /// Counts the parts of the recording from 0.
    uint32_t part;
    /// The length of the program's name in bytes.
    uint32_t length;
};

enum crecording_named { crecording_named_class = 1, crecording_named_queue = 2, crecording_named_thread = 3 };

struct crecording_name {
    /// An `enum crecording_named`.
    uint32_t kind;
    /// The length of the text in bytes.
    uint32_t length;
    uint64_t subject;
};

enum crecording_kind {
    // An operation, `subject`. For `enqueued`, `value` is its class, 0 for a closure, and `detail` its queue. For
    // `started`, `detail` is the thread's time in the run queue since the operation before; for `finished`, since
    // `started`: in microseconds, `crecording_unknown` if it is unknown. For `finished`, `value` is the CPU time since
    // `started` in nanoseconds, negative if unknown. For `dependency`, `subject` waits for `value`.
    crecording_enqueued = 1,
    crecording_ready = 2,
    crecording_started = 3,
    crecording_finished = 4,
    crecording_notified = 5,
    crecording_cancelled = 6,
    crecording_dependency = 7,
    // A queue, `detail`. `value` is its limit, negative if it has none of its own. The last two are its suspension.
    crecording_limit = 16,
    crecording_suspended = 17,
    crecording_resumed = 18,
    // A thread, `subject`. For `unpark` and `wake`, `value` is the other thread, or 0; for the leases, `detail` is the
    // queue.
    crecording_begin = 32,
    crecording_thread_end = 33,
    crecording_park = 34,
    crecording_unpark = 35,
    crecording_wake = 36,
    crecording_lease_taken = 37,
    crecording_lease_given_up = 38,
    crecording_growth = 39,
    crecording_shrinkage = 40,
};

/// Flags of `enqueued` and `finished`. The last one: the thread never gave up its processor since `started`, so what is
/// missing from its CPU time was all in the run queue.
enum {
    crecording_is_closure = 1,
    crecording_is_barrier = 2,
    crecording_is_cancelled = 4,
    crecording_is_unblocked = 8
};

static const uint32_t crecording_unknown = UINT32_MAX;

struct crecording_event {
    /// Nanoseconds since the recording's start.
    int64_t time;
    uint64_t subject;
    int64_t value;
    uint32_t detail;
    /// An `enum crecording_kind`.
    uint8_t kind;
    uint8_t flags;
    /// The priority, for `enqueued`: higher is more urgent, from -8 to 8.
    int8_t priority;
    uint8_t reserved;
};

/// Continues a checksum, which begins with 0, over words. A change of a single word always changes it, since each step
/// is reversible.
static inline uint64_t crecording_checksum(uint64_t sum, const void *bytes, size_t length) {
    const unsigned char *at = (const unsigned char *)bytes;
    for (; length >= 8; length -= 8, at += 8) {
        uint64_t word;
        __builtin_memcpy(&word, at, 8);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 32;
    }
    return sum;
}

/// Completes the header of a block with this payload: everything but `kind`, `thread`, `recording`, `number` and `lost`.
static inline void crecording_seal(struct crecording_header *header, const void *payload, size_t length) {
    header->magic = crecording_magic;
    header->version = crecording_version;
    header->length = (uint32_t)length;
    header->payload_sum = crecording_checksum(0, payload, length);
    header->header_sum = crecording_checksum(0, header, offsetof(struct crecording_header, header_sum));
}

#endif
