import { assert, describe, it } from "@effect/vitest"
import { BSONError } from "bson"
import {
  type ErrorDescription,
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoCompatibilityError,
  type MongoError,
  MongoInvalidArgumentError,
  MongoMissingDependencyError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoParseError,
  MongoRuntimeError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError
} from "mongodb"
import { inspect } from "node:util"
import { classify, classifyWriteError, defect, unknownOutcome } from "../src/driver/classifyError.ts"

const canary = "canary-password"
const context = {
  operation: "updateOne",
  collection: "users",
  redact: (text: string) => text.replaceAll(canary, "<redacted>")
}

const server = (description: ErrorDescription) => new MongoServerError(description)
const code = (number: number, message = "said the server") => classify(server({ message, code: number }), context)
const found = (cause: unknown) => classify(cause, context)

describe("classify, by the server's code", () => {
  it("reads collection, index and fields of a duplicate key from the reply", () => {
    const error = found(server({
      message: "E11000 duplicate key error collection: shop.users index: email_1_city_1 dup key: { email: \"a@b\" }",
      code: 11000,
      keyPattern: { email: 1, city: 1 },
      keyValue: { email: "a@b", city: "Bern" }
    }))
    assert.strictEqual(error?._tag, "DuplicateKey")
    assert.deepStrictEqual({ ...error }, {
      _tag: "DuplicateKey",
      collection: "users",
      index: "email_1_city_1",
      fields: ["email", "city"]
    })
  })

  it("finds the index of a duplicate key beside a collation and in spite of a value that looks like one", () => {
    const error = classifyWriteError(
      11000,
      "E11000 duplicate key error collection: shop.orders.open index: by name collation: { locale: \"de\" } "
        + "dup key: { name: \" index: other dup key: \" }",
      context
    )
    assert.strictEqual(error?._tag, "DuplicateKey")
    assert.deepInclude({ ...error }, { collection: "orders.open", index: "by name", fields: [] })
  })

  it("names the field of a duplicate identifier when the server does not", () => {
    const error = classifyWriteError(
      11000,
      "E11000 duplicate key error collection: shop.users index: _id_ dup key: { _id: 1 }",
      context
    )
    assert.strictEqual(error?._tag, "DuplicateKey")
    assert.deepInclude({ ...error }, { index: "_id_", fields: ["_id"] })
  })

  it.each([
    6,
    7,
    24,
    43,
    46,
    50,
    64,
    89,
    91,
    112,
    117,
    133,
    134,
    175,
    189,
    225,
    251,
    262,
    9001,
    10107,
    11600,
    11602,
    12586,
    12587,
    13435,
    13436
  ])(
    "says that code %i is a matter of time",
    (number) => {
      const error = code(number)
      assert.strictEqual(error?._tag, "StoreUnavailable")
      assert.deepInclude({ ...error }, { operation: "updateOne", detail: "said the server", retryable: true })
    }
  )

  it.each([
    [11, "the configured user is unknown"],
    [13, "the configured user may not do this"],
    [18, "authentication failed"],
    [79, "said the server"],
    [100, "said the server"],
    [8000, "said the server"],
    [14031, "no disk space is left"]
  ])("says that code %i lasts: %s", (number, detail) => {
    const error = code(number)
    assert.strictEqual(error?._tag, "StoreUnavailable")
    assert.deepInclude({ ...error }, { detail, retryable: false })
  })

  it.each([
    2,
    9,
    14,
    15,
    17,
    22,
    27,
    28,
    40,
    52,
    54,
    66,
    67,
    72,
    73,
    85,
    86,
    96,
    146,
    168,
    171,
    197,
    241,
    292,
    10334
  ])(
    "says that code %i is the caller's mistake",
    (number) => {
      const error = code(number)
      assert.strictEqual(error?._tag, "QueryRejected")
      assert.deepInclude({ ...error }, { operation: "updateOne", detail: "said the server" })
    }
  )

  it("reports for code 121 the broken rules, but no values", () => {
    const errInfo = { details: { operatorName: "required", missingProperties: ["age"], consideredValue: "secret" } }
    const error = classify(new MongoServerError({ code: 121, message: "said the server", errInfo }), context)
    assert.deepInclude({ ...error }, {
      _tag: "QueryRejected",
      detail: "the document does not fulfil the rules of its collection: age (required)"
    })
  })

  it.each([40324, 51091, 6108304])("classifies the failed assertion %i as QueryRejected", (number) => {
    assert.strictEqual(code(number)?._tag, "QueryRejected")
  })

  it.each([20, 59, 115, 166, 167, 238, 263, 322, 323, 352])("classifies code %i as Unsupported", (number) => {
    const error = code(number)
    assert.strictEqual(error?._tag, "Unsupported")
    assert.deepInclude({ ...error }, { operation: "updateOne", feature: "said the server" })
  })

  it.each([1, 8, 77, 125])("does not classify code %i", (number) => {
    assert.isUndefined(code(number))
  })

  it("does not classify a failure without a code", () => {
    assert.isUndefined(found(server({ message: "n/a" })))
  })

  it.each(["RetryableWriteError", "RetryableError", "TransientTransactionError", "SystemOverloadedError"])(
    "classifies by the label %s, with any code",
    (label) => {
      const error = found(server({ message: "busy", code: 1, errorLabels: [label] }))
      assert.strictEqual(error?._tag, "StoreUnavailable")
      assert.deepInclude({ ...error }, { detail: "busy", retryable: true })
    }
  )

  it("does not let an error label contradict a rejection", () => {
    const error = found(server({ message: "no", code: 18, errorLabels: ["RetryableError"] }))
    assert.strictEqual(error?._tag, "StoreUnavailable")
    assert.deepInclude({ ...error }, { retryable: false })
  })

  it.each([64, 91, 100, 10107])(
    "says of a write that it is applied whose write concern failed with code %i",
    (number) => {
      const unacknowledged = new MongoWriteConcernError({
        ok: 1,
        writeConcernError: { code: number, errmsg: "said the server" },
        errorLabels: ["RetryableWriteError"]
      })
      const error = classify(unacknowledged, { ...context, isWrite: true })
      assert.strictEqual(error?._tag, "StoreUnavailable")
      assert.deepInclude({ ...error }, { detail: `said the server: ${unknownOutcome}`, retryable: false })
    }
  )
})

