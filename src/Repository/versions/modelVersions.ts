/**
 * The versions of a model with `versions`, and the conversions of a stored document from one to another.
 *
 * A document carries the number of its version; one without a number has version 1, as have all that were written before the model
 * had versions. A document that is stored in an earlier version than it was written in also keeps, for each downgrade, the values
 * that the earlier version can't hold. An upgrade takes a kept value if the downgrade still makes the stored fields of it. So a value
 * goes down and comes up again unchanged, and a write by an older process in between is not lost.
 */
import { isDocument, normalise, plainValue, segmentsOf } from "@appkernel/mql/values"
import * as Exit from "effect/Exit"
import { memoize } from "effect/Function"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import {
  type FieldProblem,
  keptField,
  type ModelLike,
  modelTypeId,
  modelVersionField,
  recordDecoder,
  type Step,
  type Versions,
  versionsTypeId
} from "../../Model/internal.ts"
import * as Model from "../../Model/Model.ts"
import { viewOf } from "../collection/storedCollection.ts"
import type { Document } from "../DocumentStore.ts"
import { encoderOf, isStoredIdentically } from "../query/bsonForm.ts"
import { unreadable } from "../query/unreadable.ts"

export interface ModelVersions {
  readonly model: ModelLike
  /** The model in each of its versions, the oldest first. */
  readonly models: ReadonlyArray<ModelLike>
  /** The number of the newest version. The oldest one has number 1. */
  readonly newest: number
  /** The earliest version in which a document of the newest one can be stored. */
  readonly lowest: number
  /** The stored fields whose values may differ between this version, those after it, and the newest one. */
  readonly changedSince: (version: number) => ReadonlySet<string>
  /** The fields of this version of which the value of a field of the newest one is made. */
  readonly sourcesOf: (field: string, version: number) => ReadonlyArray<string>
  /** The fields of the newest version that are new since this one, and generated. */
  readonly generatedSince: (version: number) => ReadonlySet<string>
  /** Every field that a stored document of any version may have. */
  readonly fields: ReadonlyArray<string>
  /** Where documents of this version have the value of a path of the newest one; `undefined` if it is computed. */
  readonly pathIn: (path: string, version: number) => string | undefined
  /** The stored document in the newest version; an unreadable one if it fits no version. The same one for the same document. */
  readonly upgrade: (document: Document) => Document
  /** A document of the newest version as it is stored in an earlier one, or why it can't be. */
  readonly downgrade: (document: Document, version: number) => Result.Result<Document, string>
}

/** The number of the version in which a document is stored. */
export const modelVersionOf = (document: Document): number => {
  const version = document[modelVersionField]
  return typeof version === "number" ? version : 1
}

/** The paths by which callers of an earlier version know a path of the newest one: where it was, or what it is made of. */
export const pathsInView = (
  { pathIn, sourcesOf }: ModelVersions,
  view: ModelLike,
  version: number,
  path: string
): ReadonlyArray<string> => {
  const [name = "", ...inner] = path.split(".")
  const before = pathIn(name, version)
  const isMoved = before !== undefined && Object.hasOwn(view.store.fields, before)
  const sources = isMoved ? [[before, ...inner].join(".")] : sourcesOf(name, version)
  return sources.filter((source) => Object.hasOwn(view.store.fields, source.split(".")[0] ?? ""))
}

/** The name that a field of the model, which may be an earlier version of another one, has in the newest; `undefined` if it is gone. */
export const newestNameOf = (model: ModelLike, field: string): string | undefined => {
  const view = viewOf(model)
  if (view === undefined) return field
  const { pathIn } = modelVersionsOf(view.model)
  return Object.keys(view.model.store.fields).find((name) => pathIn(name, view.version) === field)
}

