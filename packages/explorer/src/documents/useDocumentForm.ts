import { type FieldDescription, KernelError } from "@appkernel/react-admin"
import { useCallback, useEffect, useRef, useState } from "react"
import { useTranslate } from "react-admin"
import { useForm } from "react-hook-form"
import { hasChanges } from "../data/documents.ts"
import { sentenceOf } from "../data/sentences.ts"
import { isShownAt } from "../inputs/problems.ts"
import { type Draft, draftOf, keepDraft } from "./drafts.ts"

interface Values {
  readonly [field: string]: unknown
}

interface FormOptions {
  /** What the form is kept by until it is saved or discarded; without it, until it is closed. */
  readonly key?: string
  readonly fields: ReadonlyArray<FieldDescription>
  /** What it begins with. */
  readonly document: Values
  /** Whether it is of what is not there yet. */
  readonly isNew: boolean
}

/** A form that keeps what was entered. */
export const useDocumentForm = ({ document, fields, isNew, key }: FormOptions) => {
  const translate = useTranslate()
  const [kept] = useState(() => key === undefined ? undefined : draftOf(key))
  const [base, setBase] = useState<Values>(kept?.base ?? document)
  // What is entered is compared with it at once, also before the page shows the next one.
  const current = useRef(base)
  const [isRestored, setRestored] = useState(kept !== undefined)
  const [problem, setProblem] = useState<string>()
  const form = useForm<Values>({ defaultValues: kept?.values ?? document, shouldFocusError: false })
  const { clearErrors, getFieldState, reset, setError, setFocus, subscribe } = form
  const [isChanged, setChanged] = useState(kept !== undefined)

  const keep = useCallback((draft: Draft | undefined) => {
    if (key !== undefined) keepDraft(key, draft)
  }, [key])

  useEffect(() =>
    subscribe({
      formState: { values: true },
      callback: ({ values, name }) => {
        const isNow = hasChanges(fields, current.current, values)
        setChanged(isNow)
        keep(isNow ? { base: current.current, values } : undefined)
        // A problem is that of what was sent.
        if (name !== undefined && getFieldState(name).error !== undefined) clearErrors(name)
      }
    }), [clearErrors, fields, getFieldState, keep, subscribe])

  /** Begins again with a document, as after it was saved, and with what is still to be saved of it. */
  const begin = useCallback((next: Values, values: Values = next) => {
    const isNow = hasChanges(fields, next, values)
    current.current = next
    setBase(next)
    keep(isNow ? { base: next, values } : undefined)
    setChanged(isNow)
    setRestored(false)
    setProblem(undefined)
    reset(values)
  }, [fields, keep, reset])

  /** Shows what the service says is wrong: at each field, and above the form what is about none that it has. */
  const refuse = (error: unknown) => {
    const problems = error instanceof KernelError ? Object.entries(error.body.errors) : []
    const shown = problems.filter(([path]) => isShownAt(fields, path, isNew))
    clearErrors()
    for (const [path, message] of shown) setError(path, { type: "server", message })
    const others = problems.filter((problem) => !shown.includes(problem)).map(([, message]) => message)
    setProblem(
      shown.length === 0
        ? sentenceOf(error, translate)
        // The service's sentence repeats what now stands at each field.
        : [...new Set([translate("explorer.form.problems", { smart_count: shown.length }), ...others])].join(" ")
    )
    const [first] = shown
    if (first !== undefined) setFocus(first[0])
  }

  return { form, base, begin, refuse, problem, setProblem, isChanged, isRestored }
}
