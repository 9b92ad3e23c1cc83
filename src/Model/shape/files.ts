/** File fields: those that hold what is known of a file, whose bytes are in a `FileStore`, and where a model has them. */
import { memoize } from "effect/Function"
import type * as Schema from "effect/Schema"
import type { FileRules } from "./annotations.ts"
import { elementOf, type ModelLike, modelTypeId, nestedModel } from "./variants.ts"

/** What is known of a file. `id` names its bytes in the `FileStore`. @internal */
export interface FileReference {
  readonly id: string
  readonly size: number
  readonly sha256: string
}

/** A file field of a model, without those of models in its fields. @internal */
export interface FileField extends FileRules {
  readonly name: string
  readonly isList: boolean
}

/** The file fields of a model, without those of models in its fields. @internal */
export const fileFieldsOf: (model: ModelLike) => ReadonlyArray<FileField> = memoize((model) =>
  Object.entries(model[modelTypeId]).flatMap(([name, { file }]) =>
    file === undefined
      ? []
      // Every struct field is a schema.
      : [{ name, isList: elementOf(model.store.fields[name] as Schema.Top) !== undefined, ...file }]
  )
)

/**
 * The files of a document, or of an instance, those in nested models and in lists of them included; `undefined` for a model that
 * can't have any.
 *
 * @internal
 */
export const filesOf = (
  model: ModelLike
): ((document: { readonly [field: string]: unknown }) => ReadonlyArray<FileReference>) | undefined =>
  collectors(model).filesOf

// internal

/** What adds the files of each field of a model. */
type Collector = ReadonlyArray<readonly [field: string, add: (value: object, found: Array<FileReference>) => void]>

const collectors = memoize((model: ModelLike) => {
  const known = new Map<ModelLike, Collector>()
  let holdsFiles = false
  const collectorOf = (one: ModelLike): Collector => {
    const before = known.get(one)
    if (before !== undefined) return before
    const collector: Array<Collector[number]> = []
    // A model may be within itself.
    known.set(one, collector)
    for (const [name, schema] of Object.entries(one.store.fields)) {
      if (one[modelTypeId][name]?.file !== undefined) {
        holdsFiles = true
        // A field of files has what they have, in documents and in instances.
        collector.push([name, (value, found) => found.push(value as FileReference)])
        continue
      }
      const inner = nestedModel(schema)
      if (inner === undefined) continue
      const within = collectorOf(inner)
      collector.push([name, (value, found) => collect(within, value, found)])
    }
    return collector
  }
  const own = collectorOf(model)
  return {
    filesOf: !holdsFiles ? undefined : (document: object): ReadonlyArray<FileReference> => {
      const found: Array<FileReference> = []
      collect(own, document, found)
      return found
    }
  }
})

const collect = (fields: Collector, document: object, found: Array<FileReference>): void => {
  for (const [name, add] of fields) {
    const value: unknown = Reflect.get(document, name)
    for (const item of Array.isArray(value) ? value : [value]) {
      if (typeof item === "object" && item !== null) add(item, found)
    }
  }
}
