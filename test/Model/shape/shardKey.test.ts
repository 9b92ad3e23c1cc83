import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Index from "../../../src/Model/FieldIndex.ts"
import * as Model from "../../../src/Model/Model.ts"
import * as EmbeddedStore from "../../../src/Repository/EmbeddedStore.ts"
import * as Repository from "../../../src/Repository/Repository.ts"
import { indexesOf } from "../../../src/Repository/repository/modelIndexes.ts"

const customer = Schema.String
const fields = { id: Model.id(), customer, number: Schema.Int }
const message = (declare: () => unknown): string => {
  try {
    declare()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return "declared"
}

it("refuses a unique index that does not begin with the shard key", () => {
  assert.strictEqual(
    message(() =>
      class extends Model.Class<{}>()("Order", {
        ...fields,
        number: Schema.Int.pipe(Model.indexed(Index.unique))
      }, { shardKey: { customer: 1 } }) {}
    ),
    "Order can't be unique by its index \"number_1\" (number), which does not begin with the shard key (customer)"
  )
  assert.include(
    message(() =>
      class extends Model.Class<{}>()("Order", fields, {
        shardKey: { customer: 1, number: 1 },
        indexes: [Index.compound({ number: 1, customer: 1 }, { unique: true })]
      }) {}
    ),
    "does not begin with the shard key (customer, number)"
  )
})

it("accepts unique indexes that begin with the shard key, also by fields of one name, and those of the identifier", () => {
  const together = { ...Index.unique, name: "together" }
  assert.strictEqual(
    message(() =>
      class extends Model.Class<{}>()("Order", {
        id: Model.id(),
        customer: customer.pipe(Model.indexed(together)),
        number: Schema.Int.pipe(Model.indexed(together))
      }, {
        shardKey: { customer: "hashed" },
        indexes: [
          Index.compound({ customer: 1, number: -1 }, { unique: true }),
          Index.compound({ id: 1, number: 1 }, { unique: true })
        ]
      }) {}
    ),
    "declared"
  )
})

it.effect("refuses a unique field of a nested model when the repository is made", () =>
  Effect.gen(function*() {
    class Part extends Model.Class<Part>()("Part", { serial: Schema.String.pipe(Model.indexed(Index.unique)) }) {}
    class Machine extends Model.Class<Machine>()("Machine", { ...fields, part: Part }, { shardKey: { customer: 1 } }) {}
    const made = yield* Effect.exit(Repository.make(Machine))
    assert.include(String(made), "Machine can't be unique by its index \"part.serial_1\"")
  }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

it("refuses keys that no cluster takes", () => {
  const declared = (shardKey: object, own = {}) =>
    message(() => class extends Model.Class<{}>()("Order", { ...fields, ...own }, { shardKey }) {})
  assert.strictEqual(declared({}), "Order has a shard key without fields")
  assert.strictEqual(declared({ place: 1 }), "Order has no field \"place\" for its shard key")
  assert.strictEqual(
    declared({ tags: 1 }, { tags: Schema.Array(Schema.String) }),
    "Order.tags is a list, which a shard key can't have"
  )
  assert.strictEqual(
    declared({ customer: "hashed", number: "hashed" }),
    "Order has more than one hash in its shard key"
  )
})

it("declares an index for the shard key, unless there is one", () => {
  class Hashed extends Model.Class<Hashed>()("Order", fields, { shardKey: { id: "hashed" } }) {}
  class Ranged extends Model.Class<Ranged>()("Order", fields, { shardKey: { customer: 1, id: 1 } }) {}
  class ById extends Model.Class<ById>()("Order", fields, { shardKey: { id: 1 } }) {}
  class Indexed extends Model.Class<Indexed>()("Order", fields, {
    shardKey: { customer: 1 },
    indexes: [Index.compound({ customer: 1, number: 1 })]
  }) {}
  class Partly extends Model.Class<Partly>()("Order", fields, {
    shardKey: { customer: 1 },
    indexes: [Index.compound({ customer: 1, number: 1 }, { where: { number: 1 } })]
  }) {}
  const names = [Hashed, Ranged, ById, Indexed, Partly].map((model) => indexesOf(model).map(({ name }) => name))
  assert.deepStrictEqual(names, [["_id_hashed"], ["customer_1__id_1"], [], ["customer_1_number_1"], [
    "customer_1_number_1",
    "customer_1"
  ]])
})
