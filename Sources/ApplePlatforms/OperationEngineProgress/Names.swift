// The module on Apple's platforms: Foundation's queues have a `progress`.
@_exported import class Foundation.Progress
