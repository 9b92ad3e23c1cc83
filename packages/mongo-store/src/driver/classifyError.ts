/** Maps the driver's errors and the server's codes to errors of stores, without stored values or credentials. */
import {
  DuplicateKey,
  QueryRejected,
  QueryTimeout,
  type StoreError,
  StoreUnavailable,
  Unsupported
} from "@appkernel/document-store/StoreError"
import {
  BSON,
  MongoAWSError,
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoCompatibilityError,
  MongoError,
  MongoExpiredSessionError,
  MongoInvalidArgumentError,
  MongoKerberosError,
  MongoMissingCredentialsError,
  MongoMissingDependencyError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOIDCError,
  MongoOperationTimeoutError,
  MongoParseError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoStalePrimaryError,
  MongoTopologyClosedError,
  MongoWriteConcernError
} from "mongodb"
import { brokenRuleCode, brokenRules } from "./validationErrors.ts"

/** The context of an error of the driver. */
export interface FailureContext {
  readonly operation: string
  readonly collection: string
  readonly redact: (text: string) => string
  /** Whether the call has a time limit, which the server may have enforced. */
  readonly isLimited?: boolean
  /** Whether the call writes outside of a transaction, so that what is not known to have failed may have been written. */
  readonly isWrite?: boolean
}

/** What the failure says of a write that may have been applied. */
export const unknownOutcome = "what was written, if anything, is not known"

const duplicateKeyCode = 11000

const timeLimitCode = 50 // MaxTimeMSExpired

// Codes from here on are locations in the server's source where an assertion on the caller's input failed.
const firstLocationCode = 10_000

/** Codes of the server (its `error_codes.yml`) for transient conditions. */
const busyCodes = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  24, // LockTimeout
  43, // CursorNotFound
  46, // LockBusy
  timeLimitCode,
  63, // StaleShardVersion
  64, // WriteConcernTimeout
  89, // NetworkTimeout
  91, // ShutdownInProgress
  94, // NotYetInitialized
  112, // WriteConflict
  117, // ConflictingOperationInProgress
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  150, // StaleEpoch
  175, // QueryPlanKilled
  189, // PrimarySteppedDown
  202, // NetworkInterfaceExceededTimeLimit
  225, // TransactionTooOld
  234, // RetryChangeStream
  237, // CursorKilled
  239, // SnapshotTooOld
  246, // SnapshotUnavailable
  251, // NoSuchTransaction
  262, // ExceededTimeLimit
  264, // TooManyFilesOpen
  276, // IndexBuildAborted
  279, // ClientDisconnect
  391, // ReauthenticationRequired
  462, // IngressRequestRateLimitExceeded
  9001, // SocketException
  10_058, // LegacyNotPrimary
  10_107, // NotWritablePrimary
  11_600, // InterruptedAtShutdown
  11_601, // Interrupted
  11_602, // InterruptedDueToReplStateChange
  12_586, // BackgroundOperationInProgressForDatabase
  12_587, // BackgroundOperationInProgressForNamespace
  13_388, // StaleConfig
  13_435, // NotPrimaryNoSecondaryOk
  13_436, // NotPrimaryOrSecondary
  46_841 // ClientMarkedKilled
])

/** Codes for permanent conditions; some have a message of their own, since the server's may name the user. */
const permanentCodes = new Map<number, string | undefined>([
  [11, "the configured user is unknown"], // UserNotFound
  [13, "the configured user may not do this"], // Unauthorized
  [18, "authentication failed"], // AuthenticationFailed
  [79, undefined], // UnknownReplWriteConcern
  [100, undefined], // UnsatisfiableWriteConcern
  [8000, undefined], // AtlasError
  [14_031, "no disk space is left"] // OutOfDiskSpace
])

/** Codes for an invalid filter, update, pipeline, document, index or name. */
const rejectionCodes = new Set([
  2, // BadValue
  4, // NoSuchKey
  5, // GraphContainsCycle
  9, // FailedToParse
  10, // CannotMutateObject
  14, // TypeMismatch
  15, // Overflow
  16, // InvalidLength
  17, // ProtocolError
  21, // EmptyArrayOperation
  22, // InvalidBSON
  26, // NamespaceNotFound
  27, // IndexNotFound
  28, // PathNotViable
  29, // NonExistentPath
  30, // InvalidPath
  34, // CannotBackfillArray
  40, // ConflictingUpdateOperators
  48, // NamespaceExists
  52, // DollarPrefixedFieldName
  53, // InvalidIdField
  54, // NotSingleValueField
  55, // InvalidDBRef
  56, // EmptyFieldName
  57, // DottedFieldName
  61, // ShardKeyNotFound
  66, // ImmutableField
  67, // CannotCreateIndex
  68, // IndexAlreadyExists
  72, // InvalidOptions
  73, // InvalidNamespace
  85, // IndexOptionsConflict
  86, // IndexKeySpecsConflict
  96, // OperationFailed
  116, // DocTooLargeForCapped
  brokenRuleCode,
  146, // ExceededMemoryLimit
  165, // ViewDepthLimitExceeded
  168, // InvalidPipelineOperator
  170, // TooManyMatchingDocuments
  171, // CannotIndexParallelArrays
  197, // InvalidIndexSpecificationOption
  224, // QueryFeatureNotAllowed
  241, // ConversionFailure
  257, // TransactionTooLarge
  291, // NoQueryExecutionPlans
  292 // QueryExceededMemoryLimitNoDiskUseAllowed
])

