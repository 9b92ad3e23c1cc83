import { assert, it } from "@effect/vitest"
import { Arbitrary, Effect, Layer } from "effect"
import { type DocumentStore, Model, Repository } from "../../src/index.ts"
import { either, oneOf, type Some } from "../support/choices.ts"
import { as, models, type Plain, repositories, storedOf, twoOwners, under } from "../support/ruled.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

/** What many callers at once leave behind, and what any sequence of operations does. */
storeMatrix((name, store) => {
  const { documents, runs } = name === "mongodb" ? { documents: 7, runs: 20 } : { documents: 15, runs: 60 }
  it.layer(repositories.pipe(Layer.provideMerge(store)), { excludeTestServices: true })(
    `Races under rules / ${name}`,
    (it) => {
      it.effect.each(models)(
        "a %s that leaves the caller's rows is not changed any more",
        ([, model]) =>
          Effect.gen(function*() {
            const own = yield* twoOwners(model, 2 * documents)
            const { all, ann, bob, instances } = own
            const mine = instances.filter(({ owner }) => owner === ann).map(({ id }) => id)
            const unrestricted = yield* Repository.unrestricted(model)
            const moved = yield* Effect.forEach(mine, (id, i) => {
              const writes = [
                all.patch(id, { state: "Ann's" }),
                all.modify(
                  id,
                  (current) => Effect.as(Effect.yieldNow, new model({ ...current, state: "Ann's", points: 1 }))
                ),
                all.updateOne(($) => $.id.equals(id), ($) => [$.state.set("Ann's")]),
                all.findOneAndUpdate(($) => $.id.equals(id), ($) => [$.state.set("Ann's"), $.owner.set(ann)]),
                Effect.flatMap(all.findById(id), (found) => all.replace(new model({ ...found, state: "Ann's" }))),
                Effect.flatMap(all.findById(id), (found) => all.save(new model({ ...found, state: "Ann's" }))),
                i % 2 === 0 ? all.deleteById(id) : all.deleteMany(($) => $.id.equals(id).and($.state.equals("Ann's")))
              ]
              // The mover is last, first, or in between, and is a caller without rules.
              const move = unrestricted.updateOne(($) => $.id.equals(id), ($) => [
                $.owner.set(bob),
                $.state.set("moved"),
                $.points.set(-1)
              ])
              const first = i % writes.length
              return Effect.map(
                Effect.all([
                  move,
                  ...[...writes.slice(first), ...writes.slice(0, first)].map((write) =>
                    Effect.ignore(write as Effect.Effect<unknown, unknown>).pipe(as(ann))
                  )
                ], { concurrency: "unbounded" }),
                ([{ matchedCount }]) => matchedCount > 0 ? [id] : []
              )
            }, { concurrency: "unbounded" })
            const after = (yield* storedOf(model, own)).filter(({ _id }) => mine.includes(String(_id)))
            const isHis = (document: { readonly owner: unknown }) => document.owner === bob
            assert.sameMembers(after.filter(isHis).map(({ _id }) => _id), moved.flat())
            for (const document of after.filter(isHis)) {
              assert.deepStrictEqual({ ...document, _id: "" }, { _id: "", owner: bob, state: "moved", points: -1 })
            }
          })
      )

      it.effect.each(models)(
        "of two changes that the check of a %s admits alone, one is denied",
        ([, model]) =>
          Effect.gen(function*() {
            const own = yield* twoOwners(model, 2 * documents)
            const { all, ann, instances } = own
            const mine = instances.filter(({ owner }) => owner === ann).map(({ id }) => id)
            const rule = under({ $or: [{ owner: { $eq: ann } }, { state: { $eq: "open" } }] })
            // Both read the document before either writes it.
            const modify = (id: string, changes: Partial<Item>) =>
              all.modify(id, (current) => Effect.as(Effect.sleep("1 millis"), new model({ ...current, ...changes })))
            const outcomes = yield* Effect.forEach(mine, (id, i) => {
              const change = i % 3 === 0 ? modify : all.patch
              const moved = i % 3 === 1
                ? outcomeOf(all.updateOne(($) => $.id.equals(id), ($) => [$.owner.set(own.bob)]))
                : outcomeOf(change(id, { owner: own.bob }))
              return Effect.all([outcomeOf(change(id, { state: "closed" })), moved], { concurrency: "unbounded" })
            }, { concurrency: "unbounded" }).pipe(rule)
            for (const both of outcomes) assert.sameMembers(both, ["Success", "AccessDenied"])
            for (const { _id, owner, state } of yield* storedOf(model, own)) {
              if (mine.includes(String(_id))) assert.isTrue(owner === ann || state === "open")
            }
          })
      )

      it.effect.prop(
        "any operations do what they do to a list that is filtered",
        { steps: Arbitrary.array(steps, { minLength: 6, maxLength: 12 }), model: oneOf(...models.slice(0, 2)) },
        ({ model: [, model], steps }) =>
          Effect.gen(function*() {
            const all = yield* Repository.for(model)
            yield* all.deleteAll
            let list: ReadonlyArray<Item> = []
            for (const step of steps) {
              const expected = expectedOf(list, step)
              const actual = yield* run(model, step).pipe(
                Effect.catch((error) => Effect.succeed(error._tag)),
                under(rowsOf(step.caller), checkOf(step.caller))
              )
              assert.deepStrictEqual(actual, expected.result, JSON.stringify(step))
              list = expected.list
              const stored = (yield* all.find()).map(itemOf)
              assert.deepStrictEqual(stored, [...list].toSorted(byId), JSON.stringify(step))
            }
          }),
        { arbitrary: { runs } }
      )
    }
  )
})

