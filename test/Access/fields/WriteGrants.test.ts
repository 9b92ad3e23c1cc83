/** Writes of callers with any grants, compared with an independent model: one grant alone allows all of a write. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { KernelEngine, Model, type Query, Repository, Resource, Role } from "../../../src/index.ts"
import { sendTo, signedAs } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"
import { shop } from "../../support/tokens.ts"

const memoryRuns = Number(process.env["DIFFERENTIAL_RUNS"] ?? 60)

class Note extends Model.Class<Note>()("Note", { text: Schema.String, secret: Schema.String }) {}

class Line extends Model.Class<Line>()("Line", {
  sku: Schema.String,
  cost: Schema.Int.pipe(Model.withDefault(() => 0))
}) {}

const values = {
  owner: Schema.String,
  approved: Schema.Boolean.pipe(Model.withDefault(() => false)),
  score: Schema.Int.pipe(Model.withDefault(() => 0)),
  note: Note,
  lines: Schema.Array(Line).pipe(Model.withDefault(() => []))
}

class Order extends Model.Class<Order>()("Order", { id: Model.id(), ...values }) {}

const Owner = Schema.Literals(["a", "b", "c"])

const upTo = <S extends Schema.Top>(count: number, item: S) => Schema.Array(item).check(Schema.isMaxLength(count))

const someOwners = Schema.NullOr(upTo(2, Owner).check(Schema.isMinLength(1)))

const Name = Schema.Literals(["approved", "score", "note.text", "note", "lines.cost", "lines"])

const Granted = Schema.Struct({
  methods: upTo(4, Schema.Literals(["GET", "POST", "PUT", "PATCH", "assign"])).check(Schema.isMinLength(1)),
  rows: someOwners,
  check: someOwners,
  readOnly: upTo(2, Name),
  hide: upTo(1, Schema.Literals(["score", "note.text", "lines.cost"]))
})

type Granted = typeof Granted.Type

const Case = Schema.Struct({
  grants: Schema.Tuple([Granted, Granted, Granted, Granted]),
  held: upTo(4, Schema.Literals([0, 1, 2, 3])),
  stored: Schema.Struct({ owner: Owner, approved: Schema.Boolean, score: Schema.Literals([0, 1]) }),
  change: Schema.Struct({
    owner: Schema.optionalKey(Owner),
    approved: Schema.optionalKey(Schema.Boolean),
    score: Schema.optionalKey(Schema.Literals([0, 1])),
    text: Schema.optionalKey(Schema.Literals(["old", "new"])),
    line: Schema.optionalKey(Schema.Struct({ cost: Schema.optionalKey(Schema.Literals([0, 7])) }))
  }),
  /** A field that a replacement leaves out. */
  without: Schema.NullOr(Schema.Literals(["approved", "score"]))
})

interface Values {
  readonly owner: string
  readonly approved?: boolean
  readonly score?: number
  readonly note: { readonly text?: string; readonly secret: string }
  readonly lines: ReadonlyArray<{ readonly sku: string; readonly cost?: number }>
}

type Change = (typeof Case.Type)["change"]

/** The rule as a table of fields: what was sent, what is stored, and what is stored if it is neither sent nor kept. */
const scalars = [
  { name: "owner", of: (order: Values) => order.owner, initial: undefined },
  { name: "approved", of: (order: Values) => order.approved, initial: false },
  { name: "score", of: (order: Values) => order.score, initial: 0 },
  { name: "note.text", of: (order: Values) => order.note.text, initial: undefined }
] as const

const isWithin = (name: string, names: ReadonlyArray<string>) =>
  names.some((other) => name === other || name.startsWith(`${other}.`))

const reaches = ({ rows }: Granted, { owner }: Pick<Values, "owner">) =>
  rows === null || rows.some((one) => one === owner)

const mayLeave = ({ check, rows }: Granted, { owner }: Pick<Values, "owner">) => {
  const owners = check ?? rows
  return owners === null || owners.some((one) => one === owner)
}

const unwritable = ({ hide, readOnly }: Granted) => [...hide, ...readOnly]

const changed = (order: Values, { approved, line, owner, score, text }: Change): Values => ({
  owner: owner ?? order.owner,
  ...(approved ?? order.approved) === undefined ? {} : { approved: approved ?? order.approved! },
  ...(score ?? order.score) === undefined ? {} : { score: score ?? order.score! },
  note: text === undefined ? order.note : { ...order.note, text },
  lines: line === undefined ? order.lines : [...order.lines, { sku: "added", ...line }]
})

