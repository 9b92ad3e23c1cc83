import type * as SchemaAST from "effect/SchemaAST"
import { relatedAnnotation, validatorAnnotation, type ValidatorEntry } from "../../Model/internal/annotations.ts"
import { choicesOf, kindOf } from "../../Model/internal/kind.ts"
import { modelOf } from "../../Model/internal/variants.ts"
import type * as Model from "../../Model/Model.ts"

/**
 * What is known of a place that a problem names.
 *
 * @internal
 */
export interface Place {
  /** The key of the label of the field that it is, or that it lies in: `<Model>.<field>`. */
  readonly label?: string | undefined
  /** In the words of the metadata; `unknown` where there is nothing. */
  readonly type: string
  /** The argument of the rule that was broken. */
  readonly argumentOf: (validator: string, message: string) => unknown
}

/** @internal */
export type PlaceOf = (path: string) => Place

/**
 * Places in what a caller sends of a model: `address.city`, `lines.0.quantity`. They are found in the schemas, since the
 * metadata says nothing of omitted fields and of what is in a list.
 *
 * @internal
 */
export const placesIn = (model: Model.Any): PlaceOf => {
  const whole = [model.create.ast, model.store.ast]
  return (path) => {
    let nodes: ReadonlyArray<SchemaAST.AST> = whole
    let label: string | undefined
    let related: ReadonlyArray<Check> = []
    for (const key of path === "" ? [] : path.split(".")) {
      // A model leads to the same schemas from each of its own; without that a deep path would lead to ever more.
      const around = [...new Set(nodes.flatMap(standIns))]
      const owner = around.map(modelOf).find((model) => model !== undefined)
      if (owner !== undefined) label = `${owner.modelName}.${key}`
      related = around.flatMap(checksOf).filter(({ annotations }) => annotations?.[relatedAnnotation] === key)
      nodes = around.flatMap((node) => partsAt(node, key))
      if (nodes.length === 0) return nowhere
    }
    const here = [...new Set(nodes.flatMap(standIns))]
    const type = kindOf(nodes[0]!)
    return {
      label,
      type,
      argumentOf: (validator, message) => {
        const checks = [...here.flatMap(checksOf), ...related].filter((check) => entryOf(check)?.type === validator)
        // Two validators of one type differ in what they say.
        const broken = checks.find(({ annotations }) => annotations?.message === message) ?? checks[0]
        return broken === undefined && type === "enum"
          ? [...new Set(here.flatMap(choicesOf))].join(", ")
          : entryOf(broken)?.value
      }
    }
  }
}

/**
 * The parameters of a URL by name, before other places.
 *
 * @internal
 */
export const parameters = (
  all: { readonly [name: string]: { readonly type: string; readonly value?: string | number } },
  others: PlaceOf = () => nowhere
): PlaceOf => {
  const places = new Map(
    Object.entries(all).map(([name, { type, value }]): [string, Place] => [name, { type, argumentOf: () => value }])
  )
  return (path) => places.get(path) ?? others(path)
}

const nowhere: Place = { type: "unknown", argumentOf: () => undefined }

type Check = SchemaAST.Check<never>

/** What may stand at the place of a node: a model's own schemas, the members of a union. */
const standIns = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => {
  const model = modelOf(ast)
  if (model !== undefined) return [model.create.ast, model.store.ast]
  switch (ast._tag) {
    case "Suspend":
      return standIns(ast.thunk())
    case "Union":
      return [ast, ...ast.types.flatMap(standIns)]
    default:
      return [ast]
  }
}

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

const checksOf = ({ checks }: SchemaAST.AST): ReadonlyArray<Check> => checks ?? []

const entryOf = (check: Check | undefined): ValidatorEntry | undefined =>
  // Only validators write this annotation.
  check?.annotations?.[validatorAnnotation] as ValidatorEntry | undefined
