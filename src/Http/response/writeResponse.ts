import * as Effect from "effect/Effect"
import { managedField } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { documentOperationsOf, textOfId } from "../../Repository/introspection.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { DocumentNotFound } from "../../Repository/RepositoryError.ts"
import type { ResourceInfo } from "../Registration.ts"
import { etagOf } from "../request/preconditions.ts"
import { appliedHeaders, type Return } from "../request/prefer.ts"
import type { ModelView } from "../view/modelView.ts"
import type { ResponseEffect } from "./callFailures.ts"
import { identifierOf } from "./identifier.ts"
import * as responses from "./json.ts"
import * as Links from "./links.ts"
import type { Representations } from "./representation.ts"

/**
 * A document that was written.
 *
 * @internal
 */
export interface WrittenDocument {
  readonly _tag: "Document"
  /** The identifier, as it is stored. */
  readonly id: unknown
  /** As it is stored now; `undefined` where that was not read. */
  readonly document: Document | undefined
  readonly created: boolean
}

/**
 * What a write did: to one document, the identifiers of several that were inserted as they are stored, or that one was
 * deleted.
 *
 * @internal
 */
export type Written =
  | WrittenDocument
  | { readonly _tag: "Documents"; readonly ids: ReadonlyArray<unknown> }
  | { readonly _tag: "Deleted" }

/**
 * The responses to writes: the result, or the document if the request prefers it (RFC 7240) and its caller sees it.
 *
 * @internal
 */
export const writeResponses = (
  { model, path }: ResourceInfo,
  repository: Repository<Model.Any>,
  representations: Representations,
  { form, isReadable, isWhole }: Pick<ModelView, "form" | "isReadable" | "isWhole">
): (written: Written, prefer: Return | undefined) => ResponseEffect => {
  const { print, valueOf, write } = identifierOf(model)
  const documents = documentOperationsOf(repository)
  const isVersioned = managedField(model, "version") !== undefined

  /** Every write of a versioned document has its `ETag`, an insertion its `Location`. */
  const headersFor = ({ created, id }: WrittenDocument, etag: Headers | undefined) =>
    created ? { location: Links.hrefOf(path, print(id)), ...etag } : etag

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

  const shown = (written: WrittenDocument, prefer: Return | undefined): ResponseEffect =>
    Effect.withFiber((fiber) => {
      const representation = representations(fiber)
      return Effect.flatMap(
        written.document === undefined
          ? documents.findById(valueOf(written.id), { access: written.created ? "insert" : "update" })
          : Effect.succeed(written.document),
        (document): ResponseEffect => {
          if (document === undefined && isWhole) {
            return Effect.fail(new DocumentNotFound({ model: model.modelName, id: textOfId(print(written.id)) }))
          }
          if (document === undefined || !representation.isShown(document)) {
            return resultOf(written, undefined, undefined)
          }
          const etag = representation.headersOf(document)
          return prefer !== "representation" ? resultOf(written, etag, prefer) : representation.respond(
            document,
            written.created ? 201 : 200,
            {
              ...headersFor(written, etag),
              ...appliedHeaders[prefer],
              "content-location": Links.hrefOf(path, print(written.id))
            }
          )
        }
      )
    })

  return (written, prefer) => {
    switch (written._tag) {
      case "Deleted":
        return Effect.succeed(responses.operationResult("1"))
      case "Documents":
        return Effect.succeed(responses.operationResult(`[${written.ids.map(write).join(",")}]`, 201))
      case "Document": {
        if (!isReadable) return resultOf(written, undefined, prefer === "minimal" ? prefer : undefined)
        const needsDocument = isVersioned && written.document === undefined && form === undefined
        if (prefer === "representation" || needsDocument) return shown(written, prefer)
        if (!isVersioned) return resultOf(written, undefined, prefer)
        const { document } = written
        return Effect.withFiber((fiber) => {
          const representation = representations(fiber)
          if (document === undefined) return resultOf(written, { etag: etagOf(1, representation.tag?.()) }, prefer)
          const etag = representation.isShown(document) ? representation.headersOf(document) : undefined
          return resultOf(written, etag, prefer)
        })
      }
    }
  }
}

type Headers = { readonly [name: string]: string }
