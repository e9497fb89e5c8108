import CPage

/// The files that a page is put together from, which are part of the program.
enum PageFiles {
    static let template = text(CPAGE_TEMPLATE)
    static let style = text(CPAGE_STYLE)
    /// One after the other they are the page's program.
    static let scripts = [
        CPAGE_TEXT, CPAGE_DATA, CPAGE_VERDICTS, CPAGE_TABLE, CPAGE_CHARTS, CPAGE_SECTIONS, CPAGE_HISTORY,
        CPAGE_DIFFERENCES, CPAGE_BY_CELL, CPAGE_ONE_CELL, CPAGE_SWEEPS, CPAGE_MAIN,
    ].map(text)
    static let library = text(CPAGE_LIBRARY)
    static let license = text(CPAGE_NOTICE) + "\n" + text(CPAGE_LICENSE)

    private static func text(_ name: cpage_name) -> String {
        let file = cpage_file(name)
        return String(decoding: UnsafeBufferPointer(start: file.bytes, count: file.count), as: UTF8.self)
    }
}
