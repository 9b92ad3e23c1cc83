import type { FieldDescription } from "@appkernel/react-admin"
import FileIcon from "@mui/icons-material/InsertDriveFileOutlined"
import { Box } from "@mui/material"
import { useEffect, useState } from "react"
import { useConnection } from "../data/Description.tsx"
import { isObject } from "../data/documents.ts"
import { textOf } from "../data/text.ts"

interface PictureProps {
  readonly field: FieldDescription
  readonly value: unknown
  readonly resource: string
  readonly id: string
  readonly size?: number
}

/** The picture of a field, as small as the service makes it, at an address that counts for some minutes. */
export const Picture = ({ field, id, resource, size = 36, value }: PictureProps) => {
  const { dataProvider } = useConnection()
  const [url, setUrl] = useState<string>()
  const key = isObject(value) ? textOf(value["sha256"] ?? value["key"]) : ""
  const isPicture = field.type === "image" && key !== ""
  const [smallest] = field.file?.sizes ?? []
  useEffect(() => {
    if (!isPicture) return undefined
    let isGone = false
    const load = async () => {
      try {
        const made = await dataProvider.fileUrl(resource, id, field.name, { size: smallest })
        if (!isGone) setUrl(made)
      } catch {
        // The name of the file is there instead.
        if (!isGone) setUrl(undefined)
      }
    }
    void load()
    return () => {
      isGone = true
    }
  }, [dataProvider, field.name, id, isPicture, resource, smallest])
  if (key === "") return <Box component="span" sx={{ color: "text.secondary" }}>–</Box>
  const name = isObject(value) ? textOf(value["name"]) : ""
  return url === undefined
    ? <FileIcon fontSize="small" color="disabled" titleAccess={name} />
    : (
      <Box
        component="img"
        src={url}
        alt={name}
        sx={{
          height: size,
          width: size,
          objectFit: "cover",
          borderRadius: 1,
          border: 1,
          borderColor: "divider",
          display: "block"
        }}
      />
    )
}
