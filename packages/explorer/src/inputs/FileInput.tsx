import AttachIcon from "@mui/icons-material/AttachFile"
import CloseIcon from "@mui/icons-material/Close"
import { Box, Button, FormHelperText, IconButton, Typography } from "@mui/material"
import { type ChangeEvent, useEffect, useId, useMemo } from "react"
import { useLocaleState, useTranslate } from "react-admin"
import { useController, useFormState } from "react-hook-form"
import { filesOf, isObject } from "../data/documents.ts"
import { numberFormat } from "../data/formats.ts"
import { textOf } from "../data/text.ts"
import { KeptFile } from "../fields/Files.tsx"
import type { InputProps } from "./InputProps.ts"
import { problemAt } from "./problems.ts"

/** The files of a field: those that the document has, and those that it gets when it is saved. */
export const FileInput = ({ field, isDisabled = false, source }: InputProps) => {
  const translate = useTranslate()
  const [locale] = useLocaleState()
  const id = useId()
  const { field: { onChange, ref, value } } = useController({ name: source })
  const { errors } = useFormState({ name: source })
  const problem = problemAt(errors, source)
  const isMany = field.type === "list"
  const { file } = isMany ? field.items ?? field : field
  const files = filesOf(value)
  const set = (next: ReadonlyArray<unknown>) => onChange(isMany ? next : next.at(-1) ?? null)
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const chosen = Array.from(target.files ?? [])
    if (chosen.length > 0) set(isMany ? [...files, ...chosen] : chosen)
    target.value = ""
  }
  const limit = file?.maxSize === undefined
    ? undefined
    : numberFormat(locale, { maximumFractionDigits: 1 }).format(file.maxSize / 1_000_000)
  const help = [
    ...(file === undefined || file.types.length === 0
      ? []
      : [file.types.map((type) => type.split("/").at(-1)?.toUpperCase()).join(", ")]),
    ...(limit === undefined ? [] : [translate("explorer.form.maxSize", { size: limit })])
  ].join(" · ")
  return (
    <Box sx={{ my: 1 }}>
      <Typography component="label" htmlFor={id} sx={{ fontSize: "0.75rem", display: "block" }} color="textSecondary">
        {field.label}
        {field.isRequired ? " *" : ""}
      </Typography>
      {files.map((one, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- two files may be the same
        <Box key={i} sx={{ display: "flex", alignItems: "center", gap: 1, py: 0.5 }}>
          {one instanceof File
            ? <Chosen file={one} />
            : <KeptFile field={field} file={one} />}
          {!isDisabled && (
            <IconButton
              size="small"
              aria-label={translate("explorer.form.removePart", { name: nameOf(one) })}
              onClick={() => set(files.filter((_, j) => j !== i))}
            >
              <CloseIcon fontSize="small" />
            </IconButton>
          )}
        </Box>
      ))}
      {!isDisabled && (
        <Button
          component="label"
          role={undefined}
          tabIndex={-1}
          variant="outlined"
          startIcon={<AttachIcon />}
          sx={{ mt: 0.5, "&:focus-within": { outline: 2, outlineColor: "primary.main", outlineOffset: 2 } }}
        >
          {translate(isMany ? "explorer.form.chooseFiles" : "explorer.form.chooseFile")}
          <Box
            component="input"
            id={id}
            type="file"
            ref={ref}
            aria-invalid={problem !== undefined}
            aria-describedby={`${id}-help`}
            multiple={isMany}
            accept={file?.types.join(",")}
            onChange={choose}
            sx={{ position: "absolute", width: 1, height: 1, opacity: 0 }}
          />
        </Button>
      )}
      {(problem !== undefined || help !== "") && (
        <FormHelperText id={`${id}-help`} error={problem !== undefined}>{problem ?? help}</FormHelperText>
      )}
    </Box>
  )
}

const nameOf = (value: unknown): string =>
  value instanceof File ? value.name : isObject(value) ? textOf(value["name"]) : ""

const Chosen = ({ file }: { readonly file: File }) => {
  const url = useMemo(() => file.type.startsWith("image/") ? URL.createObjectURL(file) : undefined, [file])
  useEffect(() => () => {
    if (url !== undefined) URL.revokeObjectURL(url)
  }, [url])
  return (
    <>
      {url !== undefined && (
        <Box component="img" src={url} alt="" sx={{ width: 64, height: 64, objectFit: "cover", borderRadius: 1 }} />
      )}
      <bdi>{file.name}</bdi>
    </>
  )
}