/** The tag of the failure, or of the success. */
const outcomeOf = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.result(effect), (result) => result._tag === "Failure" ? result.failure._tag : result._tag)

interface Item {
  readonly id: string
  readonly owner: string
  readonly state: string
  readonly points: number
}

type Step =
  & { readonly caller: string }
  & (
    | { readonly kind: "insert" | "save" | "replace"; readonly item: Item }
    | { readonly kind: "patch"; readonly id: string; readonly changes: Partial<Item> }
    | { readonly kind: "updateMany"; readonly least: number; readonly changes: Partial<Item> }
    | { readonly kind: "find" | "count" | "deleteMany"; readonly least: number }
    | { readonly kind: "findById" | "deleteById"; readonly id: string }
  )

const ids = oneOf("1", "2", "3", "4")
const owners = oneOf("ann", "bob")
const states = oneOf("shared", "own")
const points = oneOf(0, 1, 2)

const items: Some<Item> = Arbitrary.map(
  Arbitrary.all([ids, owners, states, points]),
  ([id, owner, state, points]) => ({ id, owner, state, points })
)

const changes: Some<Partial<Item>> = either<Partial<Item>>(
  Arbitrary.map(owners, (owner) => ({ owner })),
  Arbitrary.map(states, (state) => ({ state })),
  Arbitrary.map(points, (points) => ({ points })),
  Arbitrary.map(Arbitrary.all([owners, states]), ([owner, state]) => ({ owner, state }))
)

const steps: Some<Step> = either<Step>(
  ...[0, 1].map(() =>
    Arbitrary.map(
      Arbitrary.all([owners, oneOf("insert", "save", "replace"), items]),
      ([caller, kind, item]) => ({ caller, kind, item })
    )
  ),
  Arbitrary.map(
    Arbitrary.all([owners, ids, changes]),
    ([caller, id, changes]) => ({ caller, kind: "patch", id, changes })
  ),
  Arbitrary.map(Arbitrary.all([owners, points, changes]), ([caller, least, changes]) => ({
    caller,
    kind: "updateMany",
    least,
    changes
  })),
  Arbitrary.map(Arbitrary.all([owners, oneOf("find", "count", "deleteMany"), points]), ([caller, kind, least]) => ({
    caller,
    kind,
    least
  })),
  Arbitrary.map(
    Arbitrary.all([owners, oneOf("findById", "deleteById"), ids]),
    ([caller, kind, id]) => ({ caller, kind, id })
  )
)

/** One's own documents and the shared ones; whoever writes a document makes it their own. */
const rowsOf = (caller: string): DocumentStore.Filter => ({ $or: [{ owner: caller }, { state: { $eq: "shared" } }] })
const checkOf = (caller: string): DocumentStore.Filter => ({ owner: { $eq: caller } })
const isAdmitted = (caller: string, { owner, state }: Item): boolean => owner === caller || state === "shared"

