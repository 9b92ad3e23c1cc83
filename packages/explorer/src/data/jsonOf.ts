import { isKept } from "./isKept.ts"

/** What was entered and is no JSON, or would not be kept as it is: it stays with what else was entered, and is never sent. */
export class Unparsed {
  readonly text: string
  /** The key of the sentence that says what is wrong. */
  readonly problem: "noJson" | "inexact"
  constructor(text: string, problem: "noJson" | "inexact") {
    this.text = text
    this.problem = problem
  }
}

/** The third argument of a reviver, which browsers before 2025 do not give. */
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

/** The value of a text of JSON. A number of more digits than a double has would be saved as another one. */
export const jsonOf = (text: string): unknown => {
  if (text.trim() === "") return null
  let isExact = true
  const revive: Reviver = (_, value, context) => {
    if (typeof value === "number" && context?.source !== undefined && !isKept(context.source, value)) isExact = false
    return value
  }
  try {
    const value: unknown = JSON.parse(text, revive)
    return isExact ? value : new Unparsed(text, "inexact")
  } catch {
    return new Unparsed(text, "noJson")
  }
}
