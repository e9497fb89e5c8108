/// Who announces the end of an asynchronous operation.
package enum AnnouncedEnd: String, Sendable {
    case thread, itself
}
