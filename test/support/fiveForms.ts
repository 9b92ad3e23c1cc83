/** A service in six versions, each with another form of its model. */
import { Schema } from "effect"
import { Index, KernelEngine, Model } from "../../src/index.ts"

const tags = Schema.Array(Schema.String).pipe(Model.withDefault((): ReadonlyArray<string> => []))
const mail = Schema.String.pipe(Model.optional)
const common = { id: Model.id(), city: Schema.String }

class V1 extends Model.Class<V1>()("Person", { ...common, name: Schema.String, age: Schema.String, mail }) {}

const isAdded = Model.was.added<{ readonly tags: ReadonlyArray<string> }>("tags")

class V2 extends Model.Class<V2>()("Person", { ...common, name: Schema.String, age: Schema.String, mail, tags }, {
  versions: [isAdded]
}) {}

const isRenamed = Model.was.renamed<{ readonly email?: string }>("mail", "email")

class V3 extends Model.Class<V3>()("Person", {
  ...common,
  name: Schema.String,
  age: Schema.String,
  email: mail,
  tags
}, { versions: [isAdded, isRenamed] }) {}

const isSplit = Model.was.replaced(["first", "last"], { name: Schema.String }, {
  up: ({ name }) => ({ first: name.split(" ")[0] ?? "", last: name.split(" ")[1] ?? "" }),
  down: ({ first, last }: { readonly first: string; readonly last: string }) => ({ name: `${first} ${last}` })
})

class V4 extends Model.Class<V4>()("Person", {
  ...common,
  first: Schema.String,
  last: Schema.String,
  age: Schema.String,
  email: mail,
  tags
}, { versions: [isAdded, isRenamed, isSplit] }) {}

const isRetyped = Model.was.retyped<typeof Schema.String, { readonly age: number }, "age">("age", Schema.String, {
  up: Number,
  down: String
})

class V5 extends Model.Class<V5>()("Person", {
  ...common,
  first: Schema.String,
  last: Schema.String,
  age: Schema.Int,
  email: mail,
  tags
}, { versions: [isAdded, isRenamed, isSplit, isRetyped] }) {}

export class V6 extends Model.Class<V6>()("Person", {
  ...common,
  first: Schema.String,
  last: Schema.String,
  age: Schema.Int,
  address: mail.pipe(Model.indexed(Index.unique)),
  tags,
  ...Model.versioned
}, { versions: [isAdded, isRenamed, isSplit, isRetyped, Model.was.renamed("email", "address")] }) {}

const methods = ["GET", "POST", "PATCH", "DELETE"] as const

export const engines = [V1, V2, V3, V4, V5, V6].map((model: Model.Any) => ({
  model,
  engine: KernelEngine.make("people").register(model, { methods, name: "people" })
}))
