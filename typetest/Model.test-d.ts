import { Converter, Generator, Index, Marshaller, Model, type ModelError, Validator } from "appkernel"
import { type DateTime, Effect, pipe, Schema } from "effect"
import { describe, expectTypeOf, it } from "vitest"

class Address extends Model.Class<Address>()("Address", {
  street: Schema.String,
  city: Schema.String.pipe(Validator.notEmpty),
  note: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String.pipe(Validator.notEmpty, Model.indexed(Index.unique)),
  password: Schema.String.pipe(Validator.min(8), Model.converted(Converter.contentHasher()), Model.omitted),
  age: Schema.Int.pipe(Model.optional, Validator.min(0)),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"])),
  address: Address.pipe(Model.optional),
  previous: Schema.Array(Address),
  invoice: Schema.NullOr(Address),
  created: Model.DateTime.pipe(Validator.past, Model.generated(Generator.dateNow)),
  ...Model.versioned
}) {
  get firstName() {
    return this.name.split(" ")[0]
  }
}

interface AddressOnWire {
  readonly _type: "Address"
  readonly street: string
  readonly city: string
}

interface NewAddress {
  readonly street: string
  readonly city: string
  readonly note?: string | null
}

describe("a model's class", () => {
  it("has instances of the stored fields and of what the class adds", () => {
    expectTypeOf<User["id"]>().toEqualTypeOf<string>()
    expectTypeOf<User["age"]>().toEqualTypeOf<number | undefined>()
    expectTypeOf<User["password"]>().toEqualTypeOf<string>()
    expectTypeOf<User["address"]>().toEqualTypeOf<Address | undefined>()
    expectTypeOf<User["previous"]>().toEqualTypeOf<ReadonlyArray<Address>>()
    expectTypeOf<User["created"]>().toEqualTypeOf<DateTime.Utc>()
    expectTypeOf<User["version"]>().toEqualTypeOf<number>()
    expectTypeOf<User["firstName"]>().toEqualTypeOf<string | undefined>()
  })

  it("knows its name", () => {
    expectTypeOf(User.modelName).toEqualTypeOf<"User">()
  })

  it("is constructed without what is supplied", () => {
    expectTypeOf(User).toBeConstructibleWith({ name: "", password: "", previous: [], invoice: null })
    // @ts-expect-error the password is not supplied
    expectTypeOf(User).toBeConstructibleWith({ name: "", previous: [], invoice: null })
  })

  it("says in words that it wants to know itself", () => {
    expectTypeOf(Model.Class()("Nobody", {})).toEqualTypeOf<
      "Missing `Self` generic: `class Self extends Model.Class<Self>()(…)`"
    >()
  })
})

describe("what a caller sees", () => {
  it("has the model's name, and nothing that is omitted, at any depth", () => {
    expectTypeOf<typeof User.wire.Type>().toEqualTypeOf<{
      readonly _type: "User"
      readonly id: string
      readonly name: string
      readonly age?: number
      readonly roles: ReadonlyArray<string>
      readonly address?: { readonly _type: "Address"; readonly street: string; readonly city: string }
      readonly previous: ReadonlyArray<{ readonly _type: "Address"; readonly street: string; readonly city: string }>
      readonly invoice: { readonly _type: "Address"; readonly street: string; readonly city: string } | null
      readonly created: DateTime.Utc
      readonly version: number
    }>()
    expectTypeOf<typeof User.wire.fields>().not.toHaveProperty("password")
    expectTypeOf<(typeof User.wire.Type)["previous"][number]>().toExtend<AddressOnWire>()
  })
})

