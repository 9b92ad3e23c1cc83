/** A service with a model for each kind of field, which has the kind in every place that a field may have. */
import { Schema } from "effect"
import { KernelEngine, Model } from "../../src/index.ts"
import { kinds, mayBeMissing } from "./everyKind.ts"

/** What a field may be besides a value. A kind whose values may be missing is no value of these. */
const placesOf = (schema: Schema.Top) => ({
  optional: schema.pipe(Model.optional),
  nullable: Schema.NullOr(schema),
  list: Schema.Array(schema),
  byName: Schema.Record(Schema.String, Schema.NullOr(schema)),
  parts: Schema.Struct({
    value: schema,
    nullable: Schema.NullOr(schema),
    perhaps: Schema.optionalKey(Schema.NullOr(schema))
  })
})

/** Effect's codec does not encode an object that lacks a value whose JSON takes two steps. */
const isInTwoSteps = ({ ast }: Schema.Top): boolean =>
  Schema.toCodecJson(Schema.make<Schema.Top>(ast)).ast.encoding?.some(({ to }) => to.encoding !== undefined) === true &&
  ast._tag === "Declaration" && ast.encoding === undefined

const isValue = (schema: Schema.Top): boolean => !mayBeMissing(schema) && !isInTwoSteps(schema)

const models = Object.entries(kinds).map(([name, { schema }]) => {
  class Part extends Model.Class<Part>()(`${name}Part`, { value: schema }) {}
  return {
    name,
    model: class extends Model.Class<{ readonly id: string }>()(`${name}Kind`, {
      id: Model.id(),
      value: schema,
      part: Schema.NullOr(Part),
      ...isValue(schema) ? placesOf(schema) : {}
    }) {}
  }
})

const [first, ...others] = models

const optionsOf = (name: string) => ({ methods: ["GET", "POST", "PUT", "PATCH"] as const, name, segment: name })

export const engine = others.reduce(
  (engine, { model, name }) => engine.register(model, optionsOf(name)),
  KernelEngine.make("every-kind").register(first!.model, optionsOf(first!.name))
).enableOpenApi({ title: "Every kind", version: "1.0.0" })