const resource = Resource.make(Order, { methods: ["GET", "POST", "PUT", "PATCH"] })
  .action(
    "assign",
    {
      payload: {
        by: Schema.Literals(["patch", "update", "insert"]),
        owner: Schema.optionalKey(Schema.String),
        approved: Schema.optionalKey(Schema.Boolean)
      },
      success: Schema.Int
    },
    (order, { payload: { by, ...values } }) =>
      Effect.gen(function*() {
        const orders = yield* Repository.for(Order)
        if (by === "patch") yield* orders.patch(order.id, values)
        else if (by === "insert") yield* orders.insert(new Order({ ...order, ...values, id: `${order.id}-copy` }))
        else {
          const { matchedCount } = yield* orders.updateMany(($) => $.id.equals(order.id), ($) => [
            $.score.increment(1),
            ...values.owner === undefined ? [] : [$.owner.set(values.owner)],
            ...values.approved === undefined ? [] : [$.approved.set(values.approved)]
          ])
          return matchedCount
        }
        return 1
      })
  )

const optionsOf = ({ check, hide, methods, readOnly, rows }: Granted) => ({
  methods,
  hide,
  readOnly,
  rows: rows === null ? undefined : () => of(rows),
  check: check === null ? undefined : () => of(check)
})

const of = (owners: ReadonlyArray<string>): Query.Where<typeof Order> => ($) => $.owner.in(owners)

const multipart = "multipart/form-data; boundary=x"

