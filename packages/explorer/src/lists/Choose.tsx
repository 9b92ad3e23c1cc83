import { Checkbox } from "@mui/material"
import type { MouseEvent } from "react"
import { useTranslate } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { type Document, nameOf } from "../data/documents.ts"

interface ChooseProps {
  readonly document: Document
  readonly isChosen: boolean
  readonly isDisabled: boolean
  readonly onToggle: (event: MouseEvent<HTMLButtonElement>) => void
}

/** The checkbox of a row, which says which document it chooses. */
export const Choose = ({ document, isChosen, isDisabled, onToggle }: ChooseProps) => {
  const translate = useTranslate()
  const resource = useDescribed()
  return (
    <Checkbox
      size="small"
      disabled={isDisabled}
      checked={isChosen}
      onClick={onToggle}
      slotProps={{
        input: {
          "aria-label": translate("explorer.many.select", { name: nameOf(resource, document).slice(0, 80) })
        }
      }}
    />
  )
}
