import type { ResourceDescription } from "@appkernel/react-admin"
import { Button } from "@mui/material"
import { useCloseNotification, useTranslate } from "react-admin"
import { useRestore } from "./useRestore.ts"

/** How long a deletion can be taken back where it is said, in milliseconds. */
const undoFor = 10_000

/** What a notification has that says what was deleted: a button that takes it back, where the caller may do that. */
export const undoOf = ({ isSoftDeleted, may, name }: ResourceDescription, ids: ReadonlyArray<string>) =>
  isSoftDeleted && may.restore && ids.length > 0
    ? { action: <UndoDelete name={name} ids={ids} />, autoHideDuration: undoFor }
    : {}

const UndoDelete = ({ ids, name }: { readonly name: string; readonly ids: ReadonlyArray<string> }) => {
  const translate = useTranslate()
  const close = useCloseNotification()
  const restore = useRestore(name)
  return (
    <Button
      color="inherit"
      onClick={() => {
        close()
        void restore(ids)
      }}
    >
      {translate("ra.action.undo")}
    </Button>
  )
}
