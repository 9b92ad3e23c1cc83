/** The responses to creates, replacements, patches and deletes, with `Location`, `ETag` and `Prefer`. */
import * as Effect from "effect/Effect"
import type { ModelView } from "../../Access/internal.ts"
import { managedField } from "../../Model/internal.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { identifierOf } from "../../Repository/internal.ts"
import { encoded } from "../description/pathShape.ts"
import type { ResourceInfo } from "../registration/registration.ts"
import { etagOf } from "../request/entityTags.ts"
import { appliedHeaders, type Return } from "../request/prefer.ts"
import type { ResponseEffect } from "./handlerFailures.ts"
import * as responses from "./json.ts"
import * as Links from "./links.ts"
import { type Representations, withEmbedded } from "./representation.ts"

/** The result of a write of one document. */
export interface WrittenDocument {
  readonly _tag: "Document"
  /** The identifier, as it is stored. */
  readonly id: unknown
  /** The stored document after the write. */
  readonly document: Document
  readonly created: boolean
}

/** The result of a write: one written document, the stored identifiers of several inserted ones, or a deletion. */
export type WrittenAnswer =
  | WrittenDocument
  | { readonly _tag: "Documents"; readonly ids: ReadonlyArray<unknown> }
  | { readonly _tag: "Deleted" }

/** Responds to writes with the result, or the document if preferred (RFC 7240) and visible to the caller. */
export const writeResponses = (
  { model, path }: ResourceInfo,
  representations: Representations,
  { isReadable }: Pick<ModelView, "isReadable">
): (written: WrittenAnswer, prefer: Return | undefined, embed?: EmbedIn) => ResponseEffect => {
  const { print, write } = identifierOf(model)
  const place = encoded(path)
  const versionField = managedField(model, "version")

  /** Adds the `Location` of an inserted document. */
  const headersFor = ({ created, id }: WrittenDocument, etag: Headers | undefined) =>
    created ? { location: Links.hrefOf(place, print(id)), ...etag } : etag

  const resultOf = (
    written: WrittenDocument,
    etag: Headers | undefined,
    prefer: Return | undefined
  ): ResponseEffect => {
    const own = headersFor(written, etag)
    return Effect.succeed(
      responses.operationResult(
        write(written.id),
        written.created ? 201 : 200,
        prefer === undefined ? own : { ...own, ...appliedHeaders[prefer] }
      )
    )
  }

  const documentOf = (written: WrittenDocument, own: string, embedded: string | undefined): ResponseEffect => {
    const etag = versionField === undefined ? undefined : { etag: etagOf(own, embedded) }
    return Effect.succeed(
      responses.json(embedded === undefined ? own : withEmbedded(own, embedded), written.created ? 201 : 200, {
        ...headersFor(written, etag),
        ...appliedHeaders.representation,
        // A GET of the place alone embeds nothing.
        ...embedded === undefined ? { "content-location": Links.hrefOf(place, print(written.id)) } : {}
      })
    )
  }

  const shown = (written: WrittenDocument, prefer: Return | undefined, embed: EmbedIn | undefined): ResponseEffect =>
    Effect.withFiber((fiber) => {
      const representation = representations(fiber)
      const { document } = written
      if (!representation.isShown(document)) {
        return resultOf(written, undefined, prefer === "representation" ? undefined : prefer)
      }
      const text = representation.textOf(document)
      if (text === undefined) return representation.corrupt(document)
      if (prefer !== "representation") {
        return resultOf(written, versionField === undefined ? undefined : { etag: etagOf(text) }, prefer)
      }
      return embed === undefined
        ? documentOf(written, text, undefined)
        : Effect.flatMap(embed(document), (embedded) => documentOf(written, text, embedded))
    })

  return (written, prefer, embed) => {
    switch (written._tag) {
      case "Deleted":
        return Effect.succeed(responses.operationResult("1"))
      case "Documents":
        return Effect.succeed(responses.operationResult(`[${written.ids.map(write).join(",")}]`, 201))
      case "Document":
        return !isReadable
          ? resultOf(written, undefined, prefer === "minimal" ? prefer : undefined)
          : versionField === undefined && prefer !== "representation"
          ? resultOf(written, undefined, prefer)
          : shown(written, prefer, embed)
    }
  }
}

/** The member `_embedded` of a written document, if there is one. */
type EmbedIn = (document: Document) => Effect.Effect<string | undefined>

type Headers = { readonly [name: string]: string }
