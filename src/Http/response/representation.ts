import * as Effect from "effect/Effect"
import { compileSerialiser, managedField, type Serialiser } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { identifierOf } from "../description/identifier.ts"
import type { ResourceInfo } from "../Registration.ts"
import { etagOf } from "../request/preconditions.ts"
import type { Answer } from "./failures.ts"
import * as answers from "./json.ts"
import * as Links from "./links.ts"

type Headers = { readonly [name: string]: string }

/**
 * The documents of a resource as callers see them.
 *
 * @internal
 */
export interface Representation {
  readonly serialise: Serialiser
  /** JSON text with links; `undefined` for a document that is not the model's. */
  readonly textOf: (document: Document) => string | undefined
  readonly textBy: (serialise: Serialiser) => (document: Document) => string | undefined
  /** The entity tag (RFC 9110, section 8.8.3) of a versioned document. */
  readonly headersOf: (document: Document) => Headers | undefined
  readonly answer: (document: Document, status?: number, headers?: Headers) => Answer
  /** Answers the document as another serialiser writes it. */
  readonly answerBy: (serialise: Serialiser) => (document: Document) => Answer
  /** A document that can't be written is not the model's; the repository says how. */
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
