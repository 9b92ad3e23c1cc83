import type { ResourceDescription } from "@appkernel/react-admin"
import { Box } from "@mui/material"
import type { MouseEvent } from "react"
import { Link } from "react-admin"
import { documentPath } from "../data/documentPath.ts"
import { type Document, nameOf } from "../data/documents.ts"

/** The name of a document on one line, as a link to it; to the list, for those who may not get one. */
export const NameLink = ({ document, maxWidth, resource, text }: {
  readonly document: Document
  readonly resource: ResourceDescription
  readonly maxWidth?: number
  /** Instead of its name. */
  readonly text?: string
}) => {
  return (
    <Box
      component={Link}
      to={resource.may.get ? documentPath(resource.name, document.id) : `/${resource.name}`}
      // What it is in may react to clicks of its own.
      onClick={(event: MouseEvent) => event.stopPropagation()}
      sx={{
        display: "block",
        maxWidth,
        overflow: "hidden",
        textOverflow: "ellipsis",
        whiteSpace: "nowrap",
        contain: "paint",
        fontWeight: 600,
        color: "text.primary",
        textDecoration: "none",
        "&:hover": { textDecoration: "underline" }
      }}
    >
      <bdi>{(text ?? nameOf(resource, document)).slice(0, 160)}</bdi>
    </Box>
  )
}
