import DownloadIcon from "@mui/icons-material/FileDownloadOutlined"
import { IconButton, Tooltip } from "@mui/material"
import { useState } from "react"
import { useListContext, useNotify, useStore, useTranslate } from "react-admin"
import { columnsOf, hiddenColumnsOf, inOrder } from "../columns/columns.ts"
import { useConnection, useDescribed } from "../data/Description.tsx"
import { saveAs } from "../data/saveAs.ts"
import { sentenceOf } from "../data/sentences.ts"

/** Saves the documents of the filter as a table, with the columns that are shown, in the order that is shown. */
export const CsvButton = () => {
  const translate = useTranslate()
  const notify = useNotify()
  const { dataProvider } = useConnection()
  const resource = useDescribed()
  const { filterValues, sort, total } = useListContext()
  const [hidden] = useStore<Array<string>>(`${resource.name}.datatable`, Array.from(hiddenColumnsOf(resource)))
  const [ranks] = useStore<Array<number>>(`${resource.name}.datatable_columnRanks`)
  const [isBusy, setBusy] = useState(false)
  if (total === 0) return null
  const save = async () => {
    setBusy(true)
    try {
      const columns = inOrder(columnsOf(resource), ranks).filter(({ path, type }) =>
        !hidden.includes(path) && type !== "image" && type !== "file"
      )
      const table = await dataProvider.exportCsv(resource.name, {
        filter: filterValues,
        sort,
        fields: columns.map(({ path }) => path)
      })
      saveAs(table, `${resource.name}.csv`)
    } catch (error) {
      notify(sentenceOf(error, translate), { type: "error" })
    } finally {
      setBusy(false)
    }
  }
  return (
    <Tooltip title={translate("explorer.csv")}>
      <span>
        <IconButton
          size="small"
          color="primary"
          aria-label={translate("explorer.csv")}
          loading={isBusy}
          onClick={() => void save()}
        >
          <DownloadIcon />
        </IconButton>
      </span>
    </Tooltip>
  )
}
