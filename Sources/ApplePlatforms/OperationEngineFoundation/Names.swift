// The module on Apple's platforms: Foundation's calls take these queues.
@_exported import class Foundation.NotificationCenter
