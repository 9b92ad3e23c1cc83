/** Resolves the path of a problem to its field with label and type, by which translated sentences name it. */
import * as Record from "effect/Record"
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import {
  expectationOf,
  expectedBy,
  type FieldNames,
  fold,
  isAmongFields,
  type ModelLike,
  modelOf,
  modelTypeId,
  nestedModel,
  relatedAnnotation,
  ruleOf,
  withoutIndexes
} from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { AnyParameters } from "../description/queryParameters.ts"
import { labelFrom } from "../messages/label.ts"

/** The field that a problem refers to. */
export interface ProblemField {
  /** The label of the field around the position: `<Model>.<field>`, or `<registration>.<call>.<field>`. */
  readonly label?: string | undefined
  /** The name to show if no catalogue has a label. */
  readonly name: string
  /** The number of the list item, or of the item that contains the position, from 1. */
  readonly position?: number | undefined
  /** The type by the metadata's names, `object` for a model, and `unknown` for an unknown field. */
  readonly type: string
  /** The argument of the violated rule. */
  readonly argumentOf: (validator: string, message: string) => unknown
  /** The check of Effect's own that says the message. */
  readonly checkOf?: (message: string) => EffectsCheck | undefined
}

export type FieldResolver = (path: string) => ProblemField

/** Resolves positions such as `lines.0.quantity` by the schemas: metadata lacks omitted fields and list items. */
export const inputFields = (...roots: ReadonlyArray<Model.Any | Schema.Top>): FieldResolver => fieldsIn(roots)

/** Resolves what filters name. A hidden or an omitted field has no label, as one that is not there. */
export const shownFields = (model: Model.Any, hidden: FieldNames): FieldResolver => {
  const fields = inputFields(model)
  return (path) => {
    const field = withoutIndexes(path)
    return isAmongFields(field, hidden) || isOmittedAt(model, field.split(".")) ? unknownField(path) : fields(path)
  }
}

/** Resolves positions in the payload of a call, whose own fields have labels under the key of the call. */
export const payloadFields = (call: string, payload: Model.Any | Schema.Top | undefined): FieldResolver =>
  fieldsIn(payload === undefined ? [] : [payload], call)

const fieldsIn = (roots: ReadonlyArray<Model.Any | Schema.Top>, call?: string): FieldResolver => {
  const rootNodes = roots.flatMap((root) => "modelName" in root ? [root.create.ast, root.store.ast] : [root.ast])
  return (path) => {
    let nodes: ReadonlyArray<SchemaAST.AST> = rootNodes
    let label: string | undefined
    /** The prefix of labels: the model, or the call outside of models. */
    let place = call
    let name = ""
    let position: number | undefined
    let related: ReadonlyArray<Check> = []
    const [first = "", ...rest] = path === "" ? [] : path.split(".")
    // The problems of a bulk insert start with the index of the body.
    const keys = first === "" ? [] : isIndex.test(first) ? rest : [first, ...rest]
    if (isIndex.test(first)) position = Number(first) + 1
    for (const key of keys) {
      // Several alternatives may lead to the same syntax tree. Without the set, a deep path would multiply them.
      const candidates = [...new Set(nodes.flatMap(alternativesOf))]
      const owner = candidates.map(modelOf).find((model) => model !== undefined)
      if (owner !== undefined) {
        label = `${owner.modelName}.${key}`
        place = undefined
      } else if (place !== undefined && !isIndex.test(key)) label = place = `${place}.${key}`
      if (isIndex.test(key)) position = Number(key) + 1
      else name = key
      related = candidates.flatMap(checksOf).filter(({ annotations }) => annotations?.[relatedAnnotation] === key)
      nodes = candidates.flatMap((node) => partsAt(node, key))
      if (nodes.length === 0) return unknownField(path)
    }
    const [node] = nodes
    if (node === undefined) return unknownField(path)
    const targets = [...new Set(nodes.flatMap(alternativesOf))]
    const checks = () => [...targets.flatMap(checksOf), ...related]
    const { choices, type } = expectationOf(node)
    return {
      label,
      name: labelFrom(name),
      position,
      type,
      argumentOf: (validator, message) => {
        const rules = checks().flatMap((check) => ruleOf(check) ?? [])
          .filter((rule) => rule.type === validator)
        // The message tells two validators of the same type apart.
        const violated = rules.find((rule) => rule.message === message) ?? rules[0]
        return violated === undefined && type === "enum" ? choices.join(", ") : violated?.value
      },
      checkOf: (message) => {
        const violated = checks().find((check) => expectedBy(check) === message)
        return violated && effectsCheckOf(violated)
      }
    }
  }
}