describe("what a caller may send", () => {
  it("need not have what is generated, has a default or is optional", () => {
    expectTypeOf<typeof User.create.Type>().toEqualTypeOf<{
      readonly id?: string | null
      readonly name: string
      readonly password: string
      readonly age?: number | null
      readonly roles?: ReadonlyArray<string> | null
      readonly address?: { readonly street: string; readonly city: string; readonly note?: string | null } | null
      readonly previous: ReadonlyArray<
        { readonly street: string; readonly city: string; readonly note?: string | null }
      >
      readonly invoice: { readonly street: string; readonly city: string; readonly note?: string | null } | null
      readonly created?: DateTime.Utc | null
      readonly version?: number | null
    }>()
    expectTypeOf<(typeof User.create.Type)["previous"][number]>().toExtend<NewAddress>()
  })

  it("may change any field but the identifier, and remove what is optional", () => {
    expectTypeOf<typeof User.patch.Type>().toEqualTypeOf<{
      readonly name?: string
      readonly password?: string
      readonly age?: number | null
      readonly roles?: ReadonlyArray<string> | null
      readonly address?: { readonly street?: string; readonly city?: string; readonly note?: string | null } | null
      readonly previous?: ReadonlyArray<
        { readonly street: string; readonly city: string; readonly note?: string | null }
      >
      readonly invoice?: { readonly street?: string; readonly city?: string; readonly note?: string | null } | null
      readonly created?: DateTime.Utc | null
      readonly version?: number | null
    }>()
  })

  it("can't send what the server sets", () => {
    class Ticket extends Model.Class<Ticket>()("Ticket", {
      title: Schema.String,
      note: Model.field(Schema.String, { validators: [Validator.max(9)] }),
      state: Schema.String.pipe(Model.withDefault(() => "new"), Model.readOnly),
      code: Model.field(Schema.String, { readOnly: true })
    }) {}
    expectTypeOf<typeof Ticket.create.Type>().toEqualTypeOf<{ readonly title: string; readonly note?: string | null }>()
    expectTypeOf<typeof Ticket.patch.Type>().toEqualTypeOf<{ readonly title?: string; readonly note?: string | null }>()
    expectTypeOf<Ticket["state"]>().toEqualTypeOf<string>()
    expectTypeOf<(typeof Ticket.wire.Type)["state"]>().toEqualTypeOf<string>()
  })
})

describe("Model.finalise", () => {
  it("takes what a caller sends, and gives an instance or a typed failure", () => {
    const finalise = Model.finalise(User, { name: "", password: "", previous: [], invoice: null })
    expectTypeOf(finalise).toEqualTypeOf<Effect.Effect<User, ModelError.ModelError>>()
    // @ts-expect-error the name is missing
    expectTypeOf(Model.finalise(User, { password: "", previous: [], invoice: null })).toEqualTypeOf(finalise)
  })

  it("takes an instance, too", () => {
    expectTypeOf<User>().toExtend<typeof User.create.Type>()
  })
})

describe("fields", () => {
  it("know the type of the value that a combinator is for", () => {
    expectTypeOf(Schema.Int.pipe(Model.withDefault(() => 1))).toBeObject()
    // @ts-expect-error a text is no integer
    Schema.Int.pipe(Model.withDefault(() => "1"))
    // @ts-expect-error a text is no integer
    Schema.Int.pipe(Model.generated(Generator.uuid()))
    // @ts-expect-error a hasher is for text
    Schema.Int.pipe(Model.converted(Converter.contentHasher()))
    Schema.String.pipe(Model.optional, Model.converted((text) => Effect.succeed(text.trim())))
  })

  it("can be supplied in two ways", () => {
    class Note extends Model.Class<Note>()("Note", {
      text: Schema.String.pipe(Model.generated(Effect.succeed("a")), Model.withDefault(() => "b")),
      other: Schema.String.pipe(Model.withDefault(() => "b"), Model.generated(Effect.succeed("a")))
    }) {}
    expectTypeOf<Note["text"]>().toEqualTypeOf<string>()
    expectTypeOf<typeof Note.create.Type>().toEqualTypeOf<
      { readonly text?: string | null; readonly other?: string | null }
    >()
  })
})

describe("validators", () => {
  it("are for values of their type, in schemas and in fields", () => {
    expectTypeOf(Schema.String.pipe(Validator.notEmpty, Validator.min(1), Validator.email)).toBeObject()
    expectTypeOf(Schema.Array(Schema.Int).pipe(Model.optional, Validator.notEmpty, Validator.max(1))).toBeObject()
    expectTypeOf(Schema.Int.pipe(Model.withDefault(() => 1), Validator.min(1))).toBeObject()
    expectTypeOf(Model.Date.pipe(Model.optional, Validator.past, Validator.future)).toBeObject()
    // @ts-expect-error a number has no length
    Schema.Int.pipe(Validator.notEmpty)
    // @ts-expect-error nor has it in a field
    Schema.Int.pipe(Model.optional, Validator.notEmpty)
    // @ts-expect-error a boolean has no bounds
    Schema.Boolean.pipe(Validator.min(1))
    // @ts-expect-error a number is no text
    Schema.Int.pipe(Validator.email)
    // @ts-expect-error a text is no moment
    Schema.String.pipe(Model.optional, Validator.past)
  })

  it("change no type", () => {
    expectTypeOf(Schema.String.pipe(Validator.notEmpty)).toEqualTypeOf<Schema.String>()
    const field = Schema.String.pipe(Model.optional)
    expectTypeOf(field.pipe(Validator.notEmpty)).toEqualTypeOf<typeof field>()
  })
})

