/**
 * The model's own compiled code, as the engine and the repository use it, and the same through the public Schema.
 */
import { Model, Validator } from "appkernel"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import * as SchemaAST from "effect/SchemaAST"
import { bodyDecoder, type Decoded } from "../../src/Model/codec/explainer.ts"
import { problemsOf } from "../../src/Model/codec/fieldProblems.ts"
import { compileSerialiser } from "../../src/Model/codec/serialiser.ts"
import { documentCodec } from "../../src/Repository/collection/documentCodec.ts"
import { accepted, type Contestant, inFiber, plain, refused } from "./contestant.ts"
import { bodies, documents, invalidBodies, toItem, wireTexts } from "./data.ts"

/** A model for each contestant, since what is compiled of a schema serves everybody who has it. */
const makeModel = () => {
  class Address extends Model.Class<Address>()("Address", {
    street: Schema.String.pipe(Validator.notEmpty),
    city: Schema.String.pipe(Validator.notEmpty),
    zip: Schema.String
  }) {}

  class Order extends Model.Class<Order>()("Order", {
    id: Model.id({ prefix: "O" }),
    number: Schema.String.pipe(Validator.regexp(/^[A-Z]{2}-\d{4,}$/u)),
    customer: Schema.String.pipe(Validator.notEmpty),
    quantity: Schema.Int.pipe(Validator.min(1)),
    total: Schema.Finite.pipe(Validator.min(0)),
    express: Schema.Boolean,
    status: Schema.Literals(["open", "paid", "sent", "closed"]),
    placed: Model.DateTime,
    tags: Schema.Array(Schema.String),
    note: Schema.String.pipe(Model.optional),
    address: Address.pipe(Model.optional)
  }) {}

  return Order
}

const errorOf = <E>(exit: Exit.Exit<unknown, E>): E =>
  Exit.isSuccess(exit) ? accepted() : Option.getOrElse(Cause.findErrorOption(exit.cause), () => refused(exit))

const valueOf = (decoded: Decoded) => decoded._tag === "Valid" ? decoded.value : refused(decoded.problems)

const problemsIn = (decoded: Decoded) => decoded._tag === "Valid" ? accepted() : decoded.problems

export const ours = (): Contestant => {
  const Order = makeModel()
  const create = bodyDecoder(Order.create)
  const wire = bodyDecoder(Order.wire)
  const serialise = compileSerialiser(Order)
  const { fromDocument, toDocument } = documentCodec(Order)
  return {
    title: "ours",
    operations: {
      create: plain(bodies, (text) => valueOf(create(JSON.parse(text)))),
      wire: plain(wireTexts, (text) => valueOf(wire(JSON.parse(text)))),
      invalid: plain(invalidBodies, (text) => problemsIn(create(JSON.parse(text)))),
      instance: inFiber(documents, fromDocument),
      text: plain(documents, (document) => serialise(document, "")),
      stored: plain(Effect.runSync(Effect.forEach(documents, fromDocument)), toDocument)
    }
  }
}

/** What anybody can do with the model's schemas; `prepare` gets what is about to be used. */
const publicSchema = (title: string, prepare: (ast: SchemaAST.AST) => void): Contestant => {
  const Order = makeModel()
  const outputOf = (exit: Exit.Exit<unknown, unknown>) => Exit.isSuccess(exit) ? exit.value : refused(exit.cause)
  const decoder = (codec: Schema.Codec<unknown>, options?: SchemaAST.ParseOptions) => {
    prepare(codec.ast)
    return Schema.decodeUnknownExit(codec, options)
  }
  const encoder = (codec: Schema.Codec<unknown>) => {
    prepare(SchemaAST.flip(codec.ast))
    return Schema.encodeUnknownExit(codec)
  }
  const create = decoder(Schema.toCodecJson(Order.create))
  const createAll = decoder(Schema.toCodecJson(Order.create), { errors: "all" })
  const wire = decoder(Schema.toCodecJson(Order.wire))
  const write = encoder(Schema.toCodecJson(Schema.toEncoded(Order.wire)))
  const decode = decoder(Order)
  const encode = encoder(Order)
  const instance = plain(documents, ({ _id, ...document }) => outputOf(decode({ id: _id, ...document })))
  return {
    title,
    operations: {
      create: plain(bodies, (text) => outputOf(create(JSON.parse(text)))),
      wire: plain(wireTexts, (text) => outputOf(wire(JSON.parse(text)))),
      invalid: plain(invalidBodies, (text) => problemsOf(errorOf(createAll(JSON.parse(text))).issue)),
      instance,
      text: plain(documents, (document) => JSON.stringify(outputOf(write(toItem(document))))),
      stored: plain(instance.outputs(), (order) => {
        // What a struct's schema encodes is an object of its fields.
        const { id, ...document } = outputOf(encode(order)) as { readonly [key: string]: unknown }
        return { _id: id, ...document }
      })
    }
  }
}

export const schema = (): Contestant => publicSchema("Schema", () => {})

export const schemaCompiled = (): Contestant => publicSchema("Schema, compiled", SchemaJITCompiler.enable)
