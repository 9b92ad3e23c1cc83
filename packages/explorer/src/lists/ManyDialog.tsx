import { type FieldDescription, KernelPartialWrites } from "@appkernel/react-admin"
import {
  Alert,
  Autocomplete,
  Button,
  Checkbox,
  CircularProgress,
  Dialog,
  DialogActions,
  DialogContent,
  DialogTitle,
  FormControlLabel,
  TextField,
  Typography
} from "@mui/material"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { useListContext, useLocaleState, useNotify, useTranslate } from "react-admin"
import { FormProvider, useForm, useWatch } from "react-hook-form"
import { useConnection, useDescribed } from "../data/Description.tsx"
import { isOfFiles, plain } from "../data/documents.ts"
import { numberFormat } from "../data/formats.ts"
import { isSignedOut } from "../data/retry.ts"
import { sentenceOf } from "../data/sentences.ts"
import { undoOf } from "../documents/UndoDelete.tsx"
import { defaultsOf } from "../inputs/defaults.ts"
import { Input } from "../inputs/Input.tsx"
import { useIsLeft } from "../parts/useIsLeft.ts"

interface ManyDialogProps {
  readonly does: "update" | "delete"
  /** The chosen documents; without them, all of the list's filter. */
  readonly ids?: ReadonlyArray<string>
  readonly onClose: () => void
}

/** Changes or deletes many documents, after saying of how many. */
export const ManyDialog = ({ does, ids, onClose }: ManyDialogProps) => {
  const translate = useTranslate()
  const notify = useNotify()
  const [locale] = useLocaleState()
  const { dataProvider } = useConnection()
  const resource = useDescribed()
  const { fields, isSoftDeleted, label, labelPlural, may, name } = resource
  const { filterValues, onSelect, onUnselectItems, refetch, selectedIds } = useListContext()
  const isLeft = useIsLeft()
  const form = useForm<{ readonly [field: string]: unknown }>({ defaultValues: {} })
  const [field, setField] = useState<FieldDescription | null>(null)
  const [isEmptied, setEmptied] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const filter = ids === undefined ? filterValues as { readonly [path: string]: unknown } : { id: ids }
  const isMany = does === "update" ? may.updateMany : may.deleteMany
  const preview = useQuery({
    queryKey: [name, "countMatching", does, filter],
    queryFn: () => dataProvider.countMatching(name, filter, isMany ? does : undefined),
    gcTime: 0
  })
  const changeable = fields.filter((field) => field.isSetOnUpdate && field.type !== "password" && !isOfFiles(field))
  const values = useWatch({ control: form.control })
  const entered: unknown = field === null ? undefined : plain(values[field.name], field)
  const isEntered = entered !== undefined && entered !== "" && !(Array.isArray(entered) && entered.length === 0)
  const count = preview.data?.count
  // The service names as many as one request may write.
  const limit = preview.data?.ids.length ?? 0
  const isTooMany = isMany && count !== undefined && count > limit
  const run = async () => {
    if (!isEmptied && !await form.trigger()) return
    setBusy(true)
    setProblem(undefined)
    try {
      const empty = field?.isRequired === true ? [] : null
      const data = field === null ? {} : { [field.name]: isEmptied ? empty : entered }
      const done = does === "update"
        ? isMany
          ? (await dataProvider.updateMatching(name, filter, data)).ids
          : (await dataProvider.updateMany(name, { ids: ids ?? [], data })).data
        : isMany
        ? (await dataProvider.deleteMatching(name, filter)).ids
        : (await dataProvider.deleteMany(name, { ids: ids ?? [] })).data
      onUnselectItems()
      await refetch()
      notify(`explorer.many.${does === "update" ? "changed" : "deleted"}`, {
        type: "success",
        messageArgs: { smart_count: done.length },
        ...(does === "delete" ? undoOf(resource, done.map(String)) : {})
      })
      onClose()
    } catch (error) {
      const sentences = [sentenceOf(error, translate)]
      if (error instanceof KernelPartialWrites && ids !== undefined) {
        const left = new Set(error.left.map(String))
        onSelect(selectedIds.filter((id) => left.has(String(id))))
        void refetch()
        if (error.done.length > 0) {
          sentences.unshift(translate(`explorer.many.${does === "update" ? "changed" : "deleted"}Part`, {
            done: error.done.length,
            count: ids.length
          }))
        }
      }
      // Who has left the dialog is told as well.
      if (!isLeft.current) setProblem(sentences.join(" "))
      else if (!isSignedOut(error)) notify(sentences.join(" "), { type: "error" })
    } finally {
      setBusy(false)
    }
  }
  return (
    // Neither Escape nor a click beside it loses what is entered, or what becomes of it.
    <Dialog open onClose={() => !isBusy && field === null && onClose()} fullWidth maxWidth="sm">
      <DialogTitle>
        {translate(`explorer.many.${does === "update" ? "changeTitle" : "deleteTitle"}`, { name: labelPlural })}
      </DialogTitle>
      <DialogContent>
        {preview.isPending
          ? <CircularProgress size={20} aria-label={translate("ra.page.loading")} />
          : (
            <Typography component="output" sx={{ mb: 1 }}>
              {preview.error === null
                ? translate("explorer.many.preview", {
                  smart_count: count ?? 0,
                  name: count === 1 ? label : labelPlural
                })
                : sentenceOf(preview.error, translate)}
              {isTooMany && ` ${translate("explorer.many.tooMany", { limit: numberFormat(locale).format(limit) })}`}
            </Typography>
          )}
        {does === "delete" && (
          <Typography>
            {translate(isSoftDeleted ? "explorer.deleted.canBeRestored" : "explorer.deleted.forGood")}
          </Typography>
        )}
        {does === "update" && (
          <FormProvider {...form}>
            <Autocomplete
              options={changeable}
              autoHighlight
              value={field}
              onChange={(_, next) => {
                form.reset(next === null ? {} : defaultsOf([next]))
                setEmptied(false)
                setField(next)
              }}
              getOptionLabel={({ label }) => label}
              getOptionKey={({ path }) => path}
              renderInput={(params) => <TextField {...params} autoFocus label={translate("explorer.filter.field")} />}
            />
            {field !== null && <Input key={field.path} field={field} source={field.name} isDisabled={isEmptied} />}
            {field !== null && (!field.isRequired || field.type === "list") && (
              <FormControlLabel
                control={<Checkbox checked={isEmptied} onChange={({ target }) => setEmptied(target.checked)} />}
                label={translate("explorer.many.empty")}
              />
            )}
          </FormProvider>
        )}
        {problem !== undefined && <Alert severity="error" sx={{ mt: 1 }}>{problem}</Alert>}
      </DialogContent>
      <DialogActions>
        <Button color="inherit" onClick={onClose}>{translate("ra.action.cancel")}</Button>
        <Button
          variant="contained"
          color={does === "delete" ? "error" : "primary"}
          loading={isBusy}
          disabled={count === undefined || count === 0 || isTooMany || (does === "update" && !isEntered && !isEmptied)}
          onClick={() => void run()}
        >
          {translate(`explorer.many.${does === "update" ? "change" : "delete"}Count`, { smart_count: count ?? 0 })}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
