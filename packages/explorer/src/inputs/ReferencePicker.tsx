import { Autocomplete, TextField } from "@mui/material"
import { useDeferredValue, useState } from "react"
import { useGetList, useGetManyAggregate, useTranslate } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { nameOf } from "../data/documents.ts"

interface ReferencePickerProps {
  readonly resource: string
  readonly label: string
  readonly value: string | null
  readonly onChange: (value: string | null) => void
  readonly isRequired?: boolean
  readonly isDisabled?: boolean
  readonly problem?: string | undefined
  readonly help?: string | undefined
}

/** Looks for a document by what names it, and gives its identifier. */
export const ReferencePicker = (
  { help, isDisabled = false, isRequired = false, label, onChange, problem, resource, value }: ReferencePickerProps
) => {
  const translate = useTranslate()
  const described = useDescribed(resource)
  const [text, setText] = useState("")
  const [isOpen, setOpen] = useState(false)
  const { data: found } = useGetManyAggregate(resource, { ids: value === null ? [] : [value] }, {
    enabled: value !== null
  })
  const [current] = value === null ? [] : found ?? []
  const name = current === undefined ? value ?? "" : nameOf(described, current)
  const searched = useDeferredValue(text === name ? "" : text)
  const { data = [], isFetching } = useGetList(resource, {
    filter: searched === "" ? {} : { q: searched },
    pagination: { page: 1, perPage: 20 },
    sort: { field: described.representation, order: "ASC" },
    meta: { count: "none" }
  }, { enabled: isOpen && described.may.list })
  const options = current === undefined || data.some(({ id }) => id === value) || searched !== ""
    ? data
    : [current, ...data]
  return (
    <Autocomplete
      options={options}
      loading={isFetching}
      loadingText={translate("ra.page.loading")}
      noOptionsText={translate("ra.navigation.no_results", { name: described.labelPlural })}
      open={isOpen}
      onOpen={() => setOpen(true)}
      onClose={() => setOpen(false)}
      value={value === null ? null : current ?? { id: value }}
      inputValue={isOpen ? text : name}
      onInputChange={(_, next) => setText(next)}
      onChange={(_, next) => onChange(next === null ? null : String(next.id))}
      isOptionEqualToValue={(one, other) => one.id === other.id}
      getOptionLabel={(one) => nameOf(described, one)}
      getOptionKey={({ id }) => id}
      filterOptions={(all) => all}
      disabled={isDisabled}
      renderInput={(params) => (
        <TextField
          {...params}
          label={label}
          required={isRequired}
          error={problem !== undefined}
          helperText={problem ?? help}
        />
      )}
    />
  )
}
