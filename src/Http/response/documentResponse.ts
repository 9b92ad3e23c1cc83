/** The response to a read of one document, by its preconditions. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import { managedField } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import type * as UrlQuery from "../query/urlQuery.ts"
import { etagOf } from "../request/entityTags.ts"
import * as preconditions from "../request/preconditions.ts"
import type { ResponseEffect } from "./handlerFailures.ts"
import * as responses from "./json.ts"
import { type DocumentRepresentation, embeddedInto } from "./representation.ts"
import type { BadRequestResponder } from "./translatedResponses.ts"
import { contentOf, type WireText } from "./wireText.ts"

/** Responds with a document if the preconditions of the headers hold. */
export const documentResponses = ({ model, respondBadRequest }: {
  readonly model: Model.Any
  readonly respondBadRequest: BadRequestResponder
}) => {
  const answerOf = documentAnswers(model)
  return (
    representation: DocumentRepresentation,
    document: Document,
    headers: preconditions.Headers,
    fiber: Fiber.Fiber<unknown, unknown>,
    selected: Selected
  ): ResponseEffect => {
    const clock = fiber.getRef(Clock.Clock)
    const answer = answerOf(representation, document, clock, selected)
    if (answer === undefined) return representation.corrupt(document)
    const { etag, lastModified, tags, wire } = answer
    if (
      headers["if-modified-since"] !== undefined && headers["if-match"] === undefined &&
      preconditions.isNotModifiedSince(headers, lastModified, clock.currentTimeMillisUnsafe())
    ) {
      return Effect.succeed(HttpServerResponse.empty({ status: 304, headers: tags }))
    }
    if (headers["if-none-match"] === undefined && headers["if-match"] === undefined) {
      return Effect.succeed(responses.wireJson(wire, 200, tags))
    }
    const conditions = preconditions.read(headers)
    if (Result.isFailure(conditions)) return respondBadRequest(conditions.failure)
    switch (preconditions.evaluate(conditions.success, etag)) {
      case "failed":
        return Effect.fail(preconditions.failed)
      case "not modified":
        return Effect.succeed(HttpServerResponse.empty({ status: 304, headers: tags }))
      case "proceed":
        return Effect.succeed(responses.wireJson(wire, 200, tags))
    }
  }
}

/** Responds with a whole document without preconditions; `undefined` for one that does not match the model. */
export const plainDocumentResponses = (model: Model.Any) => {
  const answerOf = documentAnswers(model)
  return (
    representation: DocumentRepresentation,
    document: Document,
    clock: Clock.Clock
  ): HttpServerResponse.HttpServerResponse | undefined => {
    const answer = answerOf(representation, document, clock, wholeDocument)
    return answer && responses.wireJson(answer.wire, 200, answer.tags)
  }
}

// internal

interface Selected {
  readonly embedded?: WireText | undefined
  readonly fields?: UrlQuery.UrlQuery["fields"]
}

const wholeDocument: Selected = {}

/** The text of a document with the headers that tell its state. */
const documentAnswers = (model: Model.Any) => {
  const isVersioned = managedField(model, "version") !== undefined
  const updatedField = managedField(model, "updated")
  return (
    representation: DocumentRepresentation,
    document: Document,
    clock: Clock.Clock,
    { embedded, fields }: Selected
  ) => {
    const own = representation.wireOf(fields)(document)
    if (own === undefined) return undefined
    // The tag is that of the whole document, so that it is one of the preconditions of a write.
    const whole = fields === undefined || !isVersioned ? own : representation.wireOf()(document)
    const wire = embedded === undefined ? own : embeddedInto(own, embedded)
    const etag = isVersioned && whole !== undefined
      ? etagOf(contentOf(whole), embedded && contentOf(embedded))
      : undefined
    // Embedded documents change at other times.
    const lastModified = embedded !== undefined || updatedField === undefined ||
        !representation.shows(document, updatedField)
      ? undefined
      : preconditions.lastModifiedOf(
        document[updatedField],
        clock.currentTimeMillisUnsafe()
      )
    const tags = {
      ...(etag === undefined ? undefined : { etag }),
      ...(lastModified === undefined ? undefined : { "last-modified": lastModified })
    }
    return { etag, lastModified, tags, wire }
  }
}
