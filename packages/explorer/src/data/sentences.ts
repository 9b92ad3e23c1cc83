import { KernelError } from "@appkernel/react-admin"

/** An error as a sentence for the reader: what the service says, with the problems of fields that no form shows. */
export const sentenceOf = (error: unknown): string => {
  if (!(error instanceof KernelError)) return error instanceof Error ? error.message : String(error)
  const others = Object.values(error.body.errors).filter((message) => !error.message.includes(message))
  return [error.message, ...others].join(" ")
}
