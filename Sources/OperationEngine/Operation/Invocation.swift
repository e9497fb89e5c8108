/// A type whose methods can be chosen by name at run time (contract L3).
///
/// Swift on Linux cannot find a method by its name. So the type lists the methods that may be called by name:
///
/// ```swift
/// final class Downloader: InvocationTarget {
///     static let invocationMethods: [String: InvocationMethod] = [
///         "refresh": InvocationMethod(Downloader.refresh),
///         "downloadImage:": InvocationMethod(Downloader.downloadImage),
///     ]
///     func refresh() { … }
///     func downloadImage(url: String) throws -> Int { … }
/// }
///
/// let operation = InvocationOperation(target: downloader, selector: "downloadImage:", object: "https://…")
/// ```
///
/// If a subclass overrides a method, the override is found by the name that the superclass gave the method. A class
/// whose subclasses add names declares the table as a `class var`.
public protocol InvocationTarget {
    /// The methods by their selectors. A colon at the end represents the argument, and may be omitted here.
    static var invocationMethods: [String: InvocationMethod] { get }
}

/// A method without arguments or with one, in an `InvocationTarget`'s table. It may throw, and return anything.
public struct InvocationMethod: Sendable {
    let argumentCount: Int
    /// Nil if the target or the argument is not of the method's type.
    let bind: @Sendable (_ target: Any, _ object: Any?) -> Invocation.Call?

    /// A method without arguments.
    ///
    /// - Parameter method: an unapplied reference such as `Downloader.refresh`.
    @preconcurrency
    public init<Target, Output>(_ method: @escaping @Sendable (Target) -> () throws -> Output) {
        argumentCount = 0
        bind = { target, object in
            guard object == nil, let target = target as? Target else { return nil }
            return { try method(target)() }
        }
    }

    /// A method with one argument.
    ///
    /// - Parameter method: an unapplied reference such as `Downloader.downloadImage`. If its argument is optional, the
    ///   object of the invocation may be nil.
    @preconcurrency
    public init<Target, Argument, Output>(_ method: @escaping @Sendable (Target) -> (Argument) throws -> Output) {
        argumentCount = 1
        bind = { target, object in
            guard let target = target as? Target, let argument = Self.argument(Argument.self, from: object) else {
                return nil
            }
            return { try method(target)(argument) }
        }
    }

    private static func argument<Argument>(_: Argument.Type, from object: Any?) -> Argument? {
        if let object { return object as? Argument }
        // Not for an argument of type `Any`, which would hold the nil as an optional.
        guard let optional = Argument.self as? any OptionalValue.Type else { return nil }
        return optional.empty as? Argument
    }
}

/// A call that can be made: a target, one of its methods, and an argument if the method takes one. It retains the
/// target and the argument (contract L10).
///
/// Neither needs to be `Sendable`. A caller that passes an invocation to an operation promises that the target and the
/// argument may be used on the thread that runs the operation: no other thread uses them at the same time, or they
/// allow that. A closure in place of a method is `@Sendable`, except for callers without strict concurrency checking,
/// who get no warnings.
public struct Invocation: @unchecked Sendable {
    typealias Call = () throws -> Any

    /// The object or value whose method is called.
    public let target: Any
    /// One argument, or none.
    public let arguments: [Any]
    /// The name by which the method was found; nil if it was given by reference.
    public let selector: String?
    let call: Call

    /// A call of `target.method()`.
    @preconcurrency
    public init<Target, Output>(target: Target, method: @escaping @Sendable (Target) -> () throws -> Output) {
        self.init(target: target, arguments: [], selector: nil) { try method(target)() }
    }

    /// A call of `target.method(object)`.
    @preconcurrency
    public init<Target, Argument, Output>(
        target: Target, method: @escaping @Sendable (Target) -> (Argument) throws -> Output, object: Argument
    ) {
        self.init(target: target, arguments: [object], selector: nil) { try method(target)(object) }
    }

    /// A call of the method that the target's type has registered under a name.
    ///
    /// - Parameters:
    ///   - target: the target, whose type has registered the method.
    ///   - selector: `name` for a method without arguments, `name:` for one with an argument.
    ///   - object: the argument. Nil also if the method takes none.
    /// - Returns: nil if there is no such method, or if it does not take such an object (contract L4).
    public init?(target: any InvocationTarget, selector: String, object: Any?) {
        let methods = type(of: target).invocationMethods
        let found = methods[selector] ?? (selector.hasSuffix(":") ? methods[String(selector.dropLast())] : nil)
        let argumentCount = selector.count(where: { $0 == ":" })
        guard let found, found.argumentCount == argumentCount, let call = found.bind(target, object) else { return nil }
        self.init(target: target, arguments: argumentCount == 1 ? [object as Any] : [], selector: selector, call: call)
    }

    private init(target: Any, arguments: [Any], selector: String?, call: @escaping Call) {
        self.target = target
        self.arguments = arguments
        self.selector = selector
        self.call = call
    }

    /// Makes the call, on the calling thread.
    ///
    /// - Returns: what the method returns, `()` if it returns nothing.
    /// - Throws: what the method throws.
    public func invoke() throws -> Any { try call() }
}

/// The engine's view of an optional inside an `Any`.
protocol OptionalValue {
    static var empty: Any { get }
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    static var empty: Any { Self.none as Any }
    var wrapped: Any? { self }
}
