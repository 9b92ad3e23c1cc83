import * as Effect from "effect/Effect"
import { compileSerialiser, managedField, type Serialiser } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { ResourceInfo } from "../Registration.ts"
import { etagOf } from "../request/preconditions.ts"
import type { Answer } from "./callFailures.ts"
import { identifierOf } from "./identifier.ts"
import * as answers from "./json.ts"
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
  readonly answer: (document: Document, status?: number, headers?: Headers) => Answer
  /** The response of the document in another serialiser's form. */
  readonly answerBy: (serialise: Serialiser) => (document: Document) => Answer
  /** Fails for a document that can't be serialised with the repository's own description of its problems. */
  readonly corrupt: (document: Document) => Answer
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
  const corrupt = (document: Document): Answer =>
    Effect.flatMap(
      repository.findById(valueOf(document["_id"])),
      () => Effect.die(new Error(`${model.modelName} ${print(document["_id"])} can't be written`))
    )
  const textBy = (serialise: Serialiser) => (document: Document) => serialise(document, links(print(document["_id"])))
  const answer = (text: string | undefined, document: Document, status?: number, headers?: Headers): Answer =>
    text === undefined
      ? corrupt(document)
      : Effect.succeed(answers.json(
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
    answer: (document, status, headers) => answer(textOf(document), document, status, headers),
    answerBy: (serialise) => {
      const textOf = textBy(serialise)
      return (document) => answer(textOf(document), document)
    }
  }
}
