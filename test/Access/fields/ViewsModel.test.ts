/** Any requests of any callers compared with a list that is filtered and whose fields are deleted. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { DocumentStore, Model, Resource } from "../../../src/index.ts"
import { type Answer, type Method, send } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"
import { type Granted, servingViewed, type View } from "../../support/viewed.ts"

class Nested extends Model.Class<Nested>()("Nested", {
  x: Schema.Int,
  y: Schema.String.pipe(Model.optional)
}) {}

class Item extends Model.Class<Item>()("Item", {
  id: Model.id(),
  p: Schema.Int,
  q: Schema.Int.pipe(Model.withDefault(() => 0))
}) {}

class Sample extends Model.Class<Sample>()("Sample", {
  id: Model.id(),
  team: Schema.String,
  a: Schema.Int,
  b: Schema.String.pipe(Model.withDefault(() => "")),
  n: Nested.pipe(Model.optional),
  items: Schema.Array(Item).pipe(Model.withDefault(() => []))
}) {}

type Json = { readonly [key: string]: unknown }

const few = <const A extends ReadonlyArray<string | number>>(...values: A) => Schema.Literals(values)

const upTo = <S extends Schema.Top>(count: number, item: S) => Schema.Array(item).check(Schema.isMaxLength(count))

const Number = few(0, 1, 2)

const names = ["a", "b", "n", "n.x", "n.y", "items", "items.p", "items.q"] as const

const Name = Schema.Literals(names)

/** The fields that requests compare and sort by. */
const scalars = ["a", "b", "n.x", "n.y"] as const

const Team = few("red", "blue", "green")

const Granted = Schema.Struct({
  hide: upTo(3, Name),
  readOnly: upTo(2, Name),
  teams: Schema.NullOr(upTo(3, Team))
})

const Case = Schema.Struct({
  documents: upTo(
    5,
    Schema.Struct({
      team: Team,
      a: Number,
      b: few("", "u", "v"),
      n: Schema.optionalKey(Schema.Struct({ x: Number, y: Schema.optionalKey(few("", "u", "v")) })),
      items: upTo(2, Schema.Struct({ p: Number, q: Number }))
    })
  ),
  grants: upTo(3, Granted),
  /** The grants for reading; `null`: the same as for writing. */
  reading: Schema.NullOr(upTo(2, Granted)),
  filters: upTo(2, Schema.Struct({ name: Schema.Literals(scalars), not: Schema.Boolean, value: Number })),
  sort: Schema.NullOr(Schema.Struct({ name: Schema.Literals(scalars), down: Schema.Boolean })),
  fields: Schema.NullOr(upTo(2, Name)),
  change: Schema.Struct({ name: Schema.Literals(scalars), value: Number })
})

const isWithin = (name: string, others: ReadonlyArray<string>) =>
  others.some((other) => name === other || name.startsWith(`${other}.`))

const valueAt = (value: unknown, name: string): unknown =>
  name === "" ? value : name.split(".").reduce<unknown>((node, key) => Object(node)[key], value)

const without = (value: unknown, name: string): unknown => {
  const [key = "", ...rest] = name.split(".")
  if (Array.isArray(value)) return value.map((item: unknown) => without(item, name))
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return value
  const { [key]: part, ...others } = value as Json
  return rest.length === 0 ? others : { ...value, [key]: without(part, rest.join(".")) }
}

/** Changes keep the order of the fields. */
const withValue = (value: unknown, name: string, next: unknown): unknown => {
  const [key = "", ...rest] = name.split(".")
  return { ...Object(value), [key]: rest.length === 0 ? next : withValue(Object(value)[key], rest.join("."), next) }
}

const textValue = ["", "u", "v"]

const typed = (name: string, value: number) => name === "b" || name === "n.y" ? textValue[value]! : value

const resource = Resource.make(Sample, { methods: ["GET", "POST", "PUT", "PATCH"] })