const formOf = ({ approved, lines, note, owner, score }: Values) =>
  [
    ["owner", owner],
    ["note.secret", note.secret],
    ...note.text === undefined ? [] : [["note.text", note.text]],
    ...approved === undefined ? [] : [["approved", String(approved)]],
    ...score === undefined ? [] : [["score", String(score)]],
    ["lines", JSON.stringify(lines)]
  ].map(([name, value]) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join("") +
  "--x--\r\n"

routeStores((name, store) => {
  const runs = name === "memory" ? memoryRuns : Math.ceil(memoryRuns / 4)
  it.layer(shop("EdDSA"))(`Grants for writes / ${name}`, (it) => {
    it.effect.prop(
      "one grant alone reaches the document, and allows the fields and what is left behind",
      [Case],
      ([{ change, grants, held, stored, without }]) =>
        Effect.scoped(Effect.gen(function*() {
          const engine = KernelEngine.make("shop").register(
            resource
              .grant(Role("r0"), optionsOf(grants[0]))
              .grant(Role("r1"), optionsOf(grants[1]))
              .grant(Role("r2"), optionsOf(grants[2]))
              .grant(Role("r3"), optionsOf(grants[3]))
          ).enableSecurity()
          const { baseUrl, repositories: { orders } } = yield* engine.test({ store: Layer.fresh(store) })
          const token = yield* signedAs("me", ...held.map((i) => `r${i}`))
          const own = [...new Set(held)].map((i) => grants[i])
          const ownFor = (method: Granted["methods"][number]) => own.filter(({ methods }) => methods.includes(method))
          const call = (method: string, path: string, body: unknown, type = "application/json") =>
            sendTo(baseUrl, method, `/orders${path}`, body, { ...token, "content-type": type })

          const before: Values = {
            ...stored,
            note: { text: "old", secret: "s" },
            lines: [{ sku: "one", cost: 3 }, { sku: "two", cost: 4 }]
          }
          const instance = (id: string, order: Values) =>
            Model.finalise(Order, {
              ...order,
              id,
              note: { text: "old", ...order.note },
              lines: order.lines.map((line) => ({ ...line }))
            })
          const plain = ({ approved, lines, note, owner, score }: Order): Values => ({
            owner,
            approved,
            score,
            note: { text: note.text, secret: note.secret },
            lines: lines.map(({ cost, sku }) => ({ sku, cost }))
          })
          yield* orders.insert(yield* instance("O1", before))
          const current = Effect.map(orders.findById("O1"), plain)
          const restored = Effect.flatMap(instance("O1", before), orders.save)
          const seeing = ownFor("GET").filter((grant) => reaches(grant, before))
          const isHidden = (name: string) => seeing.every(({ hide }) => isWithin(name, hide))
          const about = (what: string, text: string) =>
            `${what} ${JSON.stringify({ change, stored, own, without })} ${text}`

          /** What the write by one grant makes of the stored order; `undefined` if the grant does not allow it. */
          const written = (grant: Granted, sent: Values, isWhole: boolean): Values | undefined => {
            const taken = unwritable(grant)
            const result: Record<string, unknown> = {}
            for (const { initial, name, of } of scalars) {
              const [value, old] = [of(sent), of(before)]
              const isTaken = isWithin(name, taken)
              if (value !== undefined && isTaken && (isHidden(name) || value !== old)) return undefined
              const isKept = value === undefined && (!isWhole || isTaken || isHidden(name))
              result[name] = isKept || isTaken ? old : value ?? initial
            }
            const added = sent.lines.length > before.lines.length
            if (added && isWithin("lines", taken)) return undefined
            const line = sent.lines.find(({ sku }) => sku === "added")
            if (line?.cost !== undefined && isWithin("lines.cost", taken)) return undefined
            const after: Values = {
              owner: String(result["owner"]),
              approved: result["approved"] === true,
              score: Number(result["score"]),
              note: { text: String(result["note.text"]), secret: "s" },
              lines: [...before.lines, ...line === undefined ? [] : [{ sku: "added", cost: line.cost ?? 0 }]]
            }
            return mayLeave(grant, after) ? after : undefined
          }
          const assertOneOf = (
            what: string,
            { status, text }: { readonly status: number; readonly text: string },
            allowed: ReadonlyArray<Values | undefined>,
            isReached: boolean,
            writesNothing = false
          ) =>
            Effect.gen(function*() {
              const outcomes = allowed.filter((outcome) => outcome !== undefined)
              const after = yield* current
              if (outcomes.length === 0) {
                assert.include(
                  [403, ...isReached ? [] : [404], ...writesNothing ? [200] : []],
                  status,
                  about(what, text)
                )
                assert.deepStrictEqual(after, before, about(what, text))
              } else {
                assert.strictEqual(status, 200, about(what, text))
                assert.deepInclude(outcomes, after, about(what, text))
              }
              yield* restored
            })

          // Changes: callers send what they see of what they name.
          const seenLines = before.lines.map(({ cost, sku }) => isHidden("lines.cost") ? { sku } : { sku, cost: cost! })
          if (seeing.length > 0) {
            const seen: Values = { ...before, lines: seenLines }
            const sent = changed(seen, change)
            const patch = {
              ...change.owner === undefined ? {} : { owner: change.owner },
              ...change.approved === undefined ? {} : { approved: change.approved },
              ...change.score === undefined ? {} : { score: change.score },
              ...change.text === undefined ? {} : { note: { text: change.text } },
              ...change.line === undefined ? {} : { lines: sent.lines }
            }
            const named: Values = {
              owner: change.owner ?? before.owner,
              ...change.approved === undefined ? {} : { approved: change.approved },
              ...change.score === undefined ? {} : { score: change.score },
              note: { secret: "s", ...change.text === undefined ? {} : { text: change.text } },
              lines: sent.lines
            }
            const patching = ownFor("PATCH").filter((grant) => reaches(grant, before))
            if (Object.keys(patch).length > 0) {
              const allowed = patching.map((grant) => written(grant, named, false))
              // A patch without a change writes nothing.
              const writesNothing = change.line === undefined &&
                scalars.every(({ of }) => of(named) === undefined || of(named) === of(before))
              yield* assertOneOf(
                "PATCH",
                yield* call("PATCH", "/O1", patch),
                allowed,
                patching.length > 0,
                writesNothing
              )
              if (!["score", "note.text", "lines.cost"].some(isHidden)) {
                const operations = [
                  ...["owner", "approved", "score"].flatMap((name) => {
                    const value: unknown = Reflect.get(change, name)
                    return value === undefined ? [] : [{ op: "replace", path: `/${name}`, value }]
                  }),
                  ...change.text === undefined ? [] : [{ op: "replace", path: "/note/text", value: change.text }],
                  ...change.line === undefined
                    ? []
                    : [{ op: "add", path: "/lines/-", value: { sku: "added", ...change.line } }]
                ]
                yield* assertOneOf(
                  "JSON Patch",
                  yield* call("PATCH", "/O1", operations, "application/json-patch+json"),
                  allowed,
                  patching.length > 0,
                  writesNothing
                )
              }
            }

            const replacing = ownFor("PUT").filter((grant) => reaches(grant, before))
            const { approved, score, ...others } = sent
            const body: Values = {
              ...others,
              ...without === "approved" ? {} : { approved: approved! },
              ...without === "score" || isHidden("score") && change.score === undefined ? {} : { score: score! },
              note: isHidden("note.text") && change.text === undefined ? { secret: "s" } : sent.note
            }
            yield* assertOneOf(
              "PUT",
              yield* call("PUT", "/O1", body),
              replacing.map((grant) => written(grant, body, true)),
              replacing.length > 0
            )

            // A POST that replaces needs a grant to insert and one to replace, with the same fields.
            const allows = (grant: Granted) => reaches(grant, before) && written(grant, body, true) !== undefined
            const [posting, putting] = [ownFor("POST"), ownFor("PUT")]
            const { status, text } = yield* call("POST", "", { ...body, id: "O1" })
            if (status === 200) {
              assert.isTrue(posting.some(allows) && putting.some(allows), about("POST of an identifier", text))
              const outcomes = posting.map((grant) => written(grant, body, true)).filter((one) => one !== undefined)
              assert.deepInclude(outcomes, yield* current, about("POST of an identifier", text))
            } else {
              assert.deepStrictEqual(yield* current, before, about("POST of an identifier", text))
              const areSame = posting.length === putting.length && posting.every((grant) => putting.includes(grant))
              assert.isFalse(areSame && posting.some(allows), about("POST of an identifier", text))
            }
            yield* restored
          }

          // Insertions: one, several, and a form.
          const fresh: Values = { owner: stored.owner, note: { text: "t", secret: "s" }, lines: [] }
          const inserting = changed(fresh, change)
          const mayInsert = (order: Values) =>
            ownFor("POST").some((grant) => {
              const taken = unwritable(grant)
              return mayLeave(grant, order) && !isWithin("note", taken) && !isWithin("lines", taken) &&
                scalars.every(({ name, of }) => of(order) === undefined || !isWithin(name, taken)) &&
                order.lines.every(({ cost }) => cost === undefined || !isWithin("lines.cost", taken))
            })
          const count = orders.count()
          const assertInserted = (
            what: string,
            { status, text }: { readonly status: number; readonly text: string },
            expected: number
          ) =>
            Effect.gen(function*() {
              assert.strictEqual(status, expected > 0 ? 201 : 403, about(what, text))
              assert.strictEqual(yield* count, 1 + expected, about(what, text))
              yield* orders.deleteMany(($) => $.id.notEquals("O1"))
            })
          const isAllowed = mayInsert(inserting)
          yield* assertInserted("POST", yield* call("POST", "", inserting), isAllowed ? 1 : 0)
          yield* assertInserted("form", yield* call("POST", "", formOf(inserting), multipart), isAllowed ? 1 : 0)
          for (const second of [fresh, { ...inserting, owner: "c" }]) {
            const areAllowed = isAllowed && mayInsert(second)
            yield* assertInserted("list", yield* call("POST", "", [inserting, second]), areAllowed ? 2 : 0)
          }

          // In a handler, grants give rows and checks.
          const read = ownFor("GET")
          const addressed = ownFor("assign").filter((grant) =>
            reaches(grant, before) && (read.length === 0 || seeing.length > 0)
          )
          for (const by of ["patch", "update", "insert"] as const) {
            const { approved, owner } = change
            const values = {
              by,
              ...owner === undefined ? {} : { owner },
              ...approved === undefined ? {} : { approved }
            }
            const after = { owner: owner ?? before.owner }
            const isChange = (approved ?? before.approved) !== before.approved || after.owner !== before.owner
            const kind = own.filter(({ methods }) =>
              by === "insert" ? methods.includes("POST") : methods.includes("PUT") || methods.includes("PATCH")
            )
            const general = kind.length > 0 ? kind : read
            const isGranted = by === "insert"
              ? [...general, ...ownFor("assign")].some((grant) => mayLeave(grant, after))
              : [...general.filter((grant) => reaches(grant, before)), ...addressed].some((grant) =>
                mayLeave(grant, after)
              )
            const { status, text } = yield* call("POST", "/O1/assign", values)
            if (addressed.length === 0) assert.include([403, 404], status, about(by, text))
            else if (isGranted) assert.strictEqual(status, 200, about(by, text))
            else if (isChange || by === "insert") assert.strictEqual(status, 403, about(by, text))
            const stored = yield* current
            if (by === "insert") {
              assert.strictEqual(yield* count, status === 200 ? 2 : 1, about(by, text))
              yield* orders.deleteMany(($) => $.id.notEquals("O1"))
            } else {
              const isWritten = status === 200
              assert.strictEqual(stored.owner, isWritten ? after.owner : before.owner, about(by, text))
              assert.strictEqual(
                stored.approved,
                isWritten ? approved ?? before.approved : before.approved,
                about(by, text)
              )
            }
            yield* restored
          }
        })),
      { arbitrary: { runs } }
    )
  })
})
