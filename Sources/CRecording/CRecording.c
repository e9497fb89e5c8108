#include "CRecording.h"
