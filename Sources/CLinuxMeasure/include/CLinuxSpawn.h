// Starts a program that ends with the process that started it.
#ifndef CLINUX_SPAWN_H
#define CLINUX_SPAWN_H
#include <sys/types.h>

/// Starts a program, looked up in PATH, to which the kernel sends `signal_at_end` when the calling thread ends: to be called on
/// a thread that lives as long as the program may. vfork(2), prctl(PR_SET_PDEATHSIG), execvpe(3). Lets this process wait for
/// its children, if SIGCHLD was ignored.
///
/// `files[i]` becomes the program's descriptor `i`; it has no other. `count` is at most 8. With a `folder` that is not NULL it
/// works there, and with `own_group` it leads a process group of its own. Returns the process's number, or a negative
/// errno value where it could not be started: −ENOENT if there is no such program, or no such folder.
pid_t clinux_start_tied(
    const char *program, char *const *arguments, char *const *environment, const char *folder, int own_group,
    int signal_at_end, const int *files, int count);

/// A descriptor that becomes readable when the process has ended, in all its threads, pidfd_open(2); −1 with errno if
/// the system has none: before Linux 5.3, or where a sandbox refuses it.
int clinux_open_process(pid_t process);

/// Whether a child of this process has ended: 1, else 0; −1 if the process is not its child. Does not reap the child: its
/// number stays its own.
int clinux_has_ended(pid_t process);

/// A descriptor that becomes readable once the event is signalled, eventfd(2); −1 with errno. Nobody has to read it.
int clinux_event(void);
void clinux_signal_event(int event);

/// A pipe, whose ends no program gets that any thread starts meanwhile: pipe2(2) with O_CLOEXEC. `ends` are those to read
/// from and to write to. Returns 0 or an errno value.
int clinux_pipe(int ends[2]);

/// Waits until the process has ended, and gives what waitpid(2) says of it; −1 if it is none of ours.
int clinux_wait_for(pid_t process);

#endif
