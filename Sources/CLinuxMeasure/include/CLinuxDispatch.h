#ifndef CLINUX_DISPATCH_H
#define CLINUX_DISPATCH_H

/// Releases a queue or a group that Dispatch's C interface has made. Swift has no name for `dispatch_release`.
void clinux_dispatch_release(void *object);
#endif
