#include "CLinuxDispatch.h"

// Declared here, because <dispatch/object.h> needs a compiler with blocks.
void dispatch_release(void *object);

void clinux_dispatch_release(void *object) { dispatch_release(object); }