describe("a model that holds its own kind", () => {
  interface Stored {
    readonly name: string
    readonly children: ReadonlyArray<Stored>
    readonly parent?: Stored | null
  }

  class Category extends Model.Class<Category>()("Category", {
    name: Schema.String,
    children: Schema.Array(Schema.suspend((): Schema.Codec<Category, Stored> => Category)),
    parent: Schema.suspend((): Schema.Codec<Category, Stored> => Category).pipe(Model.optional)
  }) {}

  it("is written with a suspended schema", () => {
    expectTypeOf<Category["children"]>().toEqualTypeOf<ReadonlyArray<Category>>()
    expectTypeOf<Category["parent"]>().toEqualTypeOf<Category | undefined>()
  })
})

class Written extends Model.Class<Written>()("Written", {
  id: Model.id(),
  name: Model.field(Schema.String, { required: true, validators: [Validator.notEmpty] }),
  note: Model.field(Schema.String),
  level: Model.field(Schema.Int, { default: 3 }),
  made: Model.field(Model.DateTime, { required: true, generator: Generator.dateNow }),
  seen: Model.field(Model.DateTime, { marshaller: Marshaller.timestamp }),
  password: Model.field(Schema.String, { required: true, converter: Converter.contentHasher(), omit: true }),
  parts: Model.field(Schema.Array(Address), { required: true })
}) {}

class Piped extends Model.Class<Piped>()("Written", {
  id: Model.id(),
  name: Schema.String.pipe(Validator.notEmpty),
  note: Schema.String.pipe(Model.optional),
  level: Schema.Int.pipe(Model.withDefault(() => 3)),
  made: Model.DateTime.pipe(Model.generated(Generator.dateNow)),
  seen: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp), Model.optional),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher()), Model.omitted),
  parts: Schema.Array(Address)
}) {}

describe("a field by its attributes", () => {
  it("has the types of the same field piped", () => {
    expectTypeOf<typeof Written.store.Type>().toEqualTypeOf<typeof Piped.store.Type>()
    expectTypeOf<typeof Written.store.Encoded>().toEqualTypeOf<typeof Piped.store.Encoded>()
    expectTypeOf<typeof Written.wire.Type>().toEqualTypeOf<typeof Piped.wire.Type>()
    expectTypeOf<typeof Written.wire.Encoded>().toEqualTypeOf<typeof Piped.wire.Encoded>()
    expectTypeOf<typeof Written.create.Type>().toEqualTypeOf<typeof Piped.create.Type>()
    expectTypeOf<typeof Written.patch.Type>().toEqualTypeOf<typeof Piped.patch.Type>()
    expectTypeOf<Written["note"]>().toEqualTypeOf<string | undefined>()
    expectTypeOf<Written["level"]>().toEqualTypeOf<number>()
    expectTypeOf<(typeof Written.wire.Encoded)["seen"]>().toEqualTypeOf<number | undefined>()
  })

  it("takes attributes of its own type only", () => {
    expectTypeOf(Model.field(Schema.Int, { default: 3 })).not.toBeNever()
    class Named extends Model.Class<Named>()("Named", {
      name: Model.field(Schema.String, { validators: [Validator.max(9), Validator.notEmpty] }),
      tags: Model.field(Schema.Array(Schema.String), { validators: [Validator.notEmpty], omit: true }),
      note: Model.field(Schema.String, { validators: [Validator.max(9)] }),
      rest: Model.field(Schema.String, { validators: [] })
    }) {}
    expectTypeOf<Named["name"]>().toEqualTypeOf<string>()
    expectTypeOf<Named["tags"]>().toEqualTypeOf<ReadonlyArray<string>>()
    expectTypeOf<Pick<Named, "note" | "rest">>().toEqualTypeOf<{ readonly note?: string; readonly rest?: string }>()
    expectTypeOf(new Named({ name: "a", tags: ["b"] })).toEqualTypeOf<Named>()
    // @ts-expect-error what must not be empty has to be there
    void new Named({ tags: ["b"] })
    // @ts-expect-error the default is no number
    Model.field(Schema.Int, { default: "3" })
    // @ts-expect-error the marshaller is for moments
    Model.field(Schema.String, { marshaller: Marshaller.timestamp })
    // @ts-expect-error the converter is for texts
    Model.field(Schema.Int, { converter: Converter.contentHasher() })
    // @ts-expect-error a moment is nothing that has a length
    Model.field(Model.DateTime, { validators: [Validator.notEmpty] })
  })
})

