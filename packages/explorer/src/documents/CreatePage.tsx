import { KernelError } from "@appkernel/react-admin"
import { Alert, Box, Breadcrumbs, Button, Card, Typography } from "@mui/material"
import { useQueryClient } from "@tanstack/react-query"
import { type SyntheticEvent, useEffect, useMemo, useRef, useState } from "react"
import { Link, useNotify, useTranslate } from "react-admin"
import { FormProvider } from "react-hook-form"
import { useNavigate } from "react-router-dom"
import { useConnection, useDescribed } from "../data/Description.tsx"
import { documentPath } from "../data/documentPath.ts"
import { sentOf } from "../data/documents.ts"
import { defaultsOf } from "../inputs/defaults.ts"
import { Fields } from "../inputs/Input.tsx"
import { PageTitle } from "../parts/PageTitle.tsx"
import { newKey } from "./drafts.ts"
import { useDocumentForm } from "./useDocumentForm.ts"

/** What somebody who makes a document writes into first. */
const firstInput =
  ":is(input:not([type=file], [type=checkbox], [aria-hidden=true]), textarea:not([aria-hidden=true])):enabled, " +
  "[role=combobox]:not(input, [aria-disabled=true])"

/** The form of a new document. */
export const CreatePage = () => {
  const translate = useTranslate()
  const notify = useNotify()
  const navigate = useNavigate()
  const client = useQueryClient()
  const { dataProvider } = useConnection()
  const { fields, label, labelPlural, may, name } = useDescribed()
  const empty = useMemo(() => defaultsOf(fields), [fields])
  const { begin, form, isChanged, isRestored, problem, refuse, setProblem } = useDocumentForm({
    key: newKey(name),
    fields,
    document: empty,
    isNew: true
  })
  const [isBusy, setBusy] = useState(false)
  const inputs = useRef<HTMLFormElement>(null)
  useEffect(() => {
    // A finger would get its keyboard over the form.
    if (globalThis.matchMedia("(pointer: fine)").matches) {
      inputs.current?.querySelector<HTMLElement>(firstInput)?.focus()
    }
  }, [])
  const title = translate("explorer.goTo.new", { name: label })
  const create = async () => {
    if (!await form.trigger()) return
    setBusy(true)
    setProblem(undefined)
    try {
      const { data: created } = await dataProvider.create(name, { data: sentOf(fields, form.getValues()) })
      begin(empty)
      await client.invalidateQueries({ queryKey: [name] })
      notify("explorer.form.created", { type: "success" })
      void navigate(may.get ? documentPath(name, String(created.id)) : `/${name}`)
    } catch (error) {
      const taken = translate("explorer.form.taken")
      refuse(
        error instanceof KernelError && error.status === 412
          ? new KernelError(412, taken, { errors: { id: taken } }, { cause: error })
          : error
      )
    } finally {
      setBusy(false)
    }
  }
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    void create()
  }
  return (
    <FormProvider {...form}>
      <PageTitle title={title} />
      <Breadcrumbs sx={{ fontSize: "0.8125rem", mb: 0.5 }}>
        {may.list && <Link to={`/${name}`}>{labelPlural}</Link>}
        <span>{title}</span>
      </Breadcrumbs>
      <Typography variant="h1" sx={{ mb: 2 }}>{title}</Typography>
      {isRestored && isChanged && (
        <Alert
          severity="info"
          sx={{ mb: 2 }}
          action={<Button color="inherit" onClick={() => begin(empty)}>{translate("explorer.form.discard")}</Button>}
        >
          {translate("explorer.form.restored")}
        </Alert>
      )}
      {problem !== undefined && <Alert severity="error" sx={{ mb: 2 }}>{problem}</Alert>}
      <Card component="form" noValidate onSubmit={submit} ref={inputs}>
        <Box sx={{ p: { xs: 2, sm: 3 } }}>
          <Fields fields={fields} isNew />
        </Box>
        <Box sx={{ display: "flex", gap: 1, px: { xs: 2, sm: 3 }, py: 1.25, borderTop: 1, borderColor: "divider" }}>
          <Button type="submit" variant="contained" size="medium" loading={isBusy}>
            {translate("ra.action.create")}
          </Button>
          <Button size="medium" color="inherit" component={Link} to={`/${name}`}>
            {translate("ra.action.cancel")}
          </Button>
        </Box>
      </Card>
    </FormProvider>
  )
}
