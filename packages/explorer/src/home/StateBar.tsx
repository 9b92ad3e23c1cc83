import type { ResourceDescription } from "@appkernel/react-admin"
import { Box } from "@mui/material"
import { useQuery } from "@tanstack/react-query"
import { Link, useLocaleState } from "react-admin"
import { useConnection } from "../data/Description.tsx"
import { isObject } from "../data/documents.ts"
import { numberFormat } from "../data/formats.ts"
import { hueOf } from "../fields/tones.ts"

/** The documents of a model by their states: a bar, each part of which leads to its documents. */
export const StateBar = ({ isCounting, resource: { fields, may, name, path }, total }: {
  readonly resource: ResourceDescription
  /** Whether it is still asked how many there are. */
  readonly isCounting: boolean
  /** How many there are, if it is known: of many, it is not. */
  readonly total: number | undefined
}) => {
  const { ask } = useConnection()
  const [locale] = useLocaleState()
  const state = fields.find(({ isFilterable, path, type }) =>
    type === "enum" && isFilterable && /^(?:state|status|stage)$/u.test(path)
  )
  const isCounted = state !== undefined && may.aggregate && total !== 0
  const { data = [], isPending } = useQuery({
    queryKey: [name, "byState", state?.path],
    gcTime: Infinity,
    queryFn: async (): Promise<ReadonlyArray<readonly [string, number]>> => {
      const pipe = JSON.stringify([{ $group: { _id: `$${state?.path ?? ""}`, count: { $sum: 1 } } }])
      const answer = await ask({ path: `${path}/aggregate`, query: new URLSearchParams({ pipe }) })
      const items: unknown = isObject(answer) ? answer["_items"] : undefined
      return (Array.isArray(items) ? items.filter(isObject) : []).flatMap(({ _id, count }) =>
        typeof _id === "string" && typeof count === "number" ? [[_id, count] as const] : []
      )
    },
    // After the number of all: where there is none, nothing has a state.
    enabled: isCounted && !isCounting
  })
  if (state === undefined || data.length === 0) return <Box sx={{ height: isCounted && isPending ? 50 : 12 }} />
  const counts = (state.choices ?? []).flatMap(({ id, label }) => {
    const [, count = 0] = data.find(([value]) => value === id) ?? []
    return count === 0 ? [] : [{ id, label, count }]
  })
  return (
    <Box sx={{ px: 2, pb: 1.5 }}>
      <Box sx={{ display: "flex", gap: "2px", height: 8, mb: 0.75 }} aria-hidden="true">
        {counts.map(({ count, id }) => (
          <Box
            key={String(id)}
            sx={{ flex: count, minWidth: 4, borderRadius: "2px", backgroundColor: `hsl(${hueOf(String(id))} 55% 55%)` }}
          />
        ))}
      </Box>
      <Box sx={{ display: "flex", flexWrap: "wrap", columnGap: 1.25, fontSize: "0.75rem" }}>
        {counts.map(({ count, id, label }) => (
          <Box
            key={String(id)}
            component={Link}
            to={`/${name}?filter=${encodeURIComponent(JSON.stringify({ [state.path]: { "[]": [id] } }))}`}
            aria-label={`${label}: ${numberFormat(locale).format(count)}`}
            sx={{
              display: "inline-flex",
              alignItems: "center",
              gap: 0.5,
              // As large as fingers need it (WCAG 2.2, 2.5.8).
              minHeight: 24,
              minWidth: 24,
              color: "text.secondary",
              textDecoration: "none",
              "&:hover": { textDecoration: "underline" }
            }}
          >
            {label} <b>{numberFormat(locale).format(count)}</b>
          </Box>
        ))}
      </Box>
    </Box>
  )
}
