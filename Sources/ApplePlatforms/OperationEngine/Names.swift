// The module on Apple's platforms: Foundation's own classes by the engine's names.
@_exported import class Foundation.BlockOperation
@_exported import class Foundation.Operation
@_exported import class Foundation.OperationQueue
@_exported import enum Foundation.QualityOfService

#if os(Linux) && !PLATFORM_IS_CHOSEN
    #error("Package.swift was read on a Mac and takes this for Apple's platforms: set OPERATION_ENGINE_PLATFORM=linux")
#endif
