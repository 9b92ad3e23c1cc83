import * as Context from "effect/Context"
import type * as Fiber from "effect/Fiber"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { memoizeByModel } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { rowMatcher } from "../../Repository/evaluation.ts"
import type { Naming } from "../query/naming.ts"
import { type CallerView, CallerViews, type HeldGrant, keyOf } from "./callerView.ts"
import { type DocumentForm, formWithout } from "./documentForm.ts"
import { type FieldNames, hiddenBy, modelWithout, takenBy, takenByAll, unwritableBy } from "./fieldRules.ts"
import { namingOf } from "./naming.ts"
import { type WriteRules, writeRulesOf } from "./writeRules.ts"

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
  /** The rules for a write of the document; `undefined` as a document: for its insertion. */
  readonly rulesOf: (document: Document) => WriteRules
  /** What a request of the caller may name. `undefined`: what the view's model has, in every document. */
  readonly naming: (() => Naming) | undefined
}

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
  const documents: CallerDocuments = {
    isShown: () => true,
    formOf: () => form,
    form,
    rulesOf: () => rules,
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
  const unwritable = takenBy(grants.write, unwritableBy)
  const isReadable = grants.read.length > 0
  /** Whether the caller sees some of the documents that they write, and others not. */
  const isPartlySeen = isReadable && grants.read.every(({ rows }) => rows !== undefined)
  const rules = writeRulesOf(model, { hidden, unwritable, isUnseen: !isReadable, isPartlySeen })
  const rulesDependOnDocument = hidden.dependsOnDocument || unwritable.dependsOnDocument ||
    isPartlySeen && unwritable.ever.length > 0
  const shown = modelWithout(model, hidden.always, rules.loose)
  const form = hidden.dependsOnDocument ? undefined : formWithout(model, hidden.always)
  const ofCaller = (view: CallerView): CallerDocuments => {
    const reading = reachingBy(view.read)
    const writing = reachingBy(view.write)
    /** Grants that reach no document take away what any of them does. */
    const hiddenFrom = (reaching: ReadonlyArray<HeldGrant>) =>
      reaching.length === 0 ? hidden.ever : takenByAll(reaching.map(hiddenBy))
    const hiddenIn = (document: Document) => hiddenFrom(reading(document))
    return {
      isShown: (document) => reading(document).length > 0,
      formOf: form === undefined ? (document) => formWithout(model, hiddenIn(document)) : () => form,
      form,
      rulesOf: rulesDependOnDocument
        ? (document) => {
          const seeing = reading(document)
          const own = hidden.dependsOnDocument ? hiddenFrom(seeing) : hidden.always
          const reaching = writing(document)
          const kept = reaching.length === 0 ? unwritable.ever : takenByAll(reaching.map(unwritableBy))
          return writeRulesOf(model, {
            hidden: constantly(own),
            unwritable: constantly(kept),
            isUnseen: seeing.length === 0,
            isPartlySeen: false
          })
        }
        : () => rules,
      naming: hidden.dependsOnDocument ? () => namingOf(model, view.read, hidden) : undefined
    }
  }
  const isStatic = [...grants.read, ...grants.write].every(({ rows }) => rows === undefined)
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

/** The grants that reach a document. The filter of each is parsed once, when it is first asked about a document. */
const reachingBy = (
  grants: ReadonlyArray<HeldGrant>
): (document: Document) => ReadonlyArray<HeldGrant> => {
  if (grants.every(({ rows }) => rows === undefined)) return () => grants
  let matches: ReadonlyArray<(document: Document) => boolean> | undefined
  return (document) => {
    const tests = matches ??= grants.map(({ rows }) => rows === undefined ? always : rowMatcher(rows))
    return grants.filter((_, i) => tests[i]!(document))
  }
}

const always = () => true

const noGrants: CallerView = { read: [], write: [] }