/** The versions of a model; only itself for a model without versions. */
export const modelVersionsOf: (model: ModelLike) => ModelVersions = memoize((model) => {
  const { fields, steps } = versionsIn(model)
  const compiled = steps.map((step, i) => compileStep(step, steps[i + 1]?.fields ?? fields))
  const newest = steps.length + 1
  const lowest = 1 + steps.findLastIndex((step) => step.down === undefined) + 1
  const changed = steps.map((_, i) =>
    new Set([...steps.slice(i).flatMap(({ after, before }) => [...before, ...after]), keptField])
  )
  const none: ReadonlySet<string> = new Set()

  const upgraded = (document: Document): Result.Result<Document, ReadonlyArray<FieldProblem>> => {
    const version = modelVersionOf(document)
    if (version > newest) {
      return Result.fail([problem(`is ${version}, which this process does not know: it knows forms up to ${newest}`)])
    }
    const found = document[keptField]
    const kept = isDocument(found) ? found : {}
    let { [keptField]: _, ...current } = document
    for (let i = version - 1; i < compiled.length; i++) {
      const next = compiled[i]!.up(current, kept[String(i + 1)])
      if (Result.isFailure(next)) {
        return Result.fail([problem(`is ${version}, and can't be brought to ${i + 2}`), ...next.failure])
      }
      current = next.success
    }
    return Result.succeed({ ...current, [modelVersionField]: newest, ...keeping(laterIn(document)) })
  }
  /** What is kept for downgrades to the newest version of this process, and to later ones. */
  const laterIn = ({ [keptField]: kept }: Document): Document =>
    isDocument(kept) ? Object.fromEntries(Object.entries(kept).filter(([step]) => Number(step) >= newest)) : {}
  const known = new WeakMap<Document, Document>()
  const downgrade: ModelVersions["downgrade"] = (document, version) => {
    const kept: { [step: string]: unknown } = { ...laterIn(document) }
    let { [keptField]: _, ...current } = document
    for (let i = newest - 2; i >= version - 1; i--) {
      const step = compiled[i]!
      const earlier = step.down(current)
      if (Result.isFailure(earlier)) return Result.fail(earlier.failure)
      if (earlier.success.kept !== undefined) kept[String(i + 1)] = earlier.success.kept
      current = earlier.success.document
    }
    const { [modelVersionField]: __, ...fields } = current
    return Result.succeed({
      ...fields,
      // Those who know version 1 only don't know the number.
      ...(version === 1 ? {} : { [modelVersionField]: version }),
      ...keeping(kept)
    })
  }
  return {
    model,
    models: [...steps.map((step) => modelWith(model.modelName, step.fields)), model],
    newest,
    lowest,
    changedSince: (version) => changed[version - 1] ?? none,
    pathIn: (path, version) => {
      const [field = "", ...inner] = segmentsOf(path)
      const name = steps.slice(version - 1).reduceRight<string | undefined>(nameBefore, field)
      return name === undefined ? undefined : [name, ...inner].join(".")
    },
    sourcesOf: (field, version) =>
      steps.slice(version - 1).reduceRight<ReadonlyArray<string>>(
        (names, { after, before }) =>
          names.some((name) => after.includes(name))
            ? [...names.filter((name) => !after.includes(name)), ...before]
            : names,
        [field]
      ),
    generatedSince: (version) =>
      new Set(steps.slice(version - 1).flatMap(({ after, isDerived }) => isDerived ? after : [])),
    fields: [
      ...new Set([
        ...steps.flatMap(({ before }) => before),
        ...Object.keys(model.store.fields).filter((key) => model[modelTypeId][key]?.managed !== "id"),
        modelVersionField,
        keptField
      ])
    ],
    upgrade: (document) => {
      if (document[modelVersionField] === newest && document[keptField] === undefined) return document
      const made = known.get(document) ?? Result.getOrElse(
        upgraded(document),
        (problems) => unreadable(model, document, problems, changed[modelVersionOf(document) - 1] ?? none)
      )
      known.set(document, made)
      return made
    },
    downgrade
  }
})

const textOf = (problems: ReadonlyArray<FieldProblem>): string =>
  problems.map(({ field, message }) => `${field} ${message}`).join("; ")

// internal

const keeping = (kept: Document): Document => Object.keys(kept).length === 0 ? {} : { [keptField]: kept }

const problem = (message: string): FieldProblem => ({ field: modelVersionField, validator: "Form", message })

const versionsIn = (model: ModelLike): Versions =>
  // Only `Model.Class` sets this property.
  (Reflect.get(model, versionsTypeId) ?? { fields: {}, steps: [] }) as Versions

interface CompiledStep {
  readonly up: (document: Document, kept: unknown) => Result.Result<Document, ReadonlyArray<FieldProblem>>
  readonly down: (
    document: Document
  ) => Result.Result<{ readonly document: Document; readonly kept: Document | undefined }, string>
}

