/** What an expansion has of the documents that it embeds, and how a request gets to them. */
import type * as Effect from "effect/Effect"
import type { ModelView } from "../../Access/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import type { documentOperationsOf } from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import type { BadRequest } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import type { Relation } from "../registration/relations.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import type { Representations } from "../response/representation.ts"
import type { WireText } from "../response/wireText.ts"

/** The documents of a registration for callers with a set of grants, as `GET` of each of them answers. */
export interface Embeddable {
  readonly model: Model.Any
  readonly view: Pick<ModelView, "isReadable" | "model" | "of">
  readonly relations: ReadonlyArray<Relation>
  readonly documents: Pick<ReturnType<typeof documentOperationsOf<Model.Any>>, "find" | "findById">
  readonly representations: Representations
  readonly limits: Limits
  readonly repository: Pick<Repository<Model.Any>, "aggregate">
  /** The hooks before a document is read. */
  readonly beforeEach: ((id: unknown) => Effect.Effect<void, HandlerFailure>) | undefined
  /** The hooks after a document is read. */
  readonly afterEach: ((document: Document) => Effect.Effect<void, HandlerFailure>) | undefined
  /** The hooks before a list is read. */
  readonly beforeList: Effect.Effect<void, HandlerFailure> | undefined
  /** The hooks after a list is read, for each document. */
  readonly afterListed: ((document: Document) => Effect.Effect<void, HandlerFailure>) | undefined
}

/** The documents as the caller of the request may read them. */
export interface Entered {
  readonly embeddable: Embeddable
  /** Runs an effect as the request for the documents would. */
  readonly within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** The way from a request to the documents of another registration. */
export interface Door {
  /** Whether a permission depends on the document, so that each one is decided on by itself. */
  readonly isForEach: boolean
  /** Decides for the caller; `undefined` if the caller may not `GET` there. `id` is the document's, if it is for each. */
  readonly enter: (id: string | undefined) => Effect.Effect<Entered | undefined, HandlerFailure>
}

/** The ways to all registrations with `GET`, by their paths. They are complete when the routes are made. */
export type Doors = ReadonlyMap<string, Door>

/** Reads a page: gives its documents to `take`, until that answers `false`. Succeeds with their number, if they are counted. */
export type PageReader = (
  take: (documents: ReadonlyArray<Document>) => boolean
) => Effect.Effect<number | undefined, ReadError | BadRequest>

/** The member `_embedded` of the document at a place, as it is sent. */
export type EmbeddedOf = (place: number) => WireText

/** The member `_embedded` of a document that was written; `undefined` where the caller may not `GET` it. It never fails. */
export type EmbedWritten = (document: Document) => Effect.Effect<string | undefined>

/**
 * Reads what the documents refer to. `shows` tells whether the caller sees a field of a document. `reserve` runs before more is
 * held than a small response has.
 */
export type Embed = <E>(
  documents: ReadonlyArray<Document>,
  shows: (document: Document, field: string) => boolean,
  reserve: Effect.Effect<void, E>
) => Effect.Effect<EmbeddedOf, HandlerFailure | E>
