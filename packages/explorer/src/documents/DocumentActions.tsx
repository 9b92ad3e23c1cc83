import type { ActionDescription } from "@appkernel/react-admin"
import CopyIcon from "@mui/icons-material/ContentCopyOutlined"
import DeleteIcon from "@mui/icons-material/DeleteOutlined"
import PrintIcon from "@mui/icons-material/PrintOutlined"
import RestoreIcon from "@mui/icons-material/RestoreFromTrashOutlined"
import { Box, Button, IconButton, Tooltip } from "@mui/material"
import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Confirm, useNotify, useTranslate } from "react-admin"
import { useNavigate } from "react-router-dom"
import { useConnection, useDescribed } from "../data/Description.tsx"
import { type Document, hasLink, isOfFiles, mayBy, nameOf, plain } from "../data/documents.ts"
import { sentenceOf } from "../data/sentences.ts"
import { defaultsOf } from "../inputs/defaults.ts"
import { ActionDialog } from "./ActionDialog.tsx"
import { draftOf, keepDraft, newKey } from "./drafts.ts"
import { undoOf } from "./UndoDelete.tsx"

interface DocumentActionsProps {
  readonly document: Document
  readonly isDeleted: boolean
  readonly onDone: () => void
}

/** What the caller may do with a document, by its links: the actions of its model, and what every document has. */
export const DocumentActions = ({ document, isDeleted, onDone }: DocumentActionsProps) => {
  const translate = useTranslate()
  const notify = useNotify()
  const navigate = useNavigate()
  const client = useQueryClient()
  const { dataProvider } = useConnection()
  const resource = useDescribed()
  const { actions, fields, label, may, name } = resource
  const [action, setAction] = useState<ActionDescription>()
  const [asks, setAsks] = useState<"delete" | "purge" | "clone">()
  const offered = isDeleted ? [] : actions.filter(({ name, on }) => on === "item" && hasLink(document, name))
  const run = async (
    write: () => Promise<unknown>,
    message: string,
    options: { readonly isGone: boolean; readonly canUndo?: boolean }
  ) => {
    setAsks(undefined)
    try {
      await write()
      await client.invalidateQueries({ queryKey: [name] })
      notify(message, { type: "success", ...(options.canUndo === true ? undoOf(resource, [document.id]) : {}) })
      if (options.isGone) void navigate(`/${name}`)
      else onDone()
    } catch (error) {
      notify(sentenceOf(error, translate), { type: "error" })
    }
  }
  const duplicate = () => {
    const set = fields.filter((field) =>
      field.isSetOnCreate && !field.isWriteOnly && !isOfFiles(field) && field.path !== "id"
    )
    const values = Object.fromEntries(set.map((field) => [field.name, plain(document[field.name], field)]))
    keepDraft(newKey(name), { base: defaultsOf(fields), values })
    void navigate(`/${name}/create`)
  }
  const mayDelete = !isDeleted && may.delete && mayBy(document, ["DELETE"])
  return (
    <Box className="no-print" sx={{ display: "flex", flexWrap: "wrap", alignItems: "center", gap: 0.75 }}>
      {offered.map((one) => (
        <Button
          key={one.name}
          variant="outlined"
          color={one.isDestructive ? "error" : "primary"}
          onClick={() => setAction(one)}
        >
          {one.label}
        </Button>
      ))}
      {isDeleted && may.restore && hasLink(document, "restore") && (
        <Button
          variant="contained"
          startIcon={<RestoreIcon />}
          onClick={() =>
            void run(() => dataProvider.restore(name, document.id), "explorer.deleted.restored", { isGone: false })}
        >
          {translate("explorer.deleted.restore")}
        </Button>
      )}
      {may.purge && hasLink(document, "purge") && isDeleted && (
        <Button
          variant="outlined"
          color="error"
          startIcon={<DeleteIcon />}
          onClick={() => setAsks("purge")}
        >
          {translate("explorer.deleted.purge")}
        </Button>
      )}
      {may.create && !isDeleted && (
        <Tooltip title={translate("ra.action.clone")}>
          <IconButton
            size="small"
            aria-label={translate("ra.action.clone")}
            onClick={() => draftOf(newKey(name)) === undefined ? duplicate() : setAsks("clone")}
          >
            <CopyIcon fontSize="small" />
          </IconButton>
        </Tooltip>
      )}
      <Tooltip title={translate("explorer.print")}>
        <IconButton size="small" aria-label={translate("explorer.print")} onClick={() => globalThis.print()}>
          <PrintIcon fontSize="small" />
        </IconButton>
      </Tooltip>
      {mayDelete && (
        <Tooltip title={translate("ra.action.delete")}>
          <IconButton
            size="small"
            color="error"
            aria-label={translate("ra.action.delete")}
            onClick={() => setAsks("delete")}
          >
            <DeleteIcon fontSize="small" />
          </IconButton>
        </Tooltip>
      )}
      <Confirm
        isOpen={asks === "clone"}
        title="ra.action.clone"
        content="explorer.form.overwrite"
        onClose={() => setAsks(undefined)}
        onConfirm={duplicate}
      />
      <Confirm
        isOpen={asks === "delete" || asks === "purge"}
        title={translate("explorer.deleteTitle", { name: label, which: nameOf(resource, document).slice(0, 80) })}
        content={translate(
          asks === "purge" || !resource.isSoftDeleted ? "explorer.deleted.forGood" : "explorer.deleted.canBeRestored"
        )}
        confirm="ra.action.delete"
        confirmColor="warning"
        onClose={() => setAsks(undefined)}
        onConfirm={() =>
          void run(
            asks === "purge"
              ? () => dataProvider.purge(name, document.id)
              : () => dataProvider.delete(name, { id: document.id, previousData: document }),
            "explorer.deleted.done",
            { isGone: true, canUndo: asks === "delete" }
          )}
      />
      {action !== undefined && (
        <ActionDialog
          action={action}
          run={(args) => dataProvider.runAction(name, action.name, document.id, args)}
          onClose={() => setAction(undefined)}
          onDone={onDone}
        />
      )}
    </Box>
  )
}