const all: Granted = { fields: undefined, rows: undefined }

const callers = new Map<string, View>([["admin", { read: [all], write: [all] }]])

const heldOf = (grants: ReadonlyArray<typeof Granted.Type>, first: number) =>
  grants.map(({ hide, readOnly, teams }, i) => ({
    teams,
    hide,
    unwritable: [...hide, ...readOnly],
    grant: {
      id: first + i,
      fields: hide.length + readOnly.length === 0 ? undefined : { hide, readOnly },
      rows: teams === null ? undefined : { team: { $in: teams } }
    }
  }))

const parentOf = (name: string) => name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : ""

const compare = (left: unknown, right: unknown): number => {
  if (left === right) return 0
  if (left === undefined || right === undefined) return left === undefined ? -1 : 1
  return (left as never) < (right as never) ? -1 : 1
}

const plain = (document: Json): Json => Object.fromEntries(Object.entries(document).filter(([key]) => key !== "_links"))

routeStores((name, store) => {
  const runs = name === "memory" ? 40 : 8
  it.layer(servingViewed(resource, store, (caller) => callers.get(caller)!))(
    `views as a plain list / ${name}`,
    (it) => {
      const as =
        (caller: string) =>
        (method: Method, path: string, body?: unknown, headers: { readonly [name: string]: string } = {}) =>
          send(method, `/samples${path}`, body, { ...headers, "x-caller": caller })
      const [admin, me] = [as("admin"), as("me")]
      const listed = ({ body, status, text }: Answer): ReadonlyArray<Json> => {
        assert.strictEqual(status, 200, text)
        return body._items.map(plain)
      }

      it.effect.prop(
        "any request of any caller has the result of a list that is filtered, and whose fields are deleted",
        [Case],
        ([{ change, documents, fields, filters, grants, reading, sort }]) =>
          Effect.gen(function*() {
            yield* Effect.flatMap(DocumentStore.DocumentStore, (store) => store.deleteMany("Sample", {}))
            if (documents.length > 0) yield* admin("POST", "", documents)
            const writing = heldOf(grants.length === 0 ? [{ hide: [], readOnly: [], teams: null }] : grants, 0)
            const held = reading === null ? writing : heldOf(reading, grants.length + 1)
            callers.set("me", { read: held.map(({ grant }) => grant), write: writing.map(({ grant }) => grant) })

            const everything = listed(yield* admin("GET", "?page_size=100"))
            const reachingOf = (document: Json, of: "hide" | "unwritable" = "hide") =>
              (of === "hide" ? held : writing).filter(({ teams }) =>
                teams === null || teams.some((team) => team === document["team"])
              )
            const takenFrom = (document: Json, of: "hide" | "unwritable") => {
              const reaching = reachingOf(document, of)
              return names.filter((name) => reaching.every((grant) => isWithin(name, grant[of])))
            }
            const shown = (document: Json) => takenFrom(document, "hide").reduce<unknown>(without, document) as Json
            const seenBy = (document: Json) => reachingOf(document).length === 0 ? {} : shown(document)
            const visible = everything.filter((document) => reachingOf(document).length > 0)
            const isEverShown = (name: string) => held.some(({ hide }) => !isWithin(name, hide))

            const whole = held.filter(({ teams }) => teams === null)
            const everHidden = names.filter((name) =>
              held.some(({ hide }) => isWithin(name, hide)) && whole.every(({ hide }) => isWithin(name, hide))
            )

            // One document.
            for (const document of held.length === 0 ? [] : everything) {
              const answer = yield* me("GET", `/${String(document["id"])}`)
              if (reachingOf(document).length === 0) assert.strictEqual(answer.status, 404)
              else assert.deepStrictEqual(plain(answer.body), shown(document))
            }

            // A collection, by pages and by cursors.
            const parameters = new URLSearchParams({ page_size: "2" })
            for (const { name, not, value } of filters) {
              parameters.append(name, `${not ? "!" : ""}"${typed(name, value)}"`)
            }
            if (sort !== null) {
              parameters.set("sort_by", `${sort.down ? "-" : ""}${sort.name}`)
            }
            if (fields !== null && fields.length > 0) parameters.set("fields", fields.join())
            const named = [...filters.map(({ name }) => name), ...(sort === null ? [] : [sort.name])]
            const isKnown = [...named, ...(fields ?? [])].every(isEverShown)
            // An order does not leave documents out: they are left out by a filter, or the order is refused.
            const showing = (name: string) => held.map(({ hide }) => !isWithin(name, hide)).join()
            const isShownByAll = (name: string) =>
              held.every(({ hide }) => !isWithin(name, hide)) ||
              held.some(({ hide, teams }) => teams === null && !isWithin(name, hide))
            const isSortable = sort === null || isShownByAll(sort.name) ||
              filters.some(({ name }) => !isShownByAll(name) && showing(name) === showing(sort.name))
            const direction = sort?.down === true ? -1 : 1
            const expected = visible.filter((document) =>
              named.every((name) => !isWithin(name, takenFrom(document, "hide"))) &&
              filters.every(({ name, not, value }) => (valueAt(document, name) === typed(name, value)) !== not)
            ).toSorted((one, other) =>
              direction * (
                (sort === null ? 0 : compare(valueAt(one, sort.name), valueAt(other, sort.name))) ||
                compare(one["id"], other["id"])
              )
            ).map(shown)
            const kept = fields === null || fields.length === 0 ? undefined : new Set(["id", "_type", ...fields])
            const selected = expected.map((document) =>
              kept === undefined ? document : Object.fromEntries(
                Object.entries(document).flatMap(([key, value]) => {
                  if (kept.has(key)) return [[key, value]]
                  const parts = [...kept].flatMap((name) =>
                    name.startsWith(`${key}.`) ? [name.slice(key.length + 1)] : []
                  )
                  const part = (value: unknown): unknown =>
                    Array.isArray(value)
                      ? value.map(part)
                      : Object.fromEntries(
                        Object.entries(Object(value)).filter(([key]) => key === "_type" || parts.includes(key))
                      )
                  return parts.length === 0 ? [] : [[key, part(value)]]
                })
              )
            )
            for (const start of held.length === 0 ? [] : ["&page=1", "&cursor="]) {
              const found: Array<Json> = []
              let next: string | undefined = `/samples?${parameters}${start}`
              for (let pages = 0; next !== undefined && pages < 9; pages++) {
                const answer: Answer = yield* me("GET", next.slice("/samples".length))
                if (!isKnown || !isSortable) {
                  assert.strictEqual(answer.status, 400, answer.text)
                  break
                }
                found.push(...listed(answer))
                if (start === "&page=1") assert.strictEqual(answer.headers["x-total-count"], String(expected.length))
                next = answer.body._links.next?.href
              }
              if (isKnown && isSortable) assert.deepStrictEqual(found, selected, `${parameters}${start}`)
            }

            // An aggregation.
            const grouped = yield* me("GET", `/aggregate?${new URLSearchParams({ pipe: groupBy(change.name) })}`)
            if (held.length === 0) assert.notInclude(grouped.text, "_items\":[{")
            else if (isEverShown(change.name)) {
              const counts = new Map<unknown, number>()
              for (const document of visible) {
                if (isWithin(change.name, takenFrom(document, "hide"))) continue
                const key = valueAt(document, change.name) ?? null
                counts.set(key, (counts.get(key) ?? 0) + 1)
              }
              assert.sameDeepMembers(
                grouped.body._items.map((item: Json) => [item["_id"], item["n"]]),
                [...counts]
              )
            } else assert.strictEqual(grouped.status, 400, grouped.text)

            // Writes of one field: by merge patches, JSON patches and replacements.
            const value = typed(change.name, change.value)
            for (const document of everything) {
              const path = `/${String(document["id"])}`
              const isReached = reachingOf(document, "unwritable").length > 0
              // One grant alone has to allow a write.
              const grants = reachingOf(document, "unwritable").map(({ unwritable }) =>
                names.filter((name) => isWithin(name, unwritable))
              )
              const isUnwritable = grants.every((unwritable) => isWithin(change.name, unwritable))
              const isHidden = isWithin(change.name, takenFrom(document, "hide"))
              const isSame = valueAt(document, change.name) === value
              const whole = change.name.startsWith("n.")
                ? { ...document, n: document["n"] ?? { _type: "Nested" } }
                : document
              const after = isUnwritable ? document : withValue(whole, change.name, value)
              const status = !isReached ? 404 : isUnwritable && (isHidden || !isSame) ? 403 : 200
              // Another status would tell whether there is a nested model that the required part could stay in.
              const isUnseen = reachingOf(document).length === 0
              const restricted = (name: string, taken: ReadonlyArray<string>) =>
                taken.some((one) => one === name || one.startsWith(`${name}.`))
              const lacksPart = change.name === "n.y" && (isUnseen
                ? grants.every((unwritable) =>
                  isWithin("n.y", unwritable) || restricted("n", [...everHidden, ...unwritable])
                )
                : isWithin("n", takenFrom(document, "hide")))
              const isComplete = change.name !== "n.y" || document["n"] !== undefined
              // So it may be with a required part that no document shows.
              const isHiddenPart = change.name === "n.y" && reachingOf(document).length === 0 &&
                held.some(({ hide }) => hide.includes("n.x"))
              const merged = status !== 200 ? status : lacksPart ? 403 : isComplete ? 200 : 400
              const restored = Effect.andThen(admin("PUT", path, document), admin("GET", path))
              const assertWritten = (answer: Answer, statuses: ReadonlyArray<number>, about: string) =>
                Effect.gen(function*() {
                  assert.include(statuses, answer.status, `${about} ${change.name} ${answer.text}`)
                  const stored = plain((yield* admin("GET", path)).body)
                  assert.deepStrictEqual(stored, answer.status === 200 ? after : document, about)
                  yield* restored
                })
              // What no grant lets them write is refused before a document is looked for.
              yield* assertWritten(
                yield* me("PATCH", path, withValue({}, change.name, value)),
                merged === 404 ? [403, 404] : isHiddenPart ? [merged, 403] : [merged],
                "PATCH"
              )
              const operation = { op: "add", path: `/${change.name.replace(".", "/")}`, value }
              yield* assertWritten(
                yield* me("PATCH", path, [operation], { "content-type": "application/json-patch+json" }),
                // There is no place in a model that they can't see.
                status !== 200 ? [403, 404, 409, 400] : valueAt(seenBy(document), parentOf(change.name)) === undefined
                  ? [400, 409]
                  : [200],
                "JSON Patch"
              )
              if (!isReached || change.name.startsWith("n.") && document["n"] === undefined) continue
              if (reachingOf(document).length === 0) {
                // They may send nothing that they can't write, whatever is stored.
                const isDenied = grants.every((unwritable) =>
                  unwritable.some((name) =>
                    name.startsWith("items") || valueAt(withValue(document, change.name, value), name) !== undefined
                  )
                )
                const answer = yield* me("PUT", path, withValue(document, change.name, value))
                yield* assertWritten(answer, [isDenied ? 403 : 200], "blind PUT")
              } else if (!isHidden) {
                const replaced = withValue(plain((yield* me("GET", path)).body), change.name, value)
                yield* assertWritten(yield* me("PUT", path, replaced), [status], "PUT")
              }
            }
          }),
        { arbitrary: { runs } }
      )
    }
  )
})

const groupBy = (name: string) => JSON.stringify([{ $group: { _id: `$${name}`, n: { $sum: 1 } } }])
