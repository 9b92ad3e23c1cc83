import type { FieldDescription } from "@appkernel/react-admin"
import { Link } from "@mui/material"
import type { MouseEvent } from "react"
import { useNotify, useRecordContext, useTranslate } from "react-admin"
import { useConnection, useDescribed } from "../data/Description.tsx"
import { type Document, isObject } from "../data/documents.ts"
import { download } from "../data/saveAs.ts"
import { sentenceOf } from "../data/sentences.ts"
import { textOf } from "../data/text.ts"

/** The key of a file among those of a list. */
export const keyIn = ({ type }: FieldDescription, file: unknown): string | undefined =>
  type === "list" && isObject(file) ? textOf(file["key"]) : undefined

/** The name of a file, which saves it. */
export const FileName = ({ field, file }: { readonly field: FieldDescription; readonly file: unknown }) => {
  const notify = useNotify()
  const translate = useTranslate()
  const document = useRecordContext<Document>()
  const { name: resource } = useDescribed()
  const { dataProvider } = useConnection()
  const name = isObject(file) ? textOf(file["name"]) : ""
  if (document === undefined) return <bdi>{name}</bdi>
  const save = async (event: MouseEvent) => {
    event.stopPropagation()
    try {
      download(await dataProvider.fileUrl(resource, document.id, field.name, { key: keyIn(field, file) }), name)
    } catch (error) {
      notify(sentenceOf(error, translate), { type: "error" })
    }
  }
  return (
    <Link
      component="button"
      type="button"
      onClick={(event) => void save(event)}
      sx={{ textAlign: "start", overflowWrap: "anywhere" }}
    >
      <bdi>{name}</bdi>
    </Link>
  )
}
