import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result, Schema } from "effect"
import { documentPatcher } from "../../../src/Http/request/documentPatch.ts"
import { applyJsonPatch, maxWork, readPatch } from "../../../src/Http/request/jsonPatch.ts"
import { Model } from "../../../src/index.ts"
import { bodyDecoder } from "../../../src/Model/codec/explainer.ts"
import { compileSerialiser } from "../../../src/Model/codec/serialiser.ts"

const limits = { maxOperations: 100, maxCopied: 1_000 }

/** What becomes of a document, or why nothing does. */
const patched = (document: Schema.Json, patch: unknown) =>
  Result.match(readPatch(patch, limits), {
    onFailure: (problems) => ({ problems: problems.map(({ field, message }) => `${field} ${message}`) }),
    onSuccess: (operations) =>
      Result.match(Effect.runSync(applyJsonPatch(operations, document, limits)), {
        onFailure: ({ index, reason }) => ({ index, reason }),
        onSuccess: (result) => ({ result })
      })
  })

describe("a JSON Patch", () => {
  describe("behaves like the examples of RFC 6902, appendix A", () => {
    const baz = { op: "test", path: "/baz", value: "qux" }
    const examples: ReadonlyArray<readonly [name: string, document: Schema.Json, patch: unknown, result: Schema.Json]> =
      [
        ["A.1 adding an object member", { foo: "bar" }, [{ op: "add", path: "/baz", value: "qux" }], {
          baz: "qux",
          foo: "bar"
        }],
        ["A.2 adding an array element", { foo: ["bar", "baz"] }, [{ op: "add", path: "/foo/1", value: "qux" }], {
          foo: ["bar", "qux", "baz"]
        }],
        ["A.3 removing an object member", { baz: "qux", foo: "bar" }, [{ op: "remove", path: "/baz" }], { foo: "bar" }],
        ["A.4 removing an array element", { foo: ["bar", "qux", "baz"] }, [{ op: "remove", path: "/foo/1" }], {
          foo: ["bar", "baz"]
        }],
        ["A.5 replacing a value", { baz: "qux", foo: "bar" }, [{ op: "replace", path: "/baz", value: "boo" }], {
          baz: "boo",
          foo: "bar"
        }],
        [
          "A.6 moving a value",
          { foo: { bar: "baz", waldo: "fred" }, qux: { corge: "grault" } },
          [{ op: "move", from: "/foo/waldo", path: "/qux/thud" }],
          { foo: { bar: "baz" }, qux: { corge: "grault", thud: "fred" } }
        ],
        ["A.7 moving an array element", { foo: ["all", "grass", "cows", "eat"] }, [
          { op: "move", from: "/foo/1", path: "/foo/3" }
        ], { foo: ["all", "cows", "eat", "grass"] }],
        ["A.8 testing a value: success", { baz: "qux", foo: ["a", 2, "c"] }, [baz, {
          op: "test",
          path: "/foo/1",
          value: 2
        }], { baz: "qux", foo: ["a", 2, "c"] }],
        ["A.10 adding a nested member object", { foo: "bar" }, [
          { op: "add", path: "/child", value: { grandchild: {} } }
        ], { foo: "bar", child: { grandchild: {} } }],
        ["A.11 ignoring unrecognised elements", { foo: "bar" }, [
          { op: "add", path: "/baz", value: "qux", xyz: 123 }
        ], { foo: "bar", baz: "qux" }],
        ["A.14 ~ escape ordering", { "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: 10 }], {
          "/": 9,
          "~1": 10
        }],
        ["A.16 adding an array value", { foo: ["bar"] }, [{ op: "add", path: "/foo/-", value: ["abc", "def"] }], {
          foo: ["bar", ["abc", "def"]]
        }]
      ]
    for (const [name, document, patch, result] of examples) {
      it(name, () => {
        const before = structuredClone(document)
        assert.deepStrictEqual(patched(document, patch), { result })
        assert.deepStrictEqual(document, before)
      })
    }

    it("A.9 testing a value: error", () => {
      assert.deepStrictEqual(patched({ baz: "qux" }, [{ op: "test", path: "/baz", value: "bar" }]), {
        index: 0,
        reason: "errors.patch.OtherValue"
      })
    })

    it("A.12 adding to a nonexistent target", () => {
      assert.deepStrictEqual(patched({ foo: "bar" }, [{ op: "add", path: "/baz/bat", value: "qux" }]), {
        index: 0,
        reason: "errors.patch.NothingThere"
      })
    })

    it("A.13 invalid JSON Patch document: a parser of JSON keeps the last of two members of one name", () => {
      const patch: unknown = JSON.parse(`[{"op":"add","path":"/baz","value":"qux","op":"remove"}]`)
      assert.deepStrictEqual(patched({ foo: "bar" }, patch), { index: 0, reason: "errors.patch.NothingThere" })
    })

    it("A.15 comparing strings and numbers", () => {
      assert.deepStrictEqual(patched({ "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: "10" }]), {
        index: 0,
        reason: "errors.patch.OtherValue"
      })
    })
  })

  it("compares values by type and content, in any order of their members", () => {
    const document = { a: { b: 1, c: [1, { d: null }] }, zero: 0 }
    const tests = [
      { op: "test", path: "/a", value: { c: [1, { d: null }], b: 1 } },
      { op: "test", path: "/zero", value: -0 },
      { op: "test", path: "", value: document }
    ]
    assert.deepStrictEqual(patched(document, tests), { result: document })
    for (const value of [{ b: 1 }, { b: 1, c: [1, {}] }, { b: 1, c: { 0: 1, 1: { d: null } } }, null]) {
      assert.property(patched(document, [{ op: "test", path: "/a", value }]), "index")
    }
  })

  it("reports the problems of each operation", () => {
    assert.deepStrictEqual(
      patched({}, [
        { op: "add", path: "/a" },
        { op: "add", path: "a", value: 1 },
        { op: "add", path: "/~2", value: 1 },
        { op: "copy", path: "/a" },
        { op: "merge", path: "/a" },
        { path: "/a" },
        { op: "move", from: "/a", path: "/a/b" },
        "add",
        { op: "toString", path: "/a" }
      ]),
      {
        problems: [
          "0.value must be given",
          "1.path must be a JSON Pointer",
          "2.path must be a JSON Pointer",
          "3.from must be given",
          "4.op must be add, remove, replace, move, copy or test",
          "5.op must be given",
          "6.path must not lie within from",
          "7 must be an object",
          "8.op must be add, remove, replace, move, copy or test"
        ]
      }
    )
    assert.deepStrictEqual(patched({}, { op: "add" }), { problems: [" must be a list of operations"] })
    assert.deepStrictEqual(patched({}, Array.from({ length: 101 }, () => ({ op: "remove", path: "/a" }))), {
      problems: [" must have at most 100 elements"]
    })
  })

  it("accesses the document's own members only", () => {
    const pointers = [
      "/__proto__/x",
      "/constructor/prototype/x",
      "/toString",
      "/l/length",
      "/l/__proto__",
      "/l/01",
      "/l/-1",
      "/l/-",
      "/l/1e0",
      `/l/${"9".repeat(400)}`,
      "/l/4294967296",
      "/s/0",
      "/n/x",
      "//"
    ]
    for (const path of pointers) {
      for (const op of ["remove", "replace", "test"]) {
        const document = { l: [1, 2], s: "text", n: null }
        assert.deepStrictEqual(patched(document, [{ op, path, value: 1 }]), {
          index: 0,
          reason: "errors.patch.NothingThere"
        }, `${op} ${path}`)
      }
      for (const op of ["move", "copy"]) {
        assert.property(patched({ l: [1, 2], s: "text", n: null }, [{ op, from: path, path: "/x" }]), "index")
      }
    }
    assert.isUndefined(Reflect.get({}, "x"))
    const named = patched({}, JSON.parse(`[{"op":"add","path":"/__proto__","value":{"x":1}}]`))
    assert.strictEqual(JSON.stringify(named), `{"result":{"__proto__":{"x":1}}}`)
    assert.isUndefined(Reflect.get({}, "x"))
  })

  it("can't grow by copies of copies", () => {
    const doubling = Array.from({ length: 90 }, () => ({ op: "copy", from: "/a", path: "/a/-" }))
    const outcome = patched({ a: [1] }, doubling)
    assert.propertyVal(outcome, "reason", "errors.patch.CopiesTooLarge")
  })
})

describe("a JSON Patch of a long list", () => {
  const list = (length: number) => ({ roles: Array.from({ length }, (_, i) => i) })
  const many = (operation: object, count: number) =>
    Effect.fromResult(readPatch(Array.from({ length: count }, () => operation), { maxOperations: count }))

  it.live("yields to other fibers between its operations", () =>
    Effect.gen(function*() {
      const document = list(150_000)
      for (
        const [operation, length] of [
          [{ op: "add", path: "/roles/0", value: -1 }, 151_000],
          [{ op: "remove", path: "/roles/0" }, 149_000],
          [{ op: "move", from: "/roles/0", path: "/roles/149999" }, 150_000]
        ] as const
      ) {
        const operations = yield* many(operation, 1_000)
        let turns = 0
        const turn = Effect.callback<void>((resume) => {
          setImmediate(() => {
            turns++
            resume(Effect.void)
          })
        })
        const other = yield* Effect.forkChild(Effect.forever(turn))
        const applied = yield* applyJsonPatch(operations, document, limits)
        yield* Fiber.interrupt(other)
        const result = Result.getOrThrow(applied) as ReturnType<typeof list>
        assert.strictEqual(result.roles.length, length)
        // Some 150 million elements are shifted, little more than a million of them in one turn of the loop.
        assert.isAtLeast(turns, 50)
      }
      assert.strictEqual(document.roles[0], 0)
      assert.strictEqual(document.roles.length, 150_000)
    }))

  it.live("is not applied beyond a limit of work", () =>
    Effect.gen(function*() {
      const document = list(1_000_000)
      const operations = yield* many({ op: "add", path: "/roles/0", value: -1 }, 300)
      const { index, reason } = yield* Effect.flip(
        Effect.flatMap(applyJsonPatch(operations, document, limits), Effect.fromResult)
      )
      assert.strictEqual(reason, "errors.patch.TooMuchWork")
      assert.isBelow(index, maxWork / 1_000_000)
    }))

  it("changes only one copy of a copied value", () => {
    const patch = [
      { op: "copy", from: "/a", path: "/b" },
      { op: "add", path: "/a/x/-", value: 1 },
      { op: "copy", from: "/a/x", path: "/c" },
      { op: "add", path: "/c/-", value: 2 },
      { op: "move", from: "/a/x", path: "/d" },
      { op: "add", path: "/d/-", value: 3 }
    ]
    assert.deepStrictEqual(patched({ a: { x: [0] } }, patch), {
      result: { a: {}, b: { x: [0] }, c: [0, 1, 2], d: [0, 1, 3] }
    })
  })
})

class Key extends Model.Class<Key>()("Key", {
  label: Schema.String,
  note: Schema.String.pipe(Model.optional),
  secret: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

class Plain extends Model.Class<Plain>()("Plain", {
  text: Schema.String,
  tags: Schema.Array(Schema.String).pipe(Model.optional)
}) {}

class Account extends Model.Class<Account>()("Account", {
  id: Model.id(),
  name: Schema.String,
  nick: Schema.String.pipe(Model.optional),
  logins: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  born: Model.Date.pipe(Model.optional),
  password: Schema.String.pipe(Model.omitted),
  pin: Schema.Int.pipe(Model.optional, Model.omitted),
  key: Key.pipe(Model.optional),
  keys: Schema.Array(Key).pipe(Model.withDefault(() => [])),
  plain: Plain.pipe(Model.optional),
  plains: Schema.Array(Plain).pipe(Model.withDefault(() => [])),
  labels: Schema.Record(Schema.String, Schema.Unknown).pipe(Model.optional),
  ...Model.versioned
}) {}

const stored = {
  _id: "A1",
  name: "Jane",
  logins: ["a", "b"],
  born: new Date("2000-01-02"),
  password: "CANARY",
  pin: 7,
  key: { label: "k", note: "n", secret: "CANARY" },
  keys: [{ label: "one", secret: "CANARY" }],
  plain: { text: "t", tags: ["x"] },
  plains: [{ text: "t" }],
  labels: { a: 1 },
  version: 3
}

const serialise = compileSerialiser(Account)

const patcher = documentPatcher(Account, {
  ...limits,
  decode: bodyDecoder(Account.patch),
  maxDepth: 16
})

/** What a patch makes of the account: its changes, or what is wrong. */
const changesBy = (patch: ReadonlyArray<unknown>) =>
  Effect.gen(function*() {
    const operations = yield* Effect.fromResult(patcher.read(patch))
    return yield* patcher.changesOf(operations, stored, serialise)
  })

const refusalOf = (patch: ReadonlyArray<unknown>) =>
  Effect.map(
    Effect.flip(changesBy(patch)),
    (error) => "_tag" in error ? error.message : error.map(({ field, message }) => `${field} ${message}`).join("; ")
  )

describe("a JSON Patch of a document", () => {
  it.effect("changes only the addressed values", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* changesBy([
          { op: "test", path: "/version", value: 3 },
          { op: "test", path: "/_type", value: "Account" },
          { op: "test", path: "/born", value: "2000-01-02" },
          { op: "replace", path: "/name", value: "Joan" },
          { op: "add", path: "/logins/-", value: "c" },
          { op: "remove", path: "/key/note" },
          { op: "add", path: "/plain/tags/0", value: "w" },
          { op: "copy", from: "/name", path: "/nick" },
          { op: "copy", from: "/id", path: "/labels/id" },
          { op: "remove", path: "/plains/0" }
        ]),
        {
          name: "Joan",
          nick: "Joan",
          logins: ["a", "b", "c"],
          key: { note: null },
          plain: { tags: ["w", "x"] },
          plains: [],
          labels: { a: 1, id: "A1" }
        }
      )
      assert.deepStrictEqual(yield* changesBy([]), {})
      assert.deepStrictEqual(yield* changesBy([{ op: "replace", path: "/name", value: "Jane" }]), {})
    }))

  it.effect("sets and removes omitted fields, present or not", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* changesBy([
          { op: "replace", path: "/password", value: "new" },
          { op: "remove", path: "/pin" },
          { op: "add", path: "/key/secret", value: "new" }
        ]),
        { password: "new", pin: null, key: { secret: "new" } }
      )
      assert.deepStrictEqual(yield* changesBy([{ op: "copy", from: "/name", path: "/password" }]), { password: "Jane" })
    }))

  it.effect("reveals nothing about omitted fields", () =>
    Effect.gen(function*() {
      const unreadable: ReadonlyArray<unknown> = [
        { op: "test", path: "/password", value: "CANARY" },
        { op: "copy", from: "/password", path: "/name" },
        { op: "move", from: "/password", path: "/name" },
        { op: "copy", from: "/key", path: "/labels/key" },
        { op: "move", from: "/key/secret", path: "/name" },
        { op: "copy", from: "/keys", path: "/labels/keys" },
        { op: "copy", from: "/keys/0", path: "/key" },
        { op: "test", path: "/keys/0/secret", value: "CANARY" }
      ]
      for (const operation of unreadable) {
        assert.match(yield* refusalOf([operation]), /^0\.(path|from) leads to what can't be read$/u)
      }
      // To set it doesn't make it readable.
      assert.match(
        yield* refusalOf([{ op: "add", path: "/password", value: "x" }, { op: "test", path: "/password", value: "x" }]),
        /^1\.path leads to what can't be read$/u
      )
      // The visible part of a document is what a test is about.
      assert.deepStrictEqual(
        yield* changesBy([{ op: "test", path: "/key", value: { _type: "Key", label: "k", note: "n" } }]),
        {}
      )
    }))

  it.effect("does not change managed fields, or values that would be lost", () =>
    Effect.gen(function*() {
      const refusals: ReadonlyArray<readonly [unknown, string]> = [
        [{ op: "replace", path: "/id", value: "A2" }, "0.path leads to what can't be changed"],
        [{ op: "replace", path: "/version", value: 4 }, "0.path leads to what can't be changed"],
        [{ op: "remove", path: "/_type" }, "0.path leads to what can't be changed"],
        [{ op: "move", from: "/id", path: "/name" }, "0.from leads to what can't be changed"],
        [{ op: "add", path: "/key/_type", value: "x" }, "0.path leads to what can't be changed"],
        [{ op: "replace", path: "", value: {} }, "0.path must not be the whole document"],
        [{ op: "copy", from: "", path: "/labels/all" }, "0.from must not be the whole document"],
        [{ op: "add", path: "/_links", value: {} }, "0.path leads to no field of the model"],
        [{ op: "add", path: "/__proto__", value: {} }, "0.path leads to no field of the model"],
        [{ op: "add", path: "/key/__proto__/x", value: 1 }, "0.path leads to no field of the model"],
        [{ op: "add", path: "/constructor", value: {} }, "0.path leads to no field of the model"],
        [
          { op: "add", path: "/keys/-", value: { label: "two" } },
          "0.path leads into a list that can only be replaced as a whole"
        ],
        [
          { op: "replace", path: "/keys/0/label", value: "x" },
          "0.path leads into a list that can only be replaced as a whole"
        ],
        [{ op: "add", path: "/pin/x", value: 1 }, "0.path leads into what can only be set as a whole"]
      ]
      for (const [operation, message] of refusals) assert.strictEqual(yield* refusalOf([operation]), message)
    }))

  it.effect("is validated by the model like a merge patch", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(changesBy([
        { op: "replace", path: "/name", value: 1 },
        { op: "add", path: "/plains/-", value: {} },
        { op: "replace", path: "/born", value: "2000-13-01" }
      ]))
      assert.deepStrictEqual(
        "_tag" in error && error._tag === "BadRequest" ? error.errors.map(({ field }) => field) : error,
        ["name", "born", "plains.1.text"]
      )
      const tower = `${`{"a":`.repeat(20)}1${"}".repeat(20)}`
      assert.match(
        yield* refusalOf([{ op: "add", path: "/labels/deep", value: JSON.parse(tower) }]),
        /must not be nested more than 16 levels deep/u
      )
    }))

  it.effect("is a conflict if it can't be applied, and names the operation", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(changesBy([
        { op: "test", path: "/name", value: "Jane" },
        { op: "test", path: "/version", value: 2 }
      ]))
      assert.include(error, { _tag: "Conflict" })
      assert.strictEqual(
        "message" in error ? error.message : "",
        "Operation 1 (test /version) can't be applied: the value there is another one"
      )
      assert.include(yield* Effect.flip(changesBy([{ op: "remove", path: "/nick" }])), { _tag: "Conflict" })
      assert.include(yield* Effect.flip(changesBy([{ op: "add", path: "/logins/9", value: "x" }])), {
        _tag: "Conflict"
      })
    }))

  it.effect("ignores unknown members of nested values, as in every body", () =>
    Effect.gen(function*() {
      const value: unknown = JSON.parse(`{"text":"u","__proto__":{"tags":[]},"more":1}`)
      assert.deepStrictEqual(yield* changesBy([{ op: "replace", path: "/plain", value }]), {
        plain: { text: "u", tags: null }
      })
    }))
})
