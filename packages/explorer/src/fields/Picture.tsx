import type { FieldDescription } from "@appkernel/react-admin"
import FileIcon from "@mui/icons-material/InsertDriveFileOutlined"
import { Box } from "@mui/material"
import { useEffect, useState } from "react"
import { useRecordContext } from "react-admin"
import { useConnection, useDescribed } from "../data/Description.tsx"
import { type Document, isObject } from "../data/documents.ts"
import { textOf } from "../data/text.ts"
import { keyIn } from "./FileName.tsx"

interface PictureProps {
  /** That of the file, or of the list that it is in. */
  readonly field: FieldDescription
  readonly file: unknown
  readonly size?: number
}

/** Whether a file is shown as a picture. */
export const isPicture = ({ items, type }: FieldDescription, file: unknown): boolean => {
  const said = isObject(file) ? file["type"] : undefined
  return (items?.type ?? type) === "image" && (typeof said !== "string" || said.startsWith("image/"))
}

/** Whether an element is or has been in what somebody sees of the page, or nearly. */
const useIsSeen = (element: Element | null): boolean => {
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (element === null || isSeen) return undefined
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true)
    }, { rootMargin: "200px" })
    observer.observe(element)
    return () => observer.disconnect()
  }, [element, isSeen])
  return isSeen
}

/** A picture of the document, as small as the service makes it, at an address that counts for some minutes. */
export const Picture = ({ field, file, size = 36 }: PictureProps) => {
  const { dataProvider } = useConnection()
  const document = useRecordContext<Document>()
  const { name: resource } = useDescribed()
  const [url, setUrl] = useState<string>()
  const id = document?.id
  const key = keyIn(field, file)
  // Another file at the same place is another picture.
  const content = isObject(file) ? textOf(file["sha256"] ?? file["key"]) : ""
  const [place, setPlace] = useState<Element | null>(null)
  const isSeen = useIsSeen(place)
  const [smallest] = (field.items ?? field).file?.sizes ?? []
  useEffect(() => {
    if (id === undefined || content === "" || !isSeen) return undefined
    let isGone = false
    const load = async () => {
      try {
        const made = await dataProvider.fileUrl(resource, id, field.name, { key, size: smallest })
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
  }, [content, dataProvider, field.name, id, isSeen, key, resource, smallest])
  const name = isObject(file) ? textOf(file["name"]) : ""
  return url === undefined
    ? <FileIcon ref={setPlace} fontSize="small" color="disabled" titleAccess={name} />
    : (
      <Box
        component="img"
        src={url}
        loading="lazy"
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
