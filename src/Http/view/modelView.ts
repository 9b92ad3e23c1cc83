import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { memoizeByModel } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document, Filter } from "../../Repository/DocumentStore.ts"
import { modelMatcher } from "../../Repository/evaluation.ts"
import type { RowRules } from "../../Repository/introspection.ts"
import type { Naming } from "../query/naming.ts"
import { type CallerView, CallerViews, type HeldGrant, keyOf, noGrants } from "./callerView.ts"
import { type DocumentForm, formWithout } from "./documentForm.ts"
import {
  type FieldNames,
  hiddenBy,
  modelWithout,
  takenBy,
  takenByAll,
  unwritableBy,
  unwritableByAll
} from "./fieldRules.ts"
import { namingOf } from "./naming.ts"
import { type Values, type WriteRules, writeRulesOf } from "./writeRules.ts"

/**
 * A model as the holders of a set of grants see it, compiled once for the set.
 *
 * @internal
 */
export interface ModelView {
  /** The model without the fields that are hidden in every document. What may be left out of a body is optional. */
  readonly model: Model.Any
  /** The fields that are hidden in every document. */
  readonly hidden: FieldNames
  /** The rules for fields that hold for writes of any document. */
  readonly rules: WriteRules
  /** The documents of the caller for whom the fiber runs. */
  readonly of: (fiber: Fiber.Fiber<unknown, unknown>) => CallerDocuments
  /** The documents of a caller who holds the grants. */
  readonly ofCaller: (grants: CallerView) => CallerDocuments
  /** Whether everything is shown and may be written. */
  readonly isWhole: boolean
  /** Whether documents are shown at all. */
  readonly isReadable: boolean
  /** The form of all documents, if it is the same. */
  readonly form: DocumentForm | undefined
  /** Whether documents show different fields, or different ones may be written. */
  readonly dependsOnDocument: boolean
  /** Whether the rules for a write depend on the document. */
  readonly rulesDependOnDocument: boolean
  /** The documents of every caller, if they do not depend on the caller. */
  readonly same: CallerDocuments | undefined
}

/**
 * What a caller sees of each document.
 *
 * @internal
 */
export interface CallerDocuments {
  /** Whether the caller sees the document at all. */
  readonly isShown: (document: Document) => boolean
  /** How the document is written for the caller. */
  readonly formOf: (document: Document) => DocumentForm
  /** The form of all documents, if it is the same. */
  readonly form: DocumentForm | undefined
  /** How the document may be updated: by any one of these. */
  readonly updatesOf: (document: Document) => GrantedWrites
  /**
   * The rules for rows of an insertion of these values, by those grants that allow all of them; `undefined`: those of all grants
   * of the caller. The failure is the name of a field that no such grant allows.
   */
  readonly insertRulesOf: (sent: Values) => Result.Result<RowRules | undefined, string>
  /** What a request of the caller may name. `undefined`: what the view's model has, in every document. */
  readonly naming: (() => Naming) | undefined
}

/** What the caller may write by grants with the same rules for fields. */
interface GrantedWrite {
  readonly rules: WriteRules
  /** Whether one of the grants allows to leave the document behind. */
  readonly admits: (document: Document) => boolean
  /** The rules for rows of a write by these grants; `undefined`: those of all grants of the caller. */
  readonly rowRules: RowRules | undefined
}

type GrantedWrites = Arr.NonEmptyReadonlyArray<GrantedWrite>

/**
 * The view of callers who see and write everything.
 *
 * @internal
 */
export const wholeView = (model: Model.Any): ModelView => {
  const form = formWithout(model, [])
  const rules = writeRulesOf(model, {
    hidden: constantly([]),
    unwritable: constantly([]),
    isUnseen: false,
    isPartlySeen: false
  })
  const writes: GrantedWrites = [{ rules, admits: always, rowRules: undefined }]
  const documents: CallerDocuments = {
    isShown: () => true,
    formOf: () => form,
    form,
    updatesOf: () => writes,
    insertRulesOf: () => Result.succeed(undefined),
    naming: undefined
  }
  return {
    model,
    hidden: [],
    rules,
    of: () => documents,
    ofCaller: () => documents,
    isWhole: true,
    isReadable: true,
    form,
    dependsOnDocument: false,
    rulesDependOnDocument: false,
    same: documents
  }
}

/**
 * The view of a set of grants. The last 64 of a model are cached.
 *
 * @internal
 */
export const modelView = (model: Model.Any, grants: CallerView): ModelView =>
  views(model).getOrMake(keyOf(grants), () => makeView(model, grants))

const maxViews = 64

const views = memoizeByModel(() => new BoundedCache<ModelView>(maxViews))

