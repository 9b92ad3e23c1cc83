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
import { isSame, plain } from "../data/documents.ts"
import { Value } from "../fields/Value.tsx"
import { narrow } from "../theme.ts"

interface Values {
  readonly [field: string]: unknown
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
  const differing = fields.filter((field) => !isSame(plain(mine[field.name], field), plain(theirs[field.name], field)))
  const isChanged = (field: FieldDescription, values: Values) =>
    !isSame(plain(base[field.name], field), plain(values[field.name], field))
  const [kept, setKept] = useState<{ readonly [field: string]: "mine" | "theirs" }>(() =>
    Object.fromEntries(differing.map((field) => [field.name, isChanged(field, mine) ? "mine" : "theirs"]))
  )
  const both = differing.filter((field) => isChanged(field, mine) && isChanged(field, theirs))
  const merge = () =>
    onMerge({
      ...theirs,
      ...Object.fromEntries(
        differing.filter(({ name }) => (kept[name] ?? "theirs") === "mine").map((
          { name }
        ) => [name, mine[name] ?? null])
      )
    })
  return (
    <Dialog open onClose={onClose} fullWidth maxWidth="md" fullScreen={isNarrow}>
      <DialogTitle>{translate("explorer.conflict.title")}</DialogTitle>
      <DialogContent>
        <DialogContentText sx={{ mb: 2 }}>
          {translate(both.length === 0 ? "explorer.conflict.apart" : "explorer.conflict.same", {
            smart_count: both.length
          })}
        </DialogContentText>
        {differing.map((field) => {
          const isOfBoth = both.includes(field)
          return (
            <Box
              key={field.name}
              sx={{ mb: 2, border: 1, borderColor: isOfBoth ? "warning.main" : "divider", borderRadius: 1, p: 1.5 }}
            >
              <Typography variant="h3" id={`conflict-${field.name}`}>{field.label}</Typography>
              <RadioGroup
                aria-labelledby={`conflict-${field.name}`}
                value={kept[field.name] ?? "theirs"}
                onChange={(_, chosen) => setKept({ ...kept, [field.name]: chosen === "mine" ? "mine" : "theirs" })}
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
                      <Value field={field} value={side === "mine" ? mine[field.name] : theirs[field.name]} />
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
