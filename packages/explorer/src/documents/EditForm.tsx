import { KernelConflict, KernelPartialWrite } from "@appkernel/react-admin"
import { Alert, Box, Button, Card } from "@mui/material"
import { type SyntheticEvent, useEffect, useMemo, useRef, useState } from "react"
import { useNotify, useTranslate } from "react-admin"
import { FormProvider } from "react-hook-form"
import { useConnection, useDescribed } from "../data/Description.tsx"
import { changesOf, type Document, hasChanges, leftOf } from "../data/documents.ts"
import { isMissing, isUnanswered } from "../data/retry.ts"
import { Fields } from "../inputs/Input.tsx"
import { ReadOnly } from "../inputs/ReadOnly.tsx"
import { useIsLeft } from "../parts/useIsLeft.ts"
import { Conflict } from "./Conflict.tsx"
import { useDocumentForm } from "./useDocumentForm.ts"

interface EditFormProps {
  readonly document: Document
  readonly isEditable: boolean
  readonly isDeleted: boolean
  readonly onSaved: () => void
}

/** The form of a document. What somebody else has changed meanwhile is never written over unseen. */
export const EditForm = ({ document, isDeleted, isEditable, onSaved }: EditFormProps) => {
  const translate = useTranslate()
  const notify = useNotify()
  const { dataProvider } = useConnection()
  const resource = useDescribed()
  const { fields, isVersioned, name } = resource
  const { base, begin, form, isChanged, isRestored, problem, refuse, setProblem } = useDocumentForm({
    key: `${name}/${document.id}`,
    fields,
    document,
    isNew: false
  })
  const [theirs, setTheirs] = useState<Document>()
  const [isBusy, setBusy] = useState(false)

  // What the service sets stands beside what is entered, where something is; the identifier is above.
  const others = fields.filter(({ path }) => path !== "id")
  const entered = isEditable ? fields.filter(({ isReadOnly, isSetOnUpdate }) => isSetOnUpdate || !isReadOnly) : []
  const isText = entered.length === 0
  const details = isText ? [] : others.filter((field) => !entered.includes(field) && !field.isWriteOnly)

  const set = useMemo(() => fields.filter(({ isSetOnUpdate }) => isSetOnUpdate), [fields])
  const isOutdated = hasChanges(fields, base, document)
  // Nobody has entered anything: the form shows what there is now, and after a save not what was read before it.
  const seen = useRef(base)
  useEffect(() => {
    if (seen.current === document) return
    // What was entered may be there already: the answer to a save can be lost.
    if (isChanged && hasChanges(set, document, form.getValues())) return
    seen.current = document
    begin(document)
  }, [begin, document, form, isChanged, set])

  // Who has signed out has left it.
  const isLeft = useIsLeft()

  const done = (now: Document) => {
    setTheirs(undefined)
    seen.current = document
    begin(now)
    onSaved()
    notify("explorer.form.saved", { type: "success" })
  }

  const write = async (from: Document, values: { readonly [field: string]: unknown }) => {
    if (!await form.trigger()) return
    const data = { ...from, ...changesOf(fields, from, values) }
    setBusy(true)
    setProblem(undefined)
    /** Shows what somebody has made of the document, unless it is what was entered. */
    const meet = (now: Document) => hasChanges(set, now, values) ? setTheirs(now) : done(now)
    try {
      if (!isVersioned && from === base) {
        // A document without versions: at least what was changed until now is seen.
        const { data: now } = await dataProvider.getOne<Document>(name, { id: document.id })
        // It would be written as whoever has signed in since.
        if (isLeft.current) return
        if (hasChanges(fields, from, now)) return meet(now)
      }
      const { data: saved } = await dataProvider.update<Document>(name, { id: document.id, data, previousData: from })
      done(saved)
    } catch (error) {
      // It has the form of a document, as the provider's reads.
      if (error instanceof KernelConflict && error.current !== undefined) meet(error.current as Document)
      else {
        setTheirs(undefined)
        // It may have been written, or deleted.
        if (isUnanswered(error) || isMissing(error)) onSaved()
        if (error instanceof KernelPartialWrite) await keepRest(from, values).catch(() => undefined)
        refuse(error)
      }
    } finally {
      setBusy(false)
    }
  }
  /** Begins again with what the document has become, so that a second try writes the rest alone. */
  const keepRest = async (before: Document, entered: { readonly [field: string]: unknown }) => {
    const { data: now } = await dataProvider.getOne<Document>(name, { id: document.id })
    seen.current = document
    begin(now, leftOf(fields, { before, entered, now }))
    onSaved()
  }
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    // The form began with a document of the provider.
    void write(base as Document, form.getValues())
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key !== "s") return
      event.preventDefault()
      globalThis.document.querySelector<HTMLFormElement>("form[data-document]")?.requestSubmit()
    }
    globalThis.addEventListener("keydown", onKey)
    return () => globalThis.removeEventListener("keydown", onKey)
  }, [])
  const discard = <Button color="inherit" onClick={() => begin(document)}>{translate("explorer.form.discard")}</Button>
  return (
    <FormProvider {...form}>
      {!isEditable && (
        <Alert severity={isDeleted ? "warning" : "info"} sx={{ mb: 2 }} action={isChanged && discard}>
          {translate(isDeleted ? "explorer.deleted.notice" : "explorer.form.readOnly")}
          {isChanged && ` ${translate("explorer.form.kept")}`}
        </Alert>
      )}
      {isEditable && isRestored && isChanged && (
        <Alert severity="info" sx={{ mb: 2 }} action={discard}>{translate("explorer.form.restored")}</Alert>
      )}
      {isEditable && isChanged && isOutdated && (
        <Alert
          severity="warning"
          sx={{ mb: 2 }}
          action={
            <Button color="inherit" onClick={() => setTheirs(document)}>
              {translate("explorer.conflict.compare")}
            </Button>
          }
        >
          {translate("explorer.conflict.notice")}
        </Alert>
      )}
      {problem !== undefined && isEditable && isChanged && <Alert severity="error" sx={{ mb: 2 }}>{problem}</Alert>}
      <Box
        sx={{
          display: "grid",
          gridTemplateColumns: details.length > 0 ? { lg: "minmax(0, 1fr) 260px" } : "minmax(0, 1fr)",
          gap: 2,
          alignItems: "start"
        }}
      >
        <Card component="form" data-document noValidate onSubmit={submit} sx={{ overflow: "visible" }}>
          <Box sx={{ p: { xs: 2, sm: 3 } }}>
            <Fields fields={isText ? others.map((field) => ({ ...field, isSetOnUpdate: false })) : entered} />
          </Box>
          {!isText && (
            <Box
              className="no-print"
              sx={{
                position: "sticky",
                bottom: 0,
                zIndex: 2,
                display: "flex",
                alignItems: "center",
                gap: 1,
                px: { xs: 2, sm: 3 },
                py: 1.25,
                borderTop: 1,
                borderColor: "divider",
                backgroundColor: "background.paper",
                borderRadius: "0 0 8px 8px"
              }}
            >
              <Button type="submit" variant="contained" size="medium" loading={isBusy} disabled={!isChanged}>
                {translate("ra.action.save")}
              </Button>
              {isChanged && (
                <Button size="medium" color="inherit" onClick={() => begin(document)}>
                  {translate("explorer.form.discard")}
                </Button>
              )}
              <Box component="output" sx={{ ml: "auto", fontSize: "0.8125rem", color: "text.secondary" }}>
                {isChanged && translate("explorer.form.unsaved")}
              </Box>
            </Box>
          )}
        </Card>
        {details.length > 0 && (
          <Card component="aside" sx={{ p: 2 }}>
            {details.map((field) => <ReadOnly key={field.path} field={field} value={document[field.name]} />)}
          </Card>
        )}
      </Box>
      {theirs !== undefined && isEditable && (
        <Conflict
          fields={set}
          base={base}
          mine={form.getValues()}
          theirs={theirs}
          isBusy={isBusy}
          onClose={() => setTheirs(undefined)}
          onMerge={(merged) => void write(theirs, merged)}
        />
      )}
    </FormProvider>
  )
}
