import AddIcon from "@mui/icons-material/Add"
import { Box, Button, Card, Chip, Typography, useMediaQuery } from "@mui/material"
import { useEffect, useRef } from "react"
import {
  ColumnsButton,
  Link,
  ListBase,
  Pagination,
  SortButton,
  useCreatePath,
  useListContext,
  useLocaleState,
  useStore,
  useTranslate
} from "react-admin"
import { columnsOf, hiddenColumnsOf } from "../columns/columns.ts"
import { newestFirst } from "../columns/order.ts"
import { useDescribed } from "../data/Description.tsx"
import { numberFormat } from "../data/formats.ts"
import { sentenceOf } from "../data/sentences.ts"
import { CollectionActions } from "../documents/CollectionActions.tsx"
import { PageTitle } from "../parts/PageTitle.tsx"
import { narrow } from "../theme.ts"
import { Cards } from "./Cards.tsx"
import { CsvButton } from "./CsvButton.tsx"
import { FilterBar } from "./FilterBar.tsx"
import { LiveState } from "./LiveState.tsx"
import { ManyMenu } from "./ManyMenu.tsx"
import { NoRows } from "./NoRows.tsx"
import { Rows } from "./Rows.tsx"
import { useLiveRows } from "./useLiveRows.ts"

/** The documents of a model: those that the filter of the address finds, in its order. */
export const ResourceList = () => {
  const resource = useDescribed()
  return (
    <ListBase
      perPage={25}
      sort={newestFirst(resource)}
      disableAuthentication
    >
      <ListPage />
    </ListBase>
  )
}

const ListPage = () => {
  const resource = useDescribed()
  const translate = useTranslate()
  const [locale] = useLocaleState()
  const path = useCreatePath()
  const { error, isPending, resource: name, total } = useListContext()
  const isNarrow = useMediaQuery(narrow)
  const live = useLiveRows()
  useSelectionOfFilter()
  const sortable = columnsOf(resource).filter(({ isSortable }) => isSortable).map(({ path }) => path)
  return (
    <Box component="section" aria-label={resource.labelPlural}>
      <PageTitle title={resource.labelPlural} />
      <Box sx={{ display: "flex", flexWrap: "wrap", alignItems: "center", gap: 1, mb: 1.5 }}>
        <Typography variant="h1">{resource.labelPlural}</Typography>
        {total !== undefined && (
          <Chip
            size="small"
            label={numberFormat(locale).format(total)}
            aria-label={translate("explorer.total", { smart_count: total })}
          />
        )}
        {!isNarrow && <HiddenOrder />}
        <LiveState live={live} />
        <Box
          className="no-print"
          sx={{ ml: "auto", display: "flex", alignItems: "center", flexWrap: "wrap", gap: 0.5 }}
        >
          <CollectionActions />
          {isNarrow ? <SortButton fields={sortable} /> : <ColumnsButton />}
          <CsvButton />
          <ManyMenu />
          {resource.may.create && (
            <Button
              variant="contained"
              startIcon={<AddIcon />}
              component={Link}
              to={path({ resource: name, type: "create" })}
            >
              {translate("explorer.goTo.new", { name: resource.label })}
            </Button>
          )}
        </Box>
      </Box>
      <FilterBar />
      {/* While a list is asked for, its place is taken: nothing jumps. */}
      <Card sx={{ minHeight: isPending ? 420 : undefined, overflow: "hidden" }}>
        {error !== null && error !== undefined
          ? <Problem error={error} />
          : total === 0
          ? <NoRows />
          : isNarrow
          ? <Cards live={live} />
          : <Rows live={live} />}
        {(error === null || error === undefined) && (total === undefined || total > 0) && (
          <Pagination rowsPerPageOptions={[10, 25, 50, 100, 250]} />
        )}
      </Card>
    </Box>
  )
}

/** The order of a list whose field has no column that says so. That of identifiers is none that somebody looks for. */
const HiddenOrder = () => {
  const translate = useTranslate()
  const resource = useDescribed()
  const { sort } = useListContext()
  const [hidden] = useStore<Array<string>>(`${resource.name}.datatable`, Array.from(hiddenColumnsOf(resource)))
  const field = resource.fields.find(({ path }) => path === sort.field)
  if (field === undefined || field.path === "id" || !hidden.includes(field.path)) return null
  return (
    <Box component="span" sx={{ fontSize: "0.8125rem", color: "text.secondary" }}>
      {translate("explorer.sorted", { field: field.label, order: translate(`ra.sort.${sort.order}`) })}
    </Box>
  )
}

/** Rows that another filter does not show are no longer chosen: nobody would see what is changed or deleted. */
const useSelectionOfFilter = () => {
  const { filterValues, onUnselectItems } = useListContext()
  const filter = JSON.stringify(filterValues)
  const chosenBy = useRef(filter)
  useEffect(() => {
    if (chosenBy.current === filter) return
    chosenBy.current = filter
    onUnselectItems()
  }, [filter, onUnselectItems])
}

/** What the service says of a filter or an order that it does not take, or why there is no answer. */
const Problem = ({ error }: { readonly error: Error }) => {
  const translate = useTranslate()
  const { filterValues, refetch, setFilters } = useListContext()
  const isFiltered = Object.keys(filterValues as object).length > 0
  return (
    <Box role="alert" sx={{ p: 4, textAlign: "center" }}>
      <Typography sx={{ mb: 2 }}>{sentenceOf(error, translate)}</Typography>
      <Box sx={{ display: "flex", flexWrap: "wrap", justifyContent: "center", gap: 1 }}>
        <Button variant="contained" onClick={() => void refetch()}>{translate("explorer.again")}</Button>
        {isFiltered && (
          <Button variant="outlined" onClick={() => setFilters({})}>{translate("ra.action.remove_all_filters")}</Button>
        )}
      </Box>
    </Box>
  )
}
