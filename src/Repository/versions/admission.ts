/**
 * What is written by an earlier version of a model, as a write of the newest version would take it: upgraded, completed, converted
 * and validated as the newest version has it. Values that a document has already are not validated again.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import {
  type FieldProblem,
  finaliser,
  inspector,
  Kept,
  type ModelLike,
  modelTypeId,
  modelVersionField,
  nestedModel
} from "../../Model/internal.ts"
import { Problem, ValidationException } from "../../Model/ModelError.ts"
import { documentCodec } from "../collection/documentCodec.ts"
import { ownerOf } from "../collection/storedCollection.ts"
import type { Document } from "../DocumentStore.ts"
import { isStoredIdentically } from "../query/bsonForm.ts"
import { unreadableProblems } from "../query/unreadable.ts"
import { type ModelVersions, pathsInView } from "./modelVersions.ts"

/** Makes the document of the newest version; `stored` is the one that it replaces. */
export const admission = (view: ModelLike, versions: ModelVersions, version: number) => {
  const model = ownerOf(view)
  const attributes = model[modelTypeId]
  const { fromDocument, toDocument } = documentCodec(model)
  const [finalise, inspect] = [finaliser(model), inspector(model)]
  const names = Object.keys(model.store.fields).filter((name) => attributes[name]?.managed === undefined)
  const managed = Object.keys(attributes).filter((name) => attributes[name]?.managed !== undefined)
  const generated = versions.generatedSince(version)
  // The earlier version has converted and completed the values of these fields in the same way.
  const isComplete = (name: string): boolean => {
    const before = versions.pathIn(name, version)
    return before !== undefined && view[modelTypeId][before]?.converter === attributes[name]?.converter &&
      nestedModel(view.store.fields[before]) === nestedModel(model.store.fields[name])
  }
  const complete = new Set(names.filter(isComplete))

  /** The problem as the sender of the earlier version knows it. */
  const inView = ({ field, ...problem }: FieldProblem): ReadonlyArray<FieldProblem> => {
    const known = pathsInView(versions, view, version, field)
    return (known.length === 0 ? [""] : known).map((field) => ({ field, ...problem }))
  }
  const refused = (problems: ReadonlyArray<FieldProblem>): ValidationException => {
    const own = problems.filter(({ field }) => field !== modelVersionField)
    const all = (own.length === 0 ? problems : own).flatMap(inView).map((problem) => new Problem(problem))
    const [{ field, message, validator } = new Problem({ field: "", validator: "Form", message: "is not valid" })] = all
    return new ValidationException({ model: view.modelName, validator, field, detail: message, problems: all })
  }

  return Effect.fnUntraced(function*(
    document: Document,
    stored: Document | undefined
  ): Effect.fn.Return<Document, ValidationException> {
    const upgraded = versions.upgrade({ ...document, [modelVersionField]: version })
    const problems = unreadableProblems(upgraded)
    if (problems !== undefined) return yield* refused(problems)
    const changed = names.filter((name) => stored === undefined || !isStoredIdentically(stored[name], upgraded[name]))
    if (changed.length === 0) return upgraded
    const values: unknown = yield* Effect.mapError(fromDocument(upgraded), ({ problems }) => refused(problems))
    const previous = stored && Option.getOrUndefined(yield* Effect.option(fromDocument(stored)))
    const given = changed.filter((name) => !complete.has(name))
    const input = Object.fromEntries([...names, ...managed].map((name) => {
      const value: unknown = Reflect.get(Object(values), name)
      if (!given.includes(name)) return [name, new Kept(value)]
      // The upgrade gives what old documents have; a new one gets a value as any new document does.
      return [name, stored === undefined && generated.has(name) ? undefined : value]
    }))
    const converted = given.length === 0 ? Effect.succeed(values) : finalise(input, { previous })
    const instance = yield* Effect.mapError(
      Effect.tap(converted, (instance) => inspect(instance, previous)),
      ({ problems }) => refused(problems)
    )
    if (given.length === 0) return upgraded
    const encoded = toDocument(instance)
    const others = Object.entries(upgraded).filter(([name]) => !given.includes(name))
    return Object.fromEntries([
      ...others,
      ...given.flatMap((name) => Object.hasOwn(encoded, name) ? [[name, encoded[name]] as const] : [])
    ])
  })
}
