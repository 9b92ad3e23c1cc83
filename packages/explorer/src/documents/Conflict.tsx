import type { FieldDescription } from "@appkernel/react-admin"
import {
  Box,
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
  FormControlLabel,
  Radio,
  RadioGroup,
  Typography,
  useMediaQuery
} from "@mui/material"
import { useState } from "react"
import { useTranslate } from "react-admin"
import { isObject, isSame, plain, valueAt } from "../data/documents.ts"
import { Value } from "../fields/Value.tsx"
import { narrow } from "../theme.ts"

interface Values {
  readonly [field: string]: unknown
}

/** A field of a document, or of a model within it. */
interface Part {
  readonly field: FieldDescription
  readonly label: string
}

/** What is chosen by itself: the fields and, of a model that is there in each of the states, its own ones. */
const partsOf = (
  fields: ReadonlyArray<FieldDescription>,
  states: ReadonlyArray<unknown>,
  outer = ""
): ReadonlyArray<Part> =>
  fields.filter(({ isSetOnUpdate }) => isSetOnUpdate).flatMap((field) => {
    const label = `${outer}${field.label}`
    const isModel = field.fields !== undefined && states.every((state) => isObject(valueAt(state, field.path)))
    return isModel ? partsOf(field.fields, states, `${label} › `) : [{ field, label }]
  })

const differ = ({ field }: Part, one: Values, other: Values): boolean =>
  !isSame(plain(valueAt(one, field.path), field), plain(valueAt(other, field.path), field))

/** A document with another value at a path. */
const withValue = (document: Values, [name = "", ...rest]: ReadonlyArray<string>, value: unknown): Values => {
  const within = document[name]
  return { ...document, [name]: rest.length === 0 ? value : withValue(isObject(within) ? within : {}, rest, value) }
}

interface ConflictProps {
  readonly fields: ReadonlyArray<FieldDescription>
  /** The document that both began with. */
  readonly base: Values
  readonly mine: Values
  readonly theirs: Values
  readonly isBusy: boolean
  readonly onClose: () => void
  readonly onMerge: (merged: Values) => void
}

/** Two people have changed a document: what each has made of its fields, and which of both is kept. */
export const Conflict = ({ base, fields, isBusy, mine, onClose, onMerge, theirs }: ConflictProps) => {
  const translate = useTranslate()
  const isNarrow = useMediaQuery(narrow)
  const differing = partsOf(fields, [base, mine, theirs]).filter((part) => differ(part, mine, theirs))
  const [kept, setKept] = useState<{ readonly [path: string]: "mine" | "theirs" }>(() =>
    Object.fromEntries(differing.map((part) => [part.field.path, differ(part, base, mine) ? "mine" : "theirs"]))
  )
  const both = differing.filter((part) => differ(part, base, mine) && differ(part, base, theirs))
  const merge = () =>
    onMerge(
      differing.filter(({ field }) => kept[field.path] === "mine").reduce(
        (merged, { field: { path } }) => withValue(merged, path.split("."), valueAt(mine, path) ?? null),
        theirs
      )
    )
  return (
    <Dialog open onClose={onClose} fullWidth maxWidth="md" fullScreen={isNarrow}>
      <DialogTitle>{translate("explorer.conflict.title")}</DialogTitle>
      <DialogContent>
        <DialogContentText sx={{ mb: 2 }}>
          {translate(both.length === 0 ? "explorer.conflict.apart" : "explorer.conflict.same", {
            smart_count: both.length
          })}
        </DialogContentText>
        {differing.map((part) => {
          const { field: { path }, field, label } = part
          const isOfBoth = both.includes(part)
          return (
            <Box
              key={path}
              sx={{ mb: 2, border: 1, borderColor: isOfBoth ? "warning.main" : "divider", borderRadius: 1, p: 1.5 }}
            >
              <Typography variant="h3" id={`conflict-${path}`}>{label}</Typography>
              <RadioGroup
                aria-labelledby={`conflict-${path}`}
                value={kept[path] ?? "theirs"}
                onChange={(_, chosen) => setKept({ ...kept, [path]: chosen === "mine" ? "mine" : "theirs" })}
                sx={{ display: "grid", gridTemplateColumns: { sm: "1fr 1fr" }, gap: 1, mt: 0.5 }}
              >
                {(["mine", "theirs"] as const).map((side) => (
                  <Box key={side} sx={{ minWidth: 0 }}>
                    <FormControlLabel
                      value={side}
                      control={<Radio size="small" />}
                      label={translate(`explorer.conflict.${side}`)}
                    />
                    <Box sx={{ pl: 3.5, maxHeight: 200, overflow: "auto" }}>
                      <Value field={field} value={valueAt(side === "mine" ? mine : theirs, path)} />
                    </Box>
                  </Box>
                ))}
              </RadioGroup>
            </Box>
          )
        })}
        {differing.length === 0 && <Typography>{translate("explorer.conflict.none")}</Typography>}
      </DialogContent>
      <DialogActions>
        <Button color="inherit" onClick={onClose}>{translate("ra.action.cancel")}</Button>
        <Button variant="contained" loading={isBusy} onClick={merge}>{translate("explorer.conflict.save")}</Button>
      </DialogActions>
    </Dialog>
  )
}
