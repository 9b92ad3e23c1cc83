import { Box } from "@mui/material"
import type { MouseEvent } from "react"
import { Link, useGetManyAggregate } from "react-admin"
import { useDescribed, useService } from "../data/Description.tsx"
import { documentPath } from "../data/documentPath.ts"
import { nameOf } from "../data/documents.ts"

interface ReferenceLinkProps {
  readonly resource: string
  readonly id: string
}

/** A link to the document that a value refers to, by what names it. Those of a page are asked for in one request. */
export const ReferenceLink = ({ id, resource }: ReferenceLinkProps) => {
  const { resources } = useService()
  const may = resources.find(({ name }) => name === resource)?.may
  return may?.get === true || may?.list === true ? <Named id={id} resource={resource} /> : <bdi>{id}</bdi>
}

const Named = ({ id, resource }: ReferenceLinkProps) => {
  const described = useDescribed(resource)
  const { data, isPending } = useGetManyAggregate(resource, { ids: [id] })
  const [document] = data ?? []
  return (
    <Box
      component={Link}
      to={documentPath(resource, id)}
      onClick={(event: MouseEvent) => event.stopPropagation()}
      title={id}
      sx={{
        display: "inline-block",
        maxWidth: 260,
        overflow: "hidden",
        textOverflow: "ellipsis",
        whiteSpace: "nowrap",
        verticalAlign: "bottom"
      }}
    >
      <bdi>{isPending ? "…" : document === undefined ? id : nameOf(described, document)}</bdi>
    </Box>
  )
}
