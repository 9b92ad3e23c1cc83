import type { ActionDescription } from "@appkernel/react-admin"
import { Alert, Box, Button, Dialog, DialogActions, DialogContent, DialogContentText, DialogTitle } from "@mui/material"
import { type SyntheticEvent, useMemo, useState } from "react"
import { useNotify, useTranslate } from "react-admin"
import { FormProvider } from "react-hook-form"
import { isObject, sentOf } from "../data/documents.ts"
import { isSignedOut } from "../data/retry.ts"
import { sentenceOf } from "../data/sentences.ts"
import { textOf } from "../data/text.ts"
import { defaultsOf } from "../inputs/defaults.ts"
import { Fields } from "../inputs/Input.tsx"
import { useIsLeft } from "../parts/useIsLeft.ts"
import { useDocumentForm } from "./useDocumentForm.ts"

interface ActionDialogProps {
  readonly action: ActionDescription
  readonly run: (args: { readonly [name: string]: unknown }) => Promise<{ readonly data: unknown }>
  readonly onClose: () => void
  readonly onDone: () => void
}

/** Runs an action, with its arguments, and shows what it answers. */
export const ActionDialog = ({ action, onClose, onDone, run }: ActionDialogProps) => {
  const translate = useTranslate()
  const empty = useMemo(() => defaultsOf(action.arguments), [action])
  const { form, isChanged, problem, refuse, setProblem } = useDocumentForm({
    fields: action.arguments,
    document: empty,
    isNew: true
  })
  const [isBusy, setBusy] = useState(false)
  const notify = useNotify()
  const isLeft = useIsLeft()
  const [answer, setAnswer] = useState<{ readonly data: unknown }>()
  const execute = async () => {
    if (!await form.trigger()) return
    setBusy(true)
    setProblem(undefined)
    try {
      const answered = await run(sentOf(action.arguments, form.getValues()))
      onDone()
      // Who has left the dialog is told as well.
      if (isLeft.current) notify(`${action.label}: ${translate("explorer.actions.done")}`, { type: "success" })
      else setAnswer(answered)
    } catch (error) {
      if (!isLeft.current) refuse(error)
      else if (!isSignedOut(error)) notify(`${action.label}: ${sentenceOf(error, translate)}`, { type: "error" })
    } finally {
      setBusy(false)
    }
  }
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    event.stopPropagation()
    void execute()
  }
  return (
    // Neither Escape nor a click beside it loses what is entered, or what becomes of it.
    <Dialog
      open
      onClose={() => !isBusy && (!isChanged || answer !== undefined) && onClose()}
      fullWidth
      maxWidth="sm"
    >
      <FormProvider {...form}>
        <form noValidate onSubmit={submit}>
          <DialogTitle>{action.label}</DialogTitle>
          <DialogContent>
            {action.help !== undefined && <DialogContentText sx={{ mb: 1 }}>{action.help}</DialogContentText>}
            {answer === undefined && <Fields fields={action.arguments} isNew />}
            {answer === undefined && action.arguments.length === 0 && action.isDestructive && (
              <DialogContentText>{translate("ra.message.are_you_sure")}</DialogContentText>
            )}
            {problem !== undefined && <Alert severity="error" sx={{ mt: 1 }}>{problem}</Alert>}
            {answer !== undefined && <Answer value={answer.data} />}
          </DialogContent>
          <DialogActions>
            <Button
              // The button that had the focus is gone with the answer, and without one in it the dialog hears no key.
              key={answer === undefined ? "cancel" : "close"}
              autoFocus={answer !== undefined}
              color="inherit"
              onClick={onClose}
            >
              {translate(answer === undefined ? "ra.action.cancel" : "ra.action.close")}
            </Button>
            {answer === undefined && (
              <Button
                type="submit"
                variant="contained"
                color={action.isDestructive ? "error" : "primary"}
                loading={isBusy}
              >
                {translate("explorer.actions.run")}
              </Button>
            )}
          </DialogActions>
        </form>
      </FormProvider>
    </Dialog>
  )
}

const Answer = ({ value }: { readonly value: unknown }) => {
  const translate = useTranslate()
  if (value === undefined || value === null || value === "") {
    return <Alert severity="success">{translate("explorer.actions.done")}</Alert>
  }
  return typeof value === "object" && (isObject(value) || Array.isArray(value))
    ? (
      <Box component="pre" sx={{ m: 0, fontSize: "0.8125rem", whiteSpace: "pre-wrap" }}>
        {JSON.stringify(value, undefined, 2)}
      </Box>
    )
    : (
      <Alert severity="success">
        <bdi>{textOf(value)}</bdi>
      </Alert>
    )
}
