import { type FieldDescription, KernelError } from "@appkernel/react-admin"
import { useEffect, useState } from "react"
import { useTranslate } from "react-admin"
import { useForm } from "react-hook-form"
import { changesOf } from "../data/documents.ts"
import { draftOf, hasDrafts, keepDraft } from "./drafts.ts"

interface Values {
  readonly [field: string]: unknown
}

/** A form that keeps what was entered until it is saved or discarded. */
export const useDocumentForm = (key: string, fields: ReadonlyArray<FieldDescription>, document: Values) => {
  const translate = useTranslate()
  const [kept] = useState(() => draftOf(key))
  const [base, setBase] = useState<Values>(kept?.base ?? document)
  const [isRestored, setRestored] = useState(kept !== undefined)
  const [problem, setProblem] = useState<string>()
  const form = useForm<Values>({ defaultValues: kept?.values ?? document, shouldFocusError: false })
  const { clearErrors, getValues, reset, setError, setFocus, subscribe } = form
  const [isChanged, setChanged] = useState(kept !== undefined)

  useEffect(() =>
    subscribe({
      formState: { values: true },
      callback: ({ values, name }) => {
        const hasChanges = Object.keys(changesOf(fields, base, values)).length > 0
        setChanged(hasChanges)
        keepDraft(key, hasChanges ? { base, values } : undefined)
        // A problem is that of what was sent.
        if (name !== undefined) clearErrors(name)
      }
    }), [base, clearErrors, fields, key, subscribe])

  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (hasDrafts()) event.preventDefault()
    }
    globalThis.addEventListener("beforeunload", ask)
    return () => globalThis.removeEventListener("beforeunload", ask)
  }, [])

  /** Begins again with a document, as after it was saved. */
  const begin = (next: Values) => {
    keepDraft(key, undefined)
    setBase(next)
    setChanged(false)
    setRestored(false)
    setProblem(undefined)
    reset(next)
  }

  /** Shows what the service says is wrong: at each field, and above the form what is about none. */
  const refuse = (error: unknown) => {
    const problems = error instanceof KernelError ? Object.entries(error.body.errors) : []
    const first = problems.find(([path]) => !path.startsWith("root"))
    for (const [path, message] of problems) {
      if (!path.startsWith("root")) setError(path, { type: "server", message })
    }
    const others = problems.filter(([path]) => path.startsWith("root")).map(([, message]) => message)
    const message = error instanceof Error ? error.message : String(error)
    // The service's sentence repeats what now stands at each field.
    const count = problems.length - others.length
    setProblem(
      [...new Set([count === 0 ? message : translate("explorer.form.problems", { smart_count: count }), ...others])]
        .join(" ")
    )
    if (first !== undefined) setFocus(first[0])
  }

  return { form, base, setBase, begin, refuse, problem, setProblem, isChanged, isRestored, getValues }
}
