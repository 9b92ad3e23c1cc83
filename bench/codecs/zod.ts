/**
 * zod 4: as it is, which compiles the loop over an object's members, and with its schemas compiled as a whole.
 */
import * as z from "zod"
import { accepted, type Contestant, plain, type Problem, refused } from "./contestant.ts"
import { bodies, documents, formatDateTime, invalidBodies, parseDateTime, toItem, wireTexts } from "./data.ts"
import { Order, toDocument } from "./plain.ts"

const dateTime = z.codec(z.iso.datetime({ local: true, offset: true }), z.date(), {
  decode: parseDateTime,
  encode: formatDateTime
})

const status = z.enum(["open", "paid", "sent", "closed"])

const address = z.object({ street: z.string().min(1), city: z.string().min(1), zip: z.string() })

const create = z.object({
  number: z.string().regex(/^[A-Z]{2}-\d{4,}$/u),
  customer: z.string().min(1),
  quantity: z.int().min(1),
  total: z.number().min(0),
  express: z.boolean(),
  status,
  placed: dateTime,
  tags: z.array(z.string()),
  note: z.string().optional(),
  address: address.optional()
})

const wire = z.object({
  _type: z.literal("Order"),
  id: z.string(),
  ...create.shape,
  address: z.object({ _type: z.literal("Address"), ...address.shape }).optional()
})

/** Validators are for what comes in: of what is stored, the types are checked. */
const stored = z.object({
  _id: z.string(),
  number: z.string(),
  customer: z.string(),
  quantity: z.int(),
  total: z.number(),
  express: z.boolean(),
  status,
  placed: z.date(),
  tags: z.array(z.string()),
  note: z.string().exactOptional(),
  address: z.object({ street: z.string(), city: z.string(), zip: z.string() }).exactOptional()
})

const instance = z.codec(stored, z.instanceof(Order), {
  decode: (document) => new Order(document),
  encode: toDocument
})

const problemOf = ({ message, path }: z.core.$ZodIssue): Problem => ({ field: path.join("."), message })

const contestant = (title: string, compile: <S extends z.ZodType>(schema: S) => S): Contestant => {
  const reading = (schema: z.ZodType) => {
    const compiled = compile(schema)
    return (text: string): unknown => {
      const read = compiled.safeParse(JSON.parse(text))
      return read.success ? read.data : refused(read.error)
    }
  }
  const compiledCreate = compile(create)
  const compiledInstance = compile(instance)
  const compiledWire = compile(wire)
  return {
    title,
    operations: {
      create: plain(bodies, reading(create)),
      wire: plain(wireTexts, reading(wire)),
      invalid: plain(invalidBodies, (text) => {
        const read = compiledCreate.safeParse(JSON.parse(text))
        return read.success ? accepted() : read.error.issues.map(problemOf)
      }),
      instance: plain(documents, (document) => z.decode(compiledInstance, document)),
      text: plain(documents, (document) => JSON.stringify(z.encode(compiledWire, toItem(document)))),
      stored: plain(
        documents.map((document) => z.decode(compiledInstance, document)),
        (order) => z.encode(compiledInstance, order)
      )
    }
  }
}

export const zod = (): Contestant => contestant("zod", (schema) => schema)

export const zodCompiled = (): Contestant => contestant("zod, compiled", (schema) => z.compile(schema))
