#define _GNU_SOURCE
#include "CLinuxText.h"

#include <locale.h>
#include <pthread.h>
#include <wchar.h>

// The only locale with all of Unicode that comes with the C library; 0 if it is not installed.
static locale_t unicode;

static void make_locale(void) { unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

int clinux_columns(uint32_t scalar) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    if (!unicode) return 1;
    locale_t before = uselocale(unicode);
    int columns = wcwidth((wchar_t)scalar);
    uselocale(before);
    return columns < 0 ? 1 : columns;
}