describe("classify, by the driver's class", () => {
  // The driver's declarations keep the constructors' arguments to themselves.
  const selection = Reflect.construct(MongoServerSelectionError, ["connect ECONNREFUSED", { error: undefined }])
  const bulk = (cause: Error, insertedCount = 0) =>
    Reflect.construct(MongoBulkWriteError, [cause, { insertedCount, getWriteConcernError: () => {} }])
  const named = (name: string, cause = new Error("pool")) => Object.create(cause, { name: { value: name } })

  it.each<[string, unknown]>([
    ["MongoNetworkError", new MongoNetworkError("closed")],
    ["MongoNetworkTimeoutError", new MongoNetworkTimeoutError("timed out")],
    ["MongoServerSelectionError", selection],
    ["MongoOperationTimeoutError", new MongoOperationTimeoutError("timed out")],
    ["MongoWaitQueueTimeoutError", named("MongoWaitQueueTimeoutError")],
    ["MongoPoolClosedError", named("MongoPoolClosedError")],
    ["an error of the name server", Object.assign(new Error("querySrv ENOTFOUND"), { syscall: "querySrv" })],
    ["a bulk write's MongoNetworkError", bulk(new MongoNetworkError("closed"))]
  ])("says that %s is a matter of time", (_, cause) => {
    const error = found(cause)
    assert.strictEqual(error?._tag, "StoreUnavailable")
    assert.deepInclude({ ...error }, { retryable: true })
  })

  const closed = new MongoNetworkError("connection 1 to localhost:27017 closed")
  const labelled = (cause: MongoError, label: string) => {
    cause.addErrorLabel(label)
    return cause
  }
  const fromSocket = (syscall: string) => Object.assign(new Error("ECONNRESET"), { syscall })

  it.each<[string, unknown]>([
    ["a connection that was closed", closed],
    ["a connection that was reset", new MongoNetworkError("read ECONNRESET", { cause: fromSocket("read") })],
    ["a socket that takes no more", fromSocket("write")],
    ["a time limit", new MongoOperationTimeoutError("timed out")],
    ["a connection that was given up", named("PoolClearedOnNetworkError", closed)],
    ["a bulk write's connection", bulk(closed)],
    ["the second part of a bulk write", bulk(selection, 1)],
    ["a bulk write's second part for which the server is busy", bulk(server({ message: "busy", code: 91 }), 1)]
  ])("says that a write may have been applied that ends with %s", (_, cause) => {
    const error = classify(cause, { ...context, isWrite: true })
    assert.strictEqual(error?._tag, "StoreUnavailable")
    assert.deepInclude({ ...error }, { retryable: false })
    assert.include(error?.message, unknownOutcome)
  })

  it.each<[string, unknown]>([
    ["no server to write to", selection],
    ["no free connection", named("MongoWaitQueueTimeoutError")],
    ["a pool that has no connections any more", named("MongoPoolClearedError", closed)],
    ["no connection", new MongoNetworkError("connect ECONNREFUSED", { cause: fromSocket("connect") })],
    ["no connection in time", new MongoNetworkTimeoutError("Socket 'connect' timed out after 9ms")],
    ["a connection that was closed before it was used", labelled(new MongoNetworkError("closed"), "HandshakeError")],
    ["a server that is busy", server({ message: "busy", code: 91 })],
    ["a name server's error", fromSocket("querySrv")]
  ])("says that a write can be repeated that found %s", (_, cause) => {
    const error = classify(cause, { ...context, isWrite: true })
    assert.strictEqual(error?._tag, "StoreUnavailable")
    assert.deepInclude({ ...error }, { retryable: true })
    assert.notInclude(error?.message, unknownOutcome)
  })

  it.each<[string, unknown]>([
    ["MongoClientClosedError", new MongoClientClosedError()],
    ["MongoNotConnectedError", new MongoNotConnectedError("not connected")],
    ["MongoTopologyClosedError", new MongoTopologyClosedError()],
    ["MongoParseError", new MongoParseError("option foo is not supported")],
    ["a certificate that can't be opened", Object.assign(new Error("open"), { syscall: "open", code: "ENOENT" })]
  ])("says that %s lasts", (_, cause) => {
    const error = found(cause)
    assert.strictEqual(error?._tag, "StoreUnavailable")
    assert.deepInclude({ ...error }, { retryable: false })
  })

  it.each<[string, unknown]>([
    ["MongoInvalidArgumentError", new MongoInvalidArgumentError("Update document requires atomic operators")],
    ["BSONError", new BSONError("Cannot convert circular structure to BSON")],
    ["a document that does not fit", new RangeError("The value of \"offset\" is out of range")],
    ["a bulk write's MongoInvalidArgumentError", bulk(new MongoInvalidArgumentError("no"))]
  ])("says that %s is the caller's mistake", (_, cause) => {
    assert.strictEqual(found(cause)?._tag, "QueryRejected")
  })

  it.each<[string, unknown]>([
    ["MongoCompatibilityError", new MongoCompatibilityError("server too old")],
    [
      "MongoMissingDependencyError",
      new MongoMissingDependencyError("no", { cause: new Error("no"), dependencyName: "kerberos" })
    ]
  ])("says that %s is not to be had here", (_, cause) => {
    assert.strictEqual(found(cause)?._tag, "Unsupported")
  })

  it.each<[string, unknown]>([
    ["MongoRuntimeError", new MongoRuntimeError("should never happen")],
    ["TypeError", new TypeError("x is not a function")],
    ["a thrown string", "oops"]
  ])("does not know what %s means", (_, cause) => {
    assert.isUndefined(found(cause))
  })
})

