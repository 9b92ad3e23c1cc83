/** What one response may embed. */
import * as Effect from "effect/Effect"
import type { FieldProblem } from "../../Model/internal.ts"
import type { HttpError } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import { badRequestOf } from "../messages/message.ts"
import { maxSmallLength } from "../response/listResponse.ts"
import type { WireText } from "../response/wireText.ts"

/** The problem of more than the configuration allows. */
export const limitProblem = (message: string): FieldProblem => ({ field: "expand", validator: "Limit", message })

/** Counts the documents and the bytes. */
export class Budget {
  readonly #limits: Limits
  #documents = 0
  #bytes = 0
  #sinceYield = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Counts documents that are about to be read. */
  read(count: number): Effect.Effect<void, HttpError> {
    this.#documents += count
    const { maxExpanded } = this.#limits
    return this.#documents <= maxExpanded
      ? Effect.void
      : Effect.fail(badRequestOf([limitProblem(`gives more than ${maxExpanded} documents: ${advice}`)]))
  }

  /** Counts the text of a document. */
  wrote({ text: { length } }: WireText): Effect.Effect<void, HttpError> | undefined {
    this.#bytes += length
    this.#sinceYield += length
    if (this.#bytes > this.#limits.maxPageBytes) return this.exceeded
    if (this.#sinceYield <= maxSmallLength) return undefined
    this.#sinceYield = 0
    return Effect.yieldNow
  }

  /** Fails for more bytes than a page may have. */
  get exceeded(): Effect.Effect<never, HttpError> {
    return Effect.fail(badRequestOf([limitProblem(`gives more than ${this.#limits.maxPageBytes} bytes: ${advice}`)]))
  }

  get isLarge(): boolean {
    return this.#bytes > maxSmallLength
  }
}

// internal

const advice = "ask for fewer documents, paths or fields"
