#include "CPage.h"

// C23, which clang accepts in every mode. This compiles in 0.1 s; a megabyte as a list of numbers in Swift takes minutes.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char page_template[] = {
#embed "../OpBenchPage/Page/page.html"
};
static const unsigned char style[] = {
#embed "../OpBenchPage/Page/page.css"
};
static const unsigned char text[] = {
#embed "../OpBenchPage/Page/text.js"
};
static const unsigned char data[] = {
#embed "../OpBenchPage/Page/data.js"
};
static const unsigned char verdicts[] = {
#embed "../OpBenchPage/Page/verdicts.js"
};
static const unsigned char table[] = {
#embed "../OpBenchPage/Page/table.js"
};
static const unsigned char charts[] = {
#embed "../OpBenchPage/Page/charts.js"
};
static const unsigned char sections[] = {
#embed "../OpBenchPage/Page/sections.js"
};
static const unsigned char history[] = {
#embed "../OpBenchPage/Page/history.js"
};
static const unsigned char differences[] = {
#embed "../OpBenchPage/Page/differences.js"
};
static const unsigned char by_cell[] = {
#embed "../OpBenchPage/Page/bycell.js"
};
static const unsigned char one_cell[] = {
#embed "../OpBenchPage/Page/onecell.js"
};
static const unsigned char sweeps[] = {
#embed "../OpBenchPage/Page/sweeps.js"
};
static const unsigned char page_main[] = {
#embed "../OpBenchPage/Page/main.js"
};
static const unsigned char library[] = {
#embed "../OpBenchPage/Vendor/echarts/echarts.min.js"
};
static const unsigned char license[] = {
#embed "../OpBenchPage/Vendor/echarts/LICENSE"
};
static const unsigned char notice[] = {
#embed "../OpBenchPage/Vendor/echarts/NOTICE"
};

#define FILE_OF(array) ((struct cpage_file){array, sizeof array})

struct cpage_file cpage_file(enum cpage_name name) {
    switch (name) {
    case CPAGE_TEMPLATE: return FILE_OF(page_template);
    case CPAGE_STYLE: return FILE_OF(style);
    case CPAGE_TEXT: return FILE_OF(text);
    case CPAGE_DATA: return FILE_OF(data);
    case CPAGE_VERDICTS: return FILE_OF(verdicts);
    case CPAGE_TABLE: return FILE_OF(table);
    case CPAGE_CHARTS: return FILE_OF(charts);
    case CPAGE_SECTIONS: return FILE_OF(sections);
    case CPAGE_HISTORY: return FILE_OF(history);
    case CPAGE_DIFFERENCES: return FILE_OF(differences);
    case CPAGE_BY_CELL: return FILE_OF(by_cell);
    case CPAGE_ONE_CELL: return FILE_OF(one_cell);
    case CPAGE_SWEEPS: return FILE_OF(sweeps);
    case CPAGE_MAIN: return FILE_OF(page_main);
    case CPAGE_LIBRARY: return FILE_OF(library);
    case CPAGE_LICENSE: return FILE_OF(license);
    case CPAGE_NOTICE: return FILE_OF(notice);
    }
}
