import { Box, Card, Typography } from "@mui/material"
import { useQuery } from "@tanstack/react-query"
import { useLocaleState, useTranslate } from "react-admin"
import { useConnection } from "../data/Description.tsx"
import { dateTimeFormat, numberFormat } from "../data/formats.ts"
import { isRefused } from "../data/retry.ts"
import { Chart } from "./Chart.tsx"
import { noRates, type Rates, ratesOf, type Sample, sampleOf } from "./samples.ts"

/** How often the service is asked, and for how long what it said is kept: a quarter of an hour. */
const every = 10_000
const keptSamples = 90

interface Measured {
  readonly last: Sample
  readonly first: Rates
  readonly rates: ReadonlyArray<Rates>
}

const measures = ["requests", "latency", "errors", "store"] as const

/** What the service does: its requests, how long they take, how many fail, and its store, for those who may know. */
const Metrics = () => {
  const translate = useTranslate()
  const [locale] = useLocaleState()
  const { ask } = useConnection()
  const { data, error } = useQuery({
    queryKey: ["metrics"],
    queryFn: async ({ client, queryKey, signal }): Promise<Measured | null> => {
      const before = client.getQueryData<Measured | null>(queryKey)
      const text = await ask({ path: "/metrics", headers: { accept: "text/plain" }, signal }).catch(
        (cause: unknown) => {
          if (before === undefined || before === null || signal.aborted || isRefused(cause)) throw cause
          return undefined
        }
      )
      // Where nobody has answered, the line is interrupted.
      if (text === undefined && before !== undefined && before !== null) {
        return { ...before, rates: [...before.rates, noRates(Date.now())].slice(-keptSamples) }
      }
      const last = typeof text === "string" ? sampleOf(text, Date.now()) : undefined
      if (last === undefined) return null
      return before === undefined || before === null
        ? { last, first: ratesOf(undefined, last), rates: [] }
        : { ...before, last, rates: [...before.rates, ratesOf(before.last, last)].slice(-keptSamples) }
    },
    retry: false,
    networkMode: "always",
    refetchInterval: ({ state }) => state.data === null || isRefused(state.error) ? false : every,
    staleTime: every
  })
  if (data === undefined || data === null || isRefused(error)) return null
  const format = (measure: typeof measures[number], value: number | undefined): string => {
    if (value === undefined) return "–"
    const options = measure === "errors"
      ? { style: "percent", maximumFractionDigits: 1 } as const
      : { maximumSignificantDigits: 3 }
    const unit = measure === "requests" ? "/s" : measure === "errors" ? "" : " ms"
    return `${numberFormat(locale, options).format(value)}${unit}`
  }
  const time = (at: number) => dateTimeFormat(locale, { timeStyle: "medium" }).format(at)
  const label = (measure: string) => translate(`explorer.home.metrics.${measure}`)
  return (
    <Box component="section">
      <Typography variant="h2" sx={{ mb: 1 }}>{translate("explorer.home.metrics.title")}</Typography>
      <Box
        sx={{ display: "grid", gridTemplateColumns: "repeat(auto-fill, minmax(min(100%, 210px), 1fr))", gap: 1.5 }}
      >
        {measures.map((measure) => {
          const now = (data.rates.at(-1) ?? data.first)[measure]
          return (
            <Card key={measure} sx={{ p: 2 }}>
              <Typography variant="body2" color="textSecondary">{label(measure)}</Typography>
              <Typography sx={{ fontSize: "1.25rem", fontWeight: 650, fontVariantNumeric: "tabular-nums" }}>
                {format(measure, now)}
              </Typography>
              <Chart
                values={data.rates.map((rates) => rates[measure])}
                label={`${label(measure)}: ${format(measure, now)}`}
              />
            </Card>
          )
        })}
      </Box>
      <Box component="details" sx={{ mt: 1, fontSize: "0.8125rem" }}>
        <Box component="summary" sx={{ cursor: "pointer", width: "fit-content" }}>
          {translate("explorer.home.metrics.table")}
        </Box>
        <Box component="section" sx={{ overflow: "auto", maxHeight: 320 }} tabIndex={0} aria-label={label("table")}>
          <Box component="table" sx={{ "& th, & td": { px: 1.5, py: 0.25, textAlign: "end" } }}>
            <thead>
              <tr>
                {["time", ...measures].map((name) => <th key={name} scope="col">{label(name)}</th>)}
              </tr>
            </thead>
            <tbody>
              {[...data.rates].toReversed().map((rates) => (
                <tr key={rates.at}>
                  <th scope="row">{time(rates.at)}</th>
                  {measures.map((measure) => <td key={measure}>{format(measure, rates[measure])}</td>)}
                </tr>
              ))}
              <tr>
                <th scope="row">{label("begin")}</th>
                {measures.map((measure) => <td key={measure}>{format(measure, data.first[measure])}</td>)}
              </tr>
            </tbody>
          </Box>
        </Box>
      </Box>
    </Box>
  )
}

export default Metrics
