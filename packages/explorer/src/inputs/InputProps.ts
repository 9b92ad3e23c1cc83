import type { FieldDescription } from "@appkernel/react-admin"

/** What an input of a form is made of. */
export interface InputProps {
  readonly field: FieldDescription
  /** Where its value is in the form: `lines.0.quantity`. */
  readonly source: string
  readonly isDisabled?: boolean
}
