import SearchIcon from "@mui/icons-material/Search"
import { InputAdornment, TextField } from "@mui/material"
import { useEffect, useState } from "react"
import { useTranslate } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { textOf } from "../data/text.ts"
import type { Filter } from "./operators.ts"

interface SearchBoxProps {
  readonly filter: Filter
  readonly onChange: (filter: Filter) => void
}

const wait = 350

/** Looks for words: in all that the model's index of texts has or, without one, in what names a document. */
export const SearchBox = ({ filter, onChange }: SearchBoxProps) => {
  const translate = useTranslate()
  const { fields, representation, textSearch } = useDescribed()
  const named = fields.find(({ path }) => path === representation)
  const key = textSearch ? "$text" : "q"
  const said = textOf(filter[key])
  const [text, setText] = useState(said)
  const [seen, setSeen] = useState(said)
  // The address has changed by another way: back, or a link.
  if (seen !== said) {
    setSeen(said)
    if (text.trim() !== said) setText(said)
  }
  useEffect(() => {
    if (text.trim() === said) return undefined
    const timer = setTimeout(() => {
      const { [key]: _, ...rest } = filter
      onChange(text.trim() === "" ? rest : { ...rest, [key]: text.trim() })
    }, wait)
    return () => clearTimeout(timer)
  }, [filter, key, onChange, said, text])
  const isSearchable = textSearch || (named?.isFilterable === true && named.type === "text" && representation !== "id")
  if (!isSearchable) return null
  const label = textSearch
    ? translate("ra.action.search")
    : translate("explorer.filter.searchIn", { name: named?.label ?? "" })
  return (
    <TextField
      type="search"
      value={text}
      onChange={({ target }) => setText(target.value)}
      placeholder={label}
      fullWidth={false}
      margin="none"
      sx={{ width: { xs: "100%", sm: 260 } }}
      slotProps={{
        htmlInput: { "aria-label": label },
        input: {
          startAdornment: (
            <InputAdornment position="start">
              <SearchIcon fontSize="small" />
            </InputAdornment>
          )
        }
      }}
    />
  )
}