describe("the message of a failure", () => {
  it.each([
    [28, "Plan executor error during update :: caused by :: Cannot create field 'b' in element {a: \"stored\"}"],
    [2, "Failed to parse: { a: { $foo: \"stored\" } }"],
    [2, "cut off in the middle of { a: \"stored"],
    [241, "Failed to parse number 'stored' in $convert with no onError value"],
    [11000, "E11000 duplicate key error collection: shop.users index: email_1 dup key: { email: \"stored\" }"]
  ])("is free of stored values (code %i)", (number, message) => {
    const error = found(server({ message, code: number, keyPattern: { email: 1 }, keyValue: { email: "stored" } }))
    assert.isDefined(error)
    assert.notInclude(inspect(error, { depth: null }), "stored")
    assert.notInclude(error?.message, "Plan executor")
  })

  it("keeps the text around stored values", () => {
    const error = code(14, "Cannot apply $inc to a non-number. {_id: {a: \"x\"}} has the field 'a' of type string")
    assert.include(error?.message, "Cannot apply $inc to a non-number. {…} has the field 'a' of type string")
  })

  it("is short", () => {
    const error = code(2, "x".repeat(5_000))
    assert.strictEqual(error?._tag, "QueryRejected")
    assert.isBelow(error?.message.length ?? Infinity, 400)
  })

  it.each<[string, unknown]>([
    ["a network failure", new MongoNetworkError(`no route to mongodb://app:${canary}@db/`)],
    ["a server's refusal", server({ message: `bad ${canary}`, code: 2 })],
    ["an argument", new MongoInvalidArgumentError(`bad ${canary}`)],
    ["a connection string", new MongoParseError(`bad mongodb://app:${canary}@db/`)]
  ])("is free of the password, when it is about %s", (_, cause) => {
    const error = found(cause)
    assert.isDefined(error)
    assert.notInclude(inspect(error, { depth: null }), canary)
  })

  it("as a defect has no password and no driver fields, but its stack", () => {
    const cause = server({ message: `bad ${canary} { name: "stored" }`, code: 1, errInfo: { document: "stored" } })
    const clean = defect(cause, context)
    assert.instanceOf(clean, Error)
    assert.strictEqual(clean.message, "MongoServerError 1 (updateOne): bad <redacted> {…}")
    const shown = inspect(clean, { depth: null })
    assert.notInclude(shown, canary)
    assert.notInclude(shown, "stored")
    assert.include(shown, "classifyError.test.ts")
  })

  it("keeps a defect of other code unchanged, unless it shows the password", () => {
    const cause = new TypeError("x is not a function")
    assert.strictEqual(defect(cause, context), cause)
    assert.notInclude(inspect(defect(new TypeError(`Invalid URL: ${canary}`), context)), canary)
  })
})
