import { KernelError } from "@appkernel/react-admin"
import type { TranslateFunction } from "react-admin"

/** An error as a sentence for the reader: what the service says, with the problems of fields that no form shows. */
export const sentenceOf = (error: unknown, translate: TranslateFunction): string => {
  if (!(error instanceof KernelError)) return error instanceof Error ? error.message : String(error)
  // Without an answer, the sentence is the browser's own.
  if (error.status === 0) return translate("explorer.unreachable")
  const others = Object.values(error.body.errors).filter((message) => !error.message.includes(message))
  return [error.message, ...others].join(" ")
}