/** One of Effect's own checks: `name` is that of the function that makes it, such as `isBetween`, and `args` are what it is given. */
export interface EffectsCheck {
  readonly name: string
  readonly args: { readonly [name: string]: string | number }
}

/** `undefined` for a check that is not one of Effect's own. */
export const effectsCheckOf = ({ annotations }: Check): EffectsCheck | undefined => {
  const { id = "", payload = {} } = Object(annotations?.representation)
  if (!String(id).startsWith(effectsOwn)) return undefined
  return {
    name: String(id).slice(effectsOwn.length),
    // A message may ask for either flag, which a check leaves out where it is false.
    args: {
      exclusiveMinimum: "false",
      exclusiveMaximum: "false",
      ...Record.map(Object(payload), (value) => typeof value === "number" ? value : String(value))
    }
  }
}

const effectsOwn = "effect/schema/"

const isIndex = /^\d+$/u

/** Resolves the parameters of a URL by name, and other positions by a fallback. */
export const parameters = (
  all: {
    readonly [name: string]: { readonly label?: string; readonly type: string; readonly value?: string | number }
  },
  fallback: FieldResolver = unknownField
): FieldResolver => {
  const fields = new Map(
    Object.entries(all).map(([name, { label, type, value }]): [string, ProblemField] => [
      name,
      { label, name, type, argumentOf: () => value }
    ])
  )
  return (path) => fields.get(path) ?? fallback(path)
}

/** The expected types and arguments of parameters, for {@link parameters}. */
export const expectations = (
  all: AnyParameters
): { readonly [name: string]: { readonly type: string; readonly value?: string | number } } =>
  Record.map(all, ({ argument, schema, type }) => {
    const expected = expectationOf(schema.ast)
    const value = argument ??
      (type === undefined && expected.type === "enum" ? expected.choices.join(", ") : undefined)
    return { type: type ?? expected.type, ...(value === undefined ? {} : { value }) }
  })

/** The field of an unknown position, named as it was sent. */
export const unknownField = (path: string): ProblemField => ({
  name: path,
  type: "unknown",
  argumentOf: () => undefined
})

const isOmittedAt = (model: ModelLike, [key = "", ...rest]: ReadonlyArray<string>): boolean => {
  if (model[modelTypeId][key]?.omitted === true) return true
  const inner = nestedModel(model.store.fields[key])
  return inner !== undefined && isOmittedAt(inner, rest)
}

type Check = SchemaAST.Check<never>

/** The nodes that a node stands for: a model's own schemas, or the members of a union. */
const alternativesOf: (ast: SchemaAST.AST) => ReadonlyArray<SchemaAST.AST> = fold<ReadonlyArray<SchemaAST.AST>>({
  first: (ast, byCase) => {
    const model = modelOf(ast)
    return model === undefined ? byCase() : [model.create.ast, model.store.ast]
  },
  Union: (ast) => [ast, ...ast.types.flatMap(alternativesOf)],
  otherwise: (ast) => [ast]
})

const partsAt = (ast: SchemaAST.AST, key: string): ReadonlyArray<SchemaAST.AST> => {
  switch (ast._tag) {
    case "Arrays":
      return /^\d+$/u.test(key) ? [ast.elements[Number(key)] ?? ast.rest[0]].filter((part) => part !== undefined) : []
    case "Objects": {
      const own = ast.propertySignatures.filter(({ name }) => name === key)
      return (own.length === 0 ? ast.indexSignatures : own).map(({ type }) => type)
    }
    default:
      return []
  }
}

/** The checks of a node, those in groups as well. */
const checksOf = ({ checks = [] }: { readonly checks?: ReadonlyArray<Check> | undefined }): ReadonlyArray<Check> =>
  checks.flatMap((check) => check._tag === "FilterGroup" ? [check, ...checksOf(check)] : [check])
