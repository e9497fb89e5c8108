// Starts a program that ends with the process that started it.
#ifndef CLINUX_SPAWN_H
#define CLINUX_SPAWN_H
#include <sys/types.h>

/// Starts a program, looked up in PATH, to which the kernel sends `signal_at_end` when the calling thread ends: to be
/// called on a thread that lives as long as the program may. vfork(2), prctl(PR_SET_PDEATHSIG), execvpe(3). Makes this
/// process's children waitable, if SIGCHLD was ignored.
///
/// `files[i]` becomes the program's descriptor `i`; it has no others. `count` is at most 8. With a `folder` other than
/// NULL it works there, and with `own_group` it leads a separate process group. Returns the process's number, or a
/// negative errno value if it could not be started: −ENOENT if the program or the folder does not exist.
pid_t clinux_start_tied(
    const char *program, char *const *arguments, char *const *environment, const char *folder, int own_group,
    int signal_at_end, const int *files, int count);

/// A descriptor that becomes readable when all threads of the process have ended, pidfd_open(2); −1 with errno if the
/// system has none: before Linux 5.3, or if a sandbox refuses it.
int clinux_open_process(pid_t process);

/// 1 if a child of this process has ended, else 0; −1 if the process is not its child. Does not reap the child, which
/// keeps its number.
int clinux_has_ended(pid_t process);

/// A descriptor that becomes readable once the event is signalled, eventfd(2); −1 with errno. It need not be read.
int clinux_event(void);
void clinux_signal_event(int event);

/// A pipe, whose ends are not inherited by programs that other threads start meanwhile: pipe2(2) with O_CLOEXEC. `ends`
/// are those to read from and to write to. Returns 0 or an errno value.
int clinux_pipe(int ends[2]);

/// Waits until the process has ended, and returns the status of waitpid(2); −1 if it is not a child of this process.
int clinux_wait_for(pid_t process);

/// Passes SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2 on to a process; ignored ones stay ignored. Not those of
/// the terminal, which sends them to the process as well, if it is in the same group. `process` 0 discards them.
void clinux_pass_signals(pid_t process);

#endif
