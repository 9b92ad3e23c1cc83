/** How documents look to a caller: JSON text with links, without hidden fields, and the entity tag of that text. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { constant } from "effect/Function"
import { memoize } from "effect/Function"
import type { CallerDocuments, ModelView } from "../../Access/internal.ts"
import { managedField, type Serialiser } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { AccessDecision, identifierOf, textOfId } from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { ResourceInfo } from "../registration/registration.ts"
import { etagOf } from "../request/entityTags.ts"
import type { ResponseEffect } from "./handlerFailures.ts"
import * as Links from "./links.ts"
import { eachBy, type KeptTexts, textsToWire, type WireText, type WireTextAt } from "./wireText.ts"

/** The wire form of a resource's documents. */
export interface DocumentRepresentation {
  /** Whether the caller may see the document. */
  readonly isShown: (document: Document) => boolean
  /** The JSON text with links; `undefined` for a document that does not match the model. */
  readonly textOf: (document: Document) => string | undefined
  /** {@link DocumentRepresentation.textOf} with the selected fields only. It needs the whole document if its links depend on it. */
  readonly textBy: (fields: ReadonlyArray<string>) => (document: Document) => string | undefined
  /** The text of `textOf`, or with selected fields that of `textBy`, as it is sent alone. Whole texts of records are kept. */
  readonly wireOf: (fields?: ReadonlyArray<string>) => (document: Document) => WireText | undefined
  /** {@link DocumentRepresentation.wireOf} the documents of a page. */
  readonly wiresOf: (fields?: ReadonlyArray<string>) => (documents: ReadonlyArray<Document>) => WireTextAt
  /** Whether the caller sees the field of the document. */
  readonly shows: (document: Document, field: string) => boolean
  /** Whether the links of a document depend on its fields. */
  readonly linksDependOnDocument: boolean
  /** Fails with the repository's description of the problems of a document that can't be serialised. */
  readonly corrupt: (document: Document) => ResponseEffect
}

/** The representation of a resource's documents for the caller of the fiber's request. */
export interface Representations {
  (fiber: Fiber.Fiber<unknown, unknown>): DocumentRepresentation
  /** The representation for all callers, if it does not depend on them. */
  readonly forAll?: DocumentRepresentation
}

/** Logs the identifiers of documents that do not fit the model. */
export const logUnreadable = (model: Model.Any, documents: ReadonlyArray<Document>): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logError(`Documents of ${model.modelName} can't be read`), {
    model: model.modelName,
    ids: documents.map(({ _id }) => textOfId(_id))
  })

/** Adds the member `_embedded` to the text of a document, of characters or as it is sent. */
export const withEmbedded = (text: string, embedded: string): string =>
  text === "{}" ? `{${embedded}}` : `${text.slice(0, -1)},${embedded}}`

/** {@link withEmbedded} of texts as they are sent. */
export const embeddedInto = (own: WireText, embedded: WireText): WireText => ({
  text: withEmbedded(own.text, embedded.text),
  isAscii: own.isAscii && embedded.isAscii
})

/**
 * The entity tags of documents as the caller of the fiber's request sees them. One without versions, one that the caller does not
 * see, and one that does not match the model have none.
 */
export const documentTags = (
  model: Model.Any,
  representations: Representations,
  { isReadable }: Pick<ModelView, "isReadable">
): (fiber: Fiber.Fiber<unknown, unknown>) => (document: Document) => string | undefined =>
  managedField(model, "version") === undefined || !isReadable ? () => () => undefined : (fiber) => {
    const { isShown, textOf } = representations(fiber)
    return (document) => {
      const text = isShown(document) ? textOf(document) : undefined
      return text === undefined ? undefined : etagOf(text)
    }
  }

export const representationsOf = (
  resource: ResourceInfo,
  repository: Repository<Model.Any>,
  { isViewed, links, texts, view }: {
    readonly view: ModelView
    /** What keeps the texts of records; without it none is kept. */
    readonly texts?: KeptTexts
    /** Whether the representation depends on the caller. */
    readonly isViewed: boolean
    /** Defaults to those of the resource. */
    readonly links?: Links.ResourceLinks
  }
): Representations => {
  const { model } = resource
  const { print, valueOf } = identifierOf(resource.model)
  const resourceLinks = links ?? Links.ofResource(resource, view)
  const corrupt = (document: Document): ResponseEffect =>
    Effect.flatMap(
      repository.findById(valueOf(document["_id"])),
      () => Effect.die(new Error(`${model.modelName} ${print(document["_id"])} can't be written`))
    )

  const idOf = (document: Document) => print(document["_id"])

  const representationFor = (
    { form, formOf, isShown }: Pick<CallerDocuments, "form" | "formOf" | "isShown">,
    links: Links.CallerLinks
  ): DocumentRepresentation => {
    const serialise: Serialiser = form === undefined
      ? (document, links) => formOf(document).serialise(document, links)
      : form.serialise
    const textOf = (document: Document) => serialise(document, links.of(idOf(document), document))
    // Links that depend on the document are made anew: they are those of a caller's filters.
    const kept = links.dependOnDocument ? undefined : texts
    const writeOf: (document: Document) => Serialiser = form === undefined
      ? (document) => formOf(document).serialise
      : constant(form.serialise)
    const wireOfWhole = kept === undefined
      ? textsToWire(textOf)
      : (document: Document) => kept.of(document, writeOf(document), links.of, idOf, true)
    const wiresOfWhole = kept === undefined
      ? eachBy(wireOfWhole)
      : (documents: ReadonlyArray<Document>) => kept.each(documents, writeOf, links.of, idOf)
    const textBy = (fields: ReadonlyArray<string>) => {
      const selected = form?.selected(fields)
      return (document: Document) =>
        (selected ?? formOf(document).selected(fields))(document, links.of(idOf(document), document))
    }
    return {
      isShown,
      textOf,
      textBy,
      wireOf: (fields) => fields === undefined ? wireOfWhole : textsToWire(textBy(fields)),
      wiresOf: (fields) => fields === undefined ? wiresOfWhole : eachBy(textsToWire(textBy(fields))),
      shows: (document, field) => formOf(document).shows(field),
      linksDependOnDocument: links.dependOnDocument,
      corrupt
    }
  }

  const { form, same } = view
  const linksOf = (fiber: Fiber.Fiber<unknown, unknown>): Links.CallerLinks => {
    const permitted = Context.get(fiber.context, AccessDecision)?.endpoint?.links
    return permitted === undefined ? resourceLinks.all : resourceLinks.by(permitted)
  }
  if (form === undefined) return (fiber) => representationFor(view.of(fiber), linksOf(fiber))
  // All callers see the same fields here. Which documents they see, and the links, may differ.
  const sharedBy = memoize((links: Links.CallerLinks): DocumentRepresentation =>
    representationFor(same ?? { isShown: () => true, form, formOf: () => form }, links)
  )
  if (!isViewed) {
    const forAll = sharedBy(resourceLinks.all)
    return Object.assign(() => forAll, { forAll })
  }
  return same === undefined
    ? (fiber) => ({ ...sharedBy(linksOf(fiber)), isShown: view.of(fiber).isShown })
    : (fiber) => sharedBy(linksOf(fiber))
}
