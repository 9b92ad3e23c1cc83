/**
 * Samples of request bodies: short values that satisfy their schemas, without the values that the server generates. A
 * body has no sample if none is found.
 */
import { escapeToken } from "effect/JsonPointer"
import * as Document from "./node.ts"
import { sampleText } from "./sampleText.ts"

type Node = Document.Node

/** Adds samples to JSON bodies. `generated` has the keys that the server generates, by component. */
export const sampling = (
  components: Node,
  generated: ReadonlyMap<string, ReadonlyArray<string>>
): (operation: Node) => Node => {
  const context: Samples = { components, generated }
  return (operation) => {
    const body = Document.nodeOf(operation["requestBody"])
    const content = Document.nodeOf(body["content"])
    if (Object.keys(content).length === 0) return operation
    const json = Document.nodeOf(content["application/json"])
    return {
      ...operation,
      requestBody: {
        ...body,
        content: Document.mapValues(content, (media, type) => withSample(context, Document.nodeOf(media), type, json))
      }
    }
  }
}

interface Samples {
  readonly components: Node
  readonly generated: ReadonlyMap<string, ReadonlyArray<string>>
}

/** Adds a sample to the body of one media type. `others` is the JSON body of the same operation. */
const withSample = (context: Samples, media: Node, type: string, others: Node): Node => {
  if (type === "application/json-patch+json") {
    const [first] = Object.entries(Document.nodeOf(sampleOf(context, Document.nodeOf(others["schema"]))))
    return first === undefined
      ? media
      : { ...media, example: [{ op: "replace", path: `/${escapeToken(first[0])}`, value: first[1] }] }
  }
  if (!/^application\/(?:\S+\+)?json$/u.test(type)) return media
  const schema = Document.nodeOf(media["schema"])
  const value = sampleOf(context, schema)
  if (value === undefined) return media
  const takesLists = Document.listOf(schema["anyOf"]).some((one) => Document.nodeOf(one)["type"] === "array")
  return takesLists
    ? { ...media, examples: { one: { summary: "One", value }, several: { summary: "A list", value: [value] } } }
    : { ...media, example: value }
}

/** A value that satisfies the schema; `undefined` if none is found. `within` names the components around it. */
const sampleOf = (context: Samples, schema: Node, within: ReadonlyArray<string> = []): unknown => {
  const name = Document.componentOf(schema)
  if (name !== undefined) {
    return within.includes(name)
      ? undefined
      : sampleOf(context, Document.nodeOf(context.components[name]), [...within, name])
  }
  const candidates = [...Document.listOf(schema["examples"]), schema["const"], schema["default"]]
  const example = candidates.find((value) => value !== undefined)
  if (example !== undefined) return example
  const choices = Document.listOf(schema["enum"])
  if (choices.length > 0) return choices[0]
  const alternatives = [...Document.listOf(schema["oneOf"]), ...Document.listOf(schema["anyOf"])].map(Document.nodeOf)
  if (alternatives.length > 0) {
    return alternatives.map((one) => sampleOf(context, one, within)).find((value) =>
      value !== undefined && value !== null
    )
  }
  const { allOf, ...rest } = schema
  const all = Document.listOf(allOf).map(Document.nodeOf)
  if (all.length > 0) return sampleOf(context, Object.assign({}, rest, ...all), within)
  return sampleOfType(context, schema, within)
}

const sampleOfType = (context: Samples, schema: Node, within: ReadonlyArray<string>): unknown => {
  const type = [schema["type"]].flat().find((name) => name !== "null")
  switch (type) {
    case "string":
      return sampleText(schema)
    case "integer":
    case "number":
      return numberOf(schema, type === "integer")
    case "boolean":
      return true
    case "array":
      return listOf(context, schema, within)
    case "object":
      return objectOf(context, schema, within)
    default:
      return undefined
  }
}

const listOf = (context: Samples, { items, minItems = 0 }: Node, within: ReadonlyArray<string>): unknown => {
  const item = sampleOf(context, Document.nodeOf(items), within)
  return item !== undefined && Number(minItems) <= 1 ? [item] : Number(minItems) === 0 ? [] : undefined
}

const objectOf = (context: Samples, { properties, required }: Node, within: ReadonlyArray<string>): unknown => {
  const left = context.generated.get(within.at(-1) ?? "")
  const needed = Document.listOf(required)
  const entries = Object.entries(Document.nodeOf(properties)).flatMap(([key, value]): ReadonlyArray<Entry> => {
    const schema = Document.nodeOf(value)
    if (left?.includes(key) === true || schema["readOnly"] === true) return []
    const sample = sampleOf(context, schema, within)
    return sample === undefined ? needed.includes(key) ? [[key, undefined]] : [] : [[key, sample]]
  })
  return entries.some(([, sample]) => sample === undefined) ? undefined : Object.fromEntries(entries)
}

type Entry = readonly [key: string, sample: unknown]

/** The number closest to 1 that satisfies the bounds. */
const numberOf = (schema: Node, isWhole: boolean): number | undefined => {
  const { exclusiveMaximum, exclusiveMinimum, maximum, minimum, multipleOf } = schema
  const step = typeof multipleOf === "number" ? multipleOf : 1
  const lowest = Number(minimum ?? exclusiveMinimum ?? Number.NEGATIVE_INFINITY)
  const highest = Number(maximum ?? exclusiveMaximum ?? Number.POSITIVE_INFINITY)
  const candidates = [
    step,
    Math.ceil(lowest / step) * step,
    Math.ceil(lowest / step) * step + step,
    Math.floor(highest / step) * step,
    ...(isWhole ? [] : [(lowest + highest) / 2])
  ]
  return candidates.find((value) =>
    Number.isFinite(value) && value >= lowest && value <= highest && value !== exclusiveMinimum &&
    value !== exclusiveMaximum
  )
}
