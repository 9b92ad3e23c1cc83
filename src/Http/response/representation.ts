import * as Effect from "effect/Effect"
import { compileSerialiser, managedField, type Serialiser } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { ResourceInfo } from "../Registration.ts"
import { etagOf } from "../request/preconditions.ts"
import type { ResponseEffect } from "./callFailures.ts"
import { identifierOf } from "./identifier.ts"
import * as responses from "./json.ts"
import * as Links from "./links.ts"

type Headers = { readonly [name: string]: string }

/**
 * The wire form of a resource's documents.
 *
 * @internal
 */
export interface Representation {
  readonly serialise: Serialiser
  /** The JSON text with links; `undefined` for a document that does not match the model. */
  readonly textOf: (document: Document) => string | undefined
  readonly textBy: (serialise: Serialiser) => (document: Document) => string | undefined
  /** The entity tag (RFC 9110, section 8.8.3) of a versioned document. */
  readonly headersOf: (document: Document) => Headers | undefined
  readonly respond: (document: Document, status?: number, headers?: Headers) => ResponseEffect
  /** The response of the document in another serialiser's form. */
  readonly respondWith: (serialise: Serialiser) => (document: Document) => ResponseEffect
  /** Fails for a document that can't be serialised with the repository's own description of its problems. */
  readonly corrupt: (document: Document) => ResponseEffect
}

/** @internal */
export const representationOf = (
  resource: ResourceInfo,
  repository: Repository<Model.Any>
): Representation => {
  const { model } = resource
  const serialise = compileSerialiser(model)
  const { print, valueOf } = identifierOf(model)
  const links = Links.ofResource(resource)
  const versionField = managedField(model, "version")
  const textOf = (document: Document) => serialise(document, links(print(document["_id"])))
  const headersOf = (document: Document) =>
    versionField === undefined ? undefined : { etag: etagOf(Number(document[versionField])) }
  const corrupt = (document: Document): ResponseEffect =>
    Effect.flatMap(
      repository.findById(valueOf(document["_id"])),
      () => Effect.die(new Error(`${model.modelName} ${print(document["_id"])} can't be written`))
    )
  const textBy = (serialise: Serialiser) => (document: Document) => serialise(document, links(print(document["_id"])))
  const respond = (text: string | undefined, document: Document, status?: number, headers?: Headers): ResponseEffect =>
    text === undefined
      ? corrupt(document)
      : Effect.succeed(responses.json(
        text,
        status,
        versionField === undefined ? headers : { ...headers, ...headersOf(document) }
      ))

  return {
    serialise,
    textOf,
    textBy,
    headersOf,
    corrupt,
    respond: (document, status, headers) => respond(textOf(document), document, status, headers),
    respondWith: (serialise) => {
      const textOf = textBy(serialise)
      return (document) => respond(textOf(document), document)
    }
  }
}
