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
import type { ResponseEffect } from "./callFailures.ts"
import { identifierOf } from "./identifier.ts"
import * as responses from "./json.ts"
import * as Links from "./links.ts"
import type { Representation } from "./representation.ts"

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
 * The responses to writes: the result, or the document if the request prefers it (RFC 7240).
 *
 * @internal
 */
export const writeResponses = (
  { model, path }: ResourceInfo,
  repository: Repository<Model.Any>,
  representation: Representation
): (written: Written, prefer: Return | undefined) => ResponseEffect => {
  const { print, valueOf, write } = identifierOf(model)
  const documents = documentOperationsOf(repository)
  const inserted = managedField(model, "version") === undefined ? undefined : { etag: etagOf(1) }

  /** Every write of a versioned document has its `ETag`, an insertion its `Location`. */
  const headersFor = ({ created, document, id }: WrittenDocument) => {
    const etag = document === undefined ? inserted : representation.headersOf(document)
    return created ? { location: Links.hrefOf(path, print(id)), ...etag } : etag
  }

  const documentOf = (
    written: WrittenDocument,
    status: number,
    headers: { readonly [name: string]: string } | undefined
  ) =>
    Effect.flatMap(
      written.document === undefined
        ? documents.findById(valueOf(written.id))
        : Effect.succeed(written.document),
      (document): ResponseEffect =>
        document === undefined
          ? Effect.fail(new DocumentNotFound({ model: model.modelName, id: textOfId(print(written.id)) }))
          : representation.respond(document, status, {
            ...headers,
            "content-location": Links.hrefOf(path, print(written.id))
          })
    )

  return (written, prefer) => {
    switch (written._tag) {
      case "Deleted":
        return Effect.succeed(responses.operationResult("1"))
      case "Documents":
        return Effect.succeed(responses.operationResult(`[${written.ids.map(write).join(",")}]`, 201))
      case "Document": {
        const status = written.created ? 201 : 200
        const own = headersFor(written)
        const headers = prefer === undefined ? own : { ...own, ...appliedHeaders[prefer] }
        return prefer === "representation"
          ? documentOf(written, status, headers)
          : Effect.succeed(responses.operationResult(write(written.id), status, headers))
      }
    }
  }
}
