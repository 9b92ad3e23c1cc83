import type { FieldDescription } from "@appkernel/react-admin"
import { Stack } from "@mui/material"
import { useRecordContext } from "react-admin"
import type { Document } from "../data/documents.ts"
import { FileName } from "./FileName.tsx"
import { isPicture, Picture } from "./Picture.tsx"

interface FilesProps {
  readonly field: FieldDescription
  readonly files: ReadonlyArray<unknown>
}

/** How many files are in a row, of which one is a picture. */
const shownFiles = 3

/** The files of a document in its row. */
export const BriefFiles = ({ field, files }: FilesProps) => {
  const picture = files.find((file) => isPicture(field, file))
  const shown = files.filter((file) => file === picture || !isPicture(field, file)).slice(0, shownFiles)
  return (
    <Stack direction="row" sx={{ gap: 0.5, alignItems: "center" }}>
      {shown.map((file, i) => {
        const One = file === picture ? Picture : FileName
        // oxlint-disable-next-line react/no-array-index-key -- two files may be the same
        return <One key={i} field={field} file={file} />
      })}
      {files.length > shown.length && `+${files.length - shown.length}`}
    </Stack>
  )
}

/** A file that the document has, which its name saves. */
export const KeptFile = ({ field, file }: { readonly field: FieldDescription; readonly file: unknown }) => (
  <>
    {useRecordContext<Document>() !== undefined && isPicture(field, file) && (
      <Picture field={field} file={file} size={64} />
    )}
    <FileName field={field} file={file} />
  </>
)