/** Codes for features that this server, or this kind of deployment, does not support. */
const unsupportedCodes = new Set([
  20, // IllegalOperation
  59, // CommandNotFound
  115, // CommandNotSupported
  166, // CommandNotSupportedOnView
  167, // OptionNotSupportedOnView
  238, // NotImplemented
  263, // OperationNotSupportedInTransaction
  322, // APIVersionError
  323, // APIStrictError
  352 // UnsupportedOpQueryCommand
])

const retryLabels = ["RetryableWriteError", "RetryableError", "TransientTransactionError", "SystemOverloadedError"]

// The driver doesn't export these classes.
const poolErrorNames = new Set(["MongoWaitQueueTimeoutError", "MongoPoolClosedError", "MongoPoolClearedError"])

const closedErrors = [
  MongoClientClosedError,
  MongoNotConnectedError,
  MongoServerClosedError,
  MongoTopologyClosedError,
  MongoExpiredSessionError
]

const credentialErrors = [MongoMissingCredentialsError, MongoKerberosError, MongoAWSError, MongoOIDCError]

const isOneOf = (
  cause: unknown,
  classes: ReadonlyArray<abstract new(...args: ReadonlyArray<never>) => unknown>
): boolean => classes.some((errorClass) => cause instanceof errorClass)

const maxDetail = 300