const makeView = (model: Model.Any, grants: CallerView): ModelView => {
  const hidden = takenBy(grants.read, hiddenBy)
  const unwritable = unwritableByAll(grants.write)
  const isReadable = grants.read.length > 0
  /** Whether the caller sees some of the documents that they write, and others not. */
  const isPartlySeen = isReadable && grants.read.every(({ rows }) => rows !== undefined)
  const rules = writeRulesOf(model, { hidden, unwritable, isUnseen: !isReadable, isPartlySeen })
  const rulesDependOnDocument = hidden.dependsOnDocument || unwritable.dependsOnDocument ||
    isPartlySeen && hidden.ever.length + unwritable.ever.length > 0
  const shown = modelWithout(model, hidden.always, rules.loose)
  const form = hidden.dependsOnDocument ? undefined : formWithout(model, hidden.always)
  const ofCaller = (view: CallerView): CallerDocuments => {
    const reading = matchingBy(model, view.read, rowsOf)
    const writing = matchingBy(model, view.write, rowsOf)
    const leaving = matchingBy(model, view.write, checkOf)
    /** Grants that reach no document take away what any of them does. */
    const hiddenFrom = (reaching: ReadonlyArray<HeldGrant>) =>
      reaching.length === 0 ? hidden.ever : takenByAll(reaching.map(hiddenBy))
    const hiddenIn = (document: Document) => hiddenFrom(reading(document))
    const anyWrite: GrantedWrites = [{ rules, admits: always, rowRules: undefined }]
    const writesBy = (document: Document, held: ReadonlyArray<HeldGrant>): GrantedWrites => {
      const seeing = reading(document)
      const taken = {
        hidden: constantly(hidden.dependsOnDocument ? hiddenFrom(seeing) : hidden.always),
        isUnseen: seeing.length === 0,
        isPartlySeen: false
      }
      const writes = bySameFields(held).map((grants, _, all): GrantedWrite => ({
        rules: writeRulesOf(model, { ...taken, unwritable: constantly(takenByAll(grants.map(unwritableBy))) }),
        admits: (document) => leaving(document).some((grant) => grants.includes(grant)),
        rowRules: all.length === 1 ? undefined : view.rowRulesOf(grants)
      }))
      if (Arr.isReadonlyArrayNonEmpty(writes)) return writes
      const none = writeRulesOf(model, { ...taken, unwritable: constantly(unwritable.ever) })
      return [{ rules: none, admits: () => false, rowRules: undefined }]
    }
    return {
      isShown: (document) => reading(document).length > 0,
      formOf: form === undefined ? (document) => formWithout(model, hiddenIn(document)) : () => form,
      form,
      updatesOf: rulesDependOnDocument ? (document) => writesBy(document, writing(document)) : () => anyWrite,
      insertRulesOf: rulesDependOnDocument
        ? insertionsBy(model, view)
        : () => Result.succeed(undefined),
      naming: hidden.dependsOnDocument ? () => namingOf(model, view.read, hidden) : undefined
    }
  }
  const isStatic = !rulesDependOnDocument && [...grants.read, ...grants.write].every(({ rows }) => rows === undefined)
  const same = isStatic ? ofCaller(grants) : undefined
  return {
    model: shown,
    hidden: hidden.always,
    rules,
    isWhole: false,
    isReadable,
    form,
    dependsOnDocument: hidden.dependsOnDocument || unwritable.dependsOnDocument,
    rulesDependOnDocument,
    same,
    ofCaller: same === undefined ? ofCaller : () => same,
    of: (fiber) => same ?? ofCaller(Context.get(fiber.context, CallerViews)?.own ?? noGrants)
  }
}

const constantly = (names: ReadonlyArray<string>) => ({ always: names, ever: names })

/** The grants whose filter matches a document. Each is parsed once, when it is first asked about a document. */
const matchingBy = (
  model: Model.Any,
  grants: ReadonlyArray<HeldGrant>,
  filterOf: (grant: HeldGrant) => Filter | undefined
): (document: Document) => ReadonlyArray<HeldGrant> => {
  if (grants.every((grant) => filterOf(grant) === undefined)) return () => grants
  let matches: ReadonlyArray<(document: Document) => boolean> | undefined
  return (document) => {
    const tests = matches ??= grants.map((grant) => {
      const filter = filterOf(grant)
      return filter === undefined ? always : modelMatcher(model, filter)
    })
    return grants.filter((_, i) => tests[i]!(document))
  }
}

const rowsOf = ({ rows }: HeldGrant) => rows

const checkOf = ({ check }: HeldGrant) => check

/** The rules are the same object for the same grants, so that a list can be inserted in few parts. */
const insertionsBy = (model: Model.Any, view: CallerView): CallerDocuments["insertRulesOf"] => {
  // Most requests insert nothing.
  const groupsOf = () =>
    bySameFields(view.write).map((grants) => {
      const unwritable = constantly(takenByAll(grants.map(unwritableBy)))
      return {
        grants,
        rules: writeRulesOf(model, { hidden: constantly([]), unwritable, isUnseen: false, isPartlySeen: false })
      }
    })
  let groups: ReturnType<typeof groupsOf> | undefined
  const known = new Map<string, RowRules>()
  return (sent) => {
    groups ??= groupsOf()
    const attempts = groups.map(({ grants, rules }) => Result.map(rules.keep(sent, undefined, "replace"), () => grants))
    const allowed = Arr.getSuccesses(attempts)
    if (allowed.length === attempts.length) return Result.succeed(undefined)
    const [denied = ""] = Arr.getFailures(attempts)
    if (allowed.length === 0) return Result.fail(denied)
    const key = attempts.map(Result.isSuccess).join()
    const rules = known.get(key) ?? view.rowRulesOf(allowed.flat())
    known.set(key, rules)
    return Result.succeed(rules)
  }
}

/** The grants by the fields that they take away, those that take away the fewest first. */
const bySameFields = (grants: ReadonlyArray<HeldGrant>): ReadonlyArray<ReadonlyArray<HeldGrant>> => {
  const groups = new Map<string, Array<HeldGrant>>()
  for (const grant of grants) {
    const key = takenByAll([unwritableBy(grant)]).join()
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [grant])
    else group.push(grant)
  }
  return [...groups.values()].toSorted(([one], [other]) => unwritableBy(one!).length - unwritableBy(other!).length)
}

const always = () => true