describe("changed copies", () => {
  it("are of the lists of the instance, by their elements", () => {
    const written = {} as Written
    expectTypeOf(Model.appendTo(written, { parts: [{} as Address] }))
      .toEqualTypeOf<Effect.Effect<Written, ModelError.ModelError>>()
    expectTypeOf(pipe(written, Model.removeFrom({ parts: {} as Address })))
      .toEqualTypeOf<Effect.Effect<Written, ModelError.ModelError>>()
    // @ts-expect-error a name is no list
    void Model.appendTo(written, { name: ["a"] })
    // @ts-expect-error a part is no text
    void Model.removeFrom(written, { parts: "a" })
  })
})

describe("rules for all fields", () => {
  it("see the fields with their types", () => {
    Model.Class<never>()("Stay", { from: Schema.Int, to: Schema.optionalKey(Schema.String) }, {
      validators: [
        Validator.related("After", "to", (values) => {
          expectTypeOf(values.from).toEqualTypeOf<number>()
          return true
        }, { message: "must be after" })
      ],
      validate: (values) => {
        expectTypeOf(values.to).toEqualTypeOf<string | undefined>()
        return Effect.void
      }
    })
    // @ts-expect-error there is no such field
    Validator.related<{ readonly from: number }>("After", "to", () => true, { message: "must be after" })
  })
})

describe("traits", () => {
  class Page extends Model.Class<Page>()("Page", {
    id: Model.id(),
    title: Schema.String,
    ...Model.softDeleted,
    ...Model.historied
  }) {}

  it("add what is stored, and what no caller sees or sends", () => {
    expectTypeOf<Page["deleted"]>().toEqualTypeOf<DateTime.Utc | undefined>()
    expectTypeOf<Page["revision"]>().toEqualTypeOf<number>()
    expectTypeOf(Page).toBeConstructibleWith({ title: "" })
    expectTypeOf<typeof Page.wire.Type>().toEqualTypeOf<{
      readonly _type: "Page"
      readonly id: string
      readonly title: string
    }>()
    expectTypeOf<typeof Page.create.Type>().toEqualTypeOf<{ readonly id?: string | null; readonly title: string }>()
    expectTypeOf<typeof Page.patch.Type>().toEqualTypeOf<{ readonly title?: string }>()
  })
})

describe("earlier forms", () => {
  interface Fields {
    readonly first: string
    readonly last: string
    readonly age: number
  }
  const fields = { id: Model.id(), first: Schema.String, last: Schema.String, age: Schema.Int }

  it("give the ways the types of both forms", () => {
    Model.Class<unknown>()("Person", fields, {
      versions: [
        Model.was({ name: Schema.String, age: Schema.Int }, {
          up: (before) => {
            expectTypeOf(before).toEqualTypeOf<{ readonly name: string; readonly age: number }>()
            return { first: before.name, last: "" }
          },
          down: (next) => {
            expectTypeOf(next).toExtend<Fields>()
            return { name: `${next.first} ${next.last}` }
          }
        })
      ]
    })
    Model.Class<unknown>()("Person", fields, {
      versions: [
        Model.was.replaced(["first", "last"], { name: Schema.String }, {
          up: ({ name }) => ({ first: name, last: "" }),
          down: ({ first, last }) => ({ name: `${first} ${last}` })
        })
      ]
    })
    Model.Class<unknown>()("Person", fields, {
      versions: [
        Model.was.renamed("years", "age"),
        Model.was.retyped("age", Schema.String, { up: Number, down: String })
      ]
    })
  })

  it("reject a way that does not lead to the next form", () => {
    Model.Class<unknown>()("Person", fields, {
      versions: [
        Model.was({ name: Schema.String, age: Schema.Int }, {
          // @ts-expect-error `last` is missing
          up: ({ name }) => ({ first: name })
        })
      ]
    })
    Model.Class<unknown>()("Person", fields, {
      versions: [
        Model.was({ name: Schema.String, age: Schema.String }, {
          // @ts-expect-error `age` was a text
          up: ({ name }) => ({ first: name, last: "" })
        })
      ]
    })
    Model.Class<unknown>()("Person", fields, {
      versions: [
        Model.was.retyped("age", Schema.String, {
          // @ts-expect-error the age is a number
          up: (age) => age
        })
      ]
    })
    Model.Class<unknown>()("Person", fields, {
      // @ts-expect-error there is no such field
      versions: [Model.was.renamed("years", "agee")]
    })
    Model.Class<unknown>()("Person", fields, {
      // @ts-expect-error there is no such field
      versions: [Model.was.added("agee")]
    })
    expectTypeOf(Model.was.renamed).toBeFunction()
  })
})
