import AddIcon from "@mui/icons-material/FilterList"
import { Box, Button, Chip, MenuItem, TextField } from "@mui/material"
import { useMemo, useState } from "react"
import { useListContext, useTranslate } from "react-admin"
import { useDescribed } from "../data/Description.tsx"
import { textOf } from "../data/text.ts"
import { ConditionLabel } from "./ConditionLabel.tsx"
import { FilterForm } from "./FilterForm.tsx"
import { type Condition, conditionsOf, type Filter, filterFields, withCondition, without } from "./operators.ts"
import { SearchBox } from "./SearchBox.tsx"

/** The filter of a list: its conditions as chips, each of which can be changed and removed, and a form for a new one. */
export const FilterBar = () => {
  const translate = useTranslate()
  const resource = useDescribed()
  const { filterValues, setFilters } = useListContext()
  const [edited, setEdited] = useState<{ readonly anchor: HTMLElement; readonly condition?: Condition }>()
  const fields = useMemo(() => filterFields(resource), [resource])
  // The address bar has what was set there.
  const filter = filterValues as Filter
  const change = ({ $logic, ...next }: Filter) => {
    // One condition alone is not combined with what comes after it.
    setFilters($logic === undefined || conditionsOf(next).length < 2 ? next : { ...next, $logic }, undefined, false)
  }
  const apply = (made: ReadonlyArray<Condition>) => {
    const rest = edited?.condition === undefined ? filter : without(filter, edited.condition)
    change(made.reduce(withCondition, rest))
    setEdited(undefined)
  }
  const conditions = conditionsOf(filter)
  return (
    <Box
      component="search"
      className="no-print"
      sx={{ display: "flex", flexWrap: "wrap", alignItems: "center", gap: 1, mb: 1.5 }}
    >
      <SearchBox filter={filter} onChange={change} />
      {resource.isSoftDeleted && (
        <TextField
          select
          value={textOf(filter["$deleted"])}
          onChange={({ target }) => {
            const { $deleted: _, ...rest } = filter
            change(target.value === "" ? rest : { ...rest, $deleted: target.value })
          }}
          label={translate("explorer.deleted.label")}
          fullWidth={false}
          margin="none"
          sx={{ minWidth: 150 }}
          slotProps={{ select: { displayEmpty: true }, inputLabel: { shrink: true } }}
        >
          <MenuItem value="">{translate("explorer.deleted.without")}</MenuItem>
          <MenuItem value="include">{translate("explorer.deleted.include")}</MenuItem>
          <MenuItem value="only">{translate("explorer.deleted.only")}</MenuItem>
        </TextField>
      )}
      {conditions.map((condition) => (
        <Chip
          key={`${condition.path} ${condition.operator}`}
          label={<ConditionLabel condition={condition} fields={fields} />}
          onClick={({ currentTarget }) => setEdited({ anchor: currentTarget, condition })}
          onDelete={() => change(without(filter, condition))}
          color="primary"
          variant="outlined"
        />
      ))}
      {conditions.length > 1 && (
        <TextField
          select
          value={textOf(filter["$logic"] ?? "AND")}
          onChange={({ target }) => {
            const { $logic: _, ...rest } = filter
            change(target.value === "AND" ? rest : { ...rest, $logic: target.value })
          }}
          fullWidth={false}
          margin="none"
          slotProps={{ htmlInput: { "aria-label": translate("explorer.filter.logic") } }}
        >
          <MenuItem value="AND">{translate("explorer.filter.and")}</MenuItem>
          <MenuItem value="OR">{translate("explorer.filter.or")}</MenuItem>
        </TextField>
      )}
      {fields.length > 0 && (
        <Button
          startIcon={<AddIcon />}
          onClick={({ currentTarget }) => setEdited({ anchor: currentTarget })}
        >
          {translate("explorer.filter.add")}
        </Button>
      )}
      {conditions.length > 0 && (
        <Button color="inherit" onClick={() => change({})}>{translate("ra.action.remove_all_filters")}</Button>
      )}
      {edited !== undefined && (
        <FilterForm
          anchor={edited.anchor}
          condition={edited.condition}
          fields={fields}
          isAny={filter["$logic"] === "OR"}
          onApply={apply}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Box>
  )
}