const byId = (one: Item, other: Item): number => one.id < other.id ? -1 : 1

const itemOf = ({ id, owner, points, state }: Item): Item => ({ id, owner, points, state })

/** The operation on the repository. */
const run = Effect.fnUntraced(function*(model: typeof Plain, step: Step) {
  const all = yield* Repository.for(model)
  switch (step.kind) {
    case "insert":
    case "save":
    case "replace": {
      // With the stored version, so that none of them conflicts.
      const [stored] = yield* (yield* Repository.unrestricted(model)).find(($) => $.id.equals(step.item.id))
      const instance = yield* Model.finalise(model, {
        ...step.item,
        ...(stored !== undefined && "version" in stored ? { version: stored.version } : {})
      })
      return itemOf(yield* all[step.kind](instance))
    }
    case "patch":
      return itemOf(yield* all.patch(step.id, step.changes))
    case "updateMany": {
      const { changes, least } = step
      const { matchedCount } = yield* all.updateMany(($) => $.points.greaterThanOrEqualTo(least), ($) => [
        ...(changes.owner === undefined ? [] : [$.owner.set(changes.owner)]),
        ...(changes.state === undefined ? [] : [$.state.set(changes.state)]),
        ...(changes.points === undefined ? [] : [$.points.set(changes.points)])
      ])
      return matchedCount
    }
    case "deleteMany":
      return yield* all.deleteMany(($) => $.points.greaterThanOrEqualTo(step.least))
    case "find":
      return (yield* all.find(($) => $.points.greaterThanOrEqualTo(step.least))).map(({ id }) => id)
    case "count":
      return yield* all.count(($) => $.points.greaterThanOrEqualTo(step.least))
    case "findById":
      return itemOf(yield* all.findById(step.id))
    case "deleteById":
      return yield* all.deleteById(step.id)
  }
})

/** The operation on a list, and the list after it. */
const expectedOf = (
  list: ReadonlyArray<Item>,
  step: Step
): { readonly result: unknown; readonly list: ReadonlyArray<Item> } => {
  const { caller } = step
  const admitted = list.filter((item) => isAdmitted(caller, item)).toSorted(byId)
  const without = (gone: ReadonlyArray<Item>) => list.filter((item) => !gone.includes(item))
  const fails = (result: string) => ({ result, list })
  switch (step.kind) {
    case "insert":
      return step.item.owner !== caller
        ? fails("AccessDenied")
        : list.some(({ id }) => id === step.item.id)
        ? fails("DuplicateKey")
        : { result: step.item, list: [...list, step.item] }
    case "save":
    case "replace": {
      const found = admitted.find(({ id }) => id === step.item.id)
      if (found === undefined && step.kind === "replace") return fails("DocumentNotFound")
      if (step.item.owner !== caller) return fails("AccessDenied")
      return found === undefined && list.some(({ id }) => id === step.item.id)
        ? fails("DuplicateKey")
        : { result: step.item, list: [...list.filter(({ id }) => id !== step.item.id), step.item] }
    }
    case "patch": {
      const found = admitted.find(({ id }) => id === step.id)
      if (found === undefined) return fails("DocumentNotFound")
      const after = { ...found, ...step.changes }
      // Also one that changes nothing, whose answer would confirm a guess.
      return after.owner !== caller
        ? fails("AccessDenied")
        : { result: after, list: [...without([found]), after] }
    }
    case "updateMany": {
      const found = admitted.filter(({ points }) => points >= step.least)
      const after = found.map((item) => ({ ...item, ...step.changes }))
      return after.some(({ owner }) => owner !== caller)
        ? fails("AccessDenied")
        : { result: found.length, list: [...without(found), ...after] }
    }
    case "deleteMany": {
      const found = admitted.filter(({ points }) => points >= step.least)
      return { result: found.length, list: without(found) }
    }
    case "find":
      return { result: admitted.filter(({ points }) => points >= step.least).map(({ id }) => id), list }
    case "count":
      return { result: admitted.filter(({ points }) => points >= step.least).length, list }
    case "findById":
    case "deleteById": {
      const found = admitted.find(({ id }) => id === step.id)
      return found === undefined
        ? fails("DocumentNotFound")
        : step.kind === "findById"
        ? { result: found, list }
        : { result: undefined, list: without([found]) }
    }
  }
}