const compileStep = (step: Step, fieldsAfter: Versions["fields"]): CompiledStep => {
  const { down, kind, up } = step
  if (kind === "stored" || up === undefined) return movingStep(step)
  const [readBefore, writeBefore] = [lazyCodec(step.fields, step.takes.up), lazyCodec(step.fields, step.before)]
  const [readAfter, writeAfter] = [lazyCodec(fieldsAfter, step.takes.down), lazyCodec(fieldsAfter, step.after)]
  /** The earlier version's own fields. */
  const downgradedFields = (document: Document): Result.Result<Document, string> => {
    if (down === undefined) return Result.fail(noDowngrade)
    return Result.flatMap(
      Result.mapError(readAfter().decode(document), textOf),
      (values) => Result.try({ try: () => writeBefore().encode(down(values)), catch: () => failedDowngrade(step) })
    )
  }
  const upgradedFields = (document: Document): Result.Result<Document, ReadonlyArray<FieldProblem>> =>
    Result.flatMap(readBefore().decode(document), (values) =>
      Result.try({
        try: () => asRead(writeAfter().encode(up(values))),
        catch: () => step.before.map((field) => ({ field, validator: "Form", message: "has no way up" }))
      }))
  return {
    up: (document, kept) => {
      const carried = without(document, step.before)
      if (isDocument(kept)) {
        const whole = { ...carried, ...kept }
        const isCurrent = Result.match(downgradedFields(whole), {
          onFailure: () => false,
          onSuccess: (made) => {
            const earlier = { ...shared(whole, step), ...made }
            return step.before.every((field) => isStoredIdentically(document[field], earlier[field]))
          }
        })
        if (isCurrent) return Result.succeed(whole)
      }
      return Result.map(upgradedFields(document), (made) => ({ ...carried, ...shared(document, step), ...made }))
    },
    down: (document) =>
      Result.map(downgradedFields(document), (made) => ({
        document: { ...without(document, step.after), ...shared(document, step), ...made },
        kept: picked(document, step.after)
      }))
  }
}

const move = (document: Document, from: string | undefined, to: string | undefined): Document => {
  if (from === undefined || to === undefined || !Object.hasOwn(document, from)) return document
  const { [from]: value, ...others } = document
  return { ...others, [to]: value }
}

/** A step that changes at most the name of a field. */
const movingStep = ({ after: [after], before: [before], down }: Step): CompiledStep => {
  return {
    up: (document) => Result.succeed(move(document, before, after)),
    down: (document) =>
      down === undefined ? Result.fail(noDowngrade) : Result.succeed({
        document: move(document, after, before),
        kept: undefined
      })
  }
}

/** The name that a field of the version after the step had before it. */
const nameBefore = (name: string | undefined, { after, before, kind }: Step): string | undefined => {
  if (name === undefined) return undefined
  if (kind === "computed") return [...after, ...before].includes(name) ? undefined : name
  return after[0] === name ? before[0] : name
}

const noDowngrade = "there is no way down to the earlier form"

const failedDowngrade = ({ after }: Step): string => `the way down of ${after.join(", ")} to the earlier form fails`

/** The values of fields that both versions have. A step gives those that it changes. */
const shared = (document: Document, { after, before }: Step): Document =>
  picked(document, before.filter((field) => after.includes(field)))

const picked = (document: Document, fields: ReadonlyArray<string>): Document =>
  Object.fromEntries(fields.flatMap((field) => Object.hasOwn(document, field) ? [[field, document[field]]] : []))

const without = (document: Document, fields: ReadonlyArray<string>): Document =>
  Object.fromEntries(Object.entries(document).filter(([field]) => !fields.includes(field)))

/** The values as the store would return them. May throw. */
const asRead = (document: Document): Document => plainValue(Result.getOrThrow(normalise(document)))

interface PartCodec {
  readonly decode: (document: Document) => Result.Result<object, ReadonlyArray<FieldProblem>>
  /** Encodes the values that are given. May throw. */
  readonly encode: (values: unknown) => Document
}

/** A codec of some of a version's fields, made when it is first used. */
const lazyCodec = (fields: Versions["fields"], names: ReadonlyArray<string>): () => PartCodec => {
  let known: PartCodec | undefined
  return () => known ??= partCodec(fields, names)
}

const partCodec = (fields: Versions["fields"], names: ReadonlyArray<string>): PartCodec => {
  const part = modelWith("Part", picked(fields, names))
  const decode = recordDecoder(part)
  const encode = encoderOf(part, "_id")
  const stored = names.map((name) => part[modelTypeId][name]?.managed === "id" ? "_id" : name)
  return {
    decode: (document): Result.Result<object, ReadonlyArray<FieldProblem>> => {
      const decoded: unknown = decode(picked(document, stored))
      if (!Exit.isExit(decoded)) return Result.fail([problem("can't be decoded at once")])
      // An instance is an object of its fields.
      if (Exit.isSuccess(decoded)) return Result.succeed({ ...decoded.value as object })
      const problems = Option.getOrUndefined(Exit.findErrorOption(decoded))
      // The decoder fails with problems.
      return Result.fail((problems ?? [problem("can't be decoded")]) as ReadonlyArray<FieldProblem>)
    },
    encode: (values) => picked(encode(values), stored)
  }
}

const modelWith = (name: string, fields: { readonly [key: string]: unknown }): Model.Any =>
  // The fields were declared as those of a model.
  Model.Class<unknown>()(name, fields as Model.Model.Fields)