// Removes stored values, which stand in braces and quotes: the caller may not be allowed to see them.
const explain = (message: string, context: FailureContext): string => {
  const detail = context.redact(message)
    .replace(/^Plan executor error during \w+ :: caused by :: /, "")
    .replace(/\{[^]*\}|\{[^]*$/, "{…}")
    .replace(/Failed to parse \w+ '[^]*' in/, "Failed to parse a value in")
  return detail.length > maxDetail ? `${detail.slice(0, maxDetail)}…` : detail
}

/**
 * Parses `E11000 duplicate key error collection: shop.users index: email_1 dup key: { email: "…" }`. The fields are those
 * of `keyPattern`, which is missing in a bulk write: then they are only known for `_id_`.
 */
const duplicateKey = (message: string, keyPattern: unknown, context: FailureContext): DuplicateKey => {
  const index = / index: (.+?)(?: collation: .*?)? dup key: /.exec(message)?.[1] ?? "_id_"
  const fields = typeof keyPattern === "object" && keyPattern !== null
    ? Object.keys(keyPattern)
    : index === "_id_"
    ? ["_id"]
    : []
  return new DuplicateKey({
    collection: / collection: [^.\s]+\.(.+?) index: /.exec(message)?.[1] ?? context.collection,
    index,
    fields
  })
}

const classifyCode = (
  code: unknown,
  message: string,
  context: FailureContext
): Exclude<StoreError, DuplicateKey> | undefined => {
  if (typeof code !== "number") return undefined
  const { operation } = context
  const detail = explain(message, context)
  if (code === timeLimitCode && context.isLimited === true) return new QueryTimeout({ operation })
  if (busyCodes.has(code)) return new StoreUnavailable({ operation, detail, retryable: true })
  if (permanentCodes.has(code)) {
    return new StoreUnavailable({ operation, detail: permanentCodes.get(code) ?? detail, retryable: false })
  }
  if (unsupportedCodes.has(code)) return new Unsupported({ operation, feature: detail })
  return rejectionCodes.has(code) || code >= firstLocationCode ? new QueryRejected({ operation, detail }) : undefined
}

/** Classifies the rejection of one document of several; `undefined` is a defect. */
export const classifyWriteError = (code: number, message: string, context: FailureContext): StoreError | undefined =>
  code === duplicateKeyCode ? duplicateKey(message, undefined, context) : classifyCode(code, message, context)

const classifyServerError = (cause: MongoServerError, context: FailureContext): StoreError | undefined => {
  if (context.isWrite === true && lacksAcknowledgement(cause)) return uncertain(cause, context)
  // A bulk write wraps the error that caused it.
  const failure = cause instanceof MongoBulkWriteError && cause.errorResponse instanceof Error
    ? classify(cause.errorResponse, context)
    : classifyReply(cause, context)
  return failure?._tag === "StoreUnavailable" && failure.retryable && context.isWrite === true && hasWritten(cause)
    ? uncertain(cause, context)
    : failure
}

const classifyReply = (cause: MongoServerError, context: FailureContext): StoreError | undefined => {
  if (cause.code === duplicateKeyCode) return duplicateKey(cause.message, cause["keyPattern"], context)
  const message = cause.code === brokenRuleCode ? brokenRules(cause.errInfo) : cause.message
  const known = classifyCode(cause.code, message, context)
  if (known?._tag === "StoreUnavailable" || known?._tag === "QueryTimeout") return known
  return retryLabels.some((label) => cause.hasErrorLabel(label))
    ? new StoreUnavailable({
      operation: context.operation,
      detail: explain(cause.message, context),
      retryable: true
    })
    : known
}

/** Whether the write is applied, but not as durably as its write concern asks for. */
const lacksAcknowledgement = (cause: MongoServerError): boolean =>
  cause instanceof MongoWriteConcernError ||
  (cause instanceof MongoBulkWriteError && cause.result.getWriteConcernError() !== undefined)

// A bulk write is sent in parts.
const hasWritten = (cause: MongoServerError): boolean => cause instanceof MongoBulkWriteError && cause.insertedCount > 0

/** Whether a call failed after its command may have been sent. */
const isBrokenOff = (cause: Error): boolean => {
  if (cause instanceof MongoOperationTimeoutError) return true
  if (!(cause instanceof MongoNetworkError)) return /^(?:read|write)/u.test(syscallOf(cause))
  return !(
    poolErrorNames.has(cause.name) ||
    cause.hasErrorLabel("HandshakeError") ||
    ["connect", "getaddrinfo"].includes(syscallOf(cause.cause)) ||
    // The driver's errors of a socket that is not connected yet; other connections have a number.
    cause.message.startsWith("Socket ")
  )
}

const syscallOf = (cause: unknown): string => String(Object(cause).syscall)

// A retry could write twice.
const uncertain = (cause: Error, context: FailureContext): StoreUnavailable =>
  new StoreUnavailable({
    operation: context.operation,
    detail: `${explain(cause.message, context)}: ${unknownOutcome}`,
    retryable: false
  })

const rejected = (detail: string, { operation }: FailureContext) => new QueryRejected({ operation, detail })

/**
 * Classifies every error of the driver; `undefined` is a defect. The result never contains the driver's error, whose
 * fields hold documents and whose message may hold credentials.
 */
export const classify = (cause: unknown, context: FailureContext): StoreError | undefined => {
  if (cause instanceof MongoServerError) return classifyServerError(cause, context)
  if (cause instanceof RangeError) return rejected("a document is too large or too deeply nested for BSON", context)
  if (!(cause instanceof Error)) return undefined
  const detail = explain(cause.message, context)
  // Not by `instanceof`: `bson` has a CommonJS and a module build, and each has its own class.
  const isBson: boolean = BSON.BSONError.isBSONError(cause)
  if (isBson || isOneOf(cause, [MongoInvalidArgumentError])) return rejected(detail, context)
  const unavailable = (retryable: boolean) => new StoreUnavailable({ operation: context.operation, detail, retryable })
  if (context.isWrite === true && isBrokenOff(cause)) return uncertain(cause, context)
  if (
    isOneOf(cause, [
      MongoNetworkError,
      MongoServerSelectionError,
      MongoOperationTimeoutError,
      MongoStalePrimaryError
    ]) || poolErrorNames.has(cause.name)
  ) return unavailable(true)
  if (isOneOf(cause, closedErrors) || isOneOf(cause, credentialErrors) || isOneOf(cause, [MongoParseError])) {
    return unavailable(false)
  }
  if (isOneOf(cause, [MongoCompatibilityError, MongoMissingDependencyError])) {
    return new Unsupported({ operation: context.operation, feature: detail })
  }
  // An error of DNS, a socket, or a certificate's file; only a missing file is permanent.
  return "syscall" in cause ? unavailable(cause.syscall !== "open") : undefined
}

/** A defect that can be logged: the driver's message and stack without credentials and fields. */
export const defect = (cause: unknown, context: FailureContext): unknown => {
  if (!(cause instanceof Error)) return cause
  const stack = cause.stack ?? ""
  if (!(cause instanceof MongoError) && context.redact(stack) === stack) return cause
  const code = cause instanceof MongoError && cause.code !== undefined ? ` ${cause.code}` : ""
  const clean = new Error(`${cause.name}${code} (${context.operation}): ${explain(cause.message, context)}`)
  const frames = stack.indexOf("\n    at ")
  if (frames >= 0) clean.stack = `${clean.name}: ${clean.message}${context.redact(stack.slice(frames))}`
  return clean
}
