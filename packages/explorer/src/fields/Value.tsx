import type { FieldDescription } from "@appkernel/react-admin"
import CheckIcon from "@mui/icons-material/Check"
import CloseIcon from "@mui/icons-material/Close"
import { Box, Chip, Link as Anchor, Stack, Typography } from "@mui/material"
import { useLocaleState, useTranslate } from "react-admin"
import { dayOf, instantOf } from "../data/dateTime.ts"
import { isObject } from "../data/documents.ts"
import { dateTimeFormat } from "../data/formats.ts"
import { numberText } from "../data/numberText.ts"
import { textOf } from "../data/text.ts"
import { ReferenceLink } from "./ReferenceLink.tsx"
import { toneOf } from "./tones.ts"

interface ValueProps {
  readonly field: FieldDescription
  readonly value: unknown
  /** In a row of a list there is room for one line. */
  readonly isBrief?: boolean
  /** The decimals that numbers of a column have, so that they stand below each other. */
  readonly decimals?: number | undefined
}

/** How much of a text is in a row, and how much is shown at all: inputs and the JSON have the rest. */
const briefLength = 160
const shownLength = 20_000

/** A value as a reader wants to see it. All of it is text of React: no value is ever taken for markup. */
export const Value = ({ decimals, field, isBrief = false, value }: ValueProps) => {
  const [locale] = useLocaleState()
  const translate = useTranslate()
  if (value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)) {
    return <Box component="span" sx={{ color: "text.secondary" }}>–</Box>
  }
  if (field.isWriteOnly) return "••••••••"
  switch (field.type) {
    case "boolean":
      return value === true
        ? <CheckIcon fontSize="small" color="success" titleAccess={translate("ra.boolean.true")} />
        : <CloseIcon fontSize="small" color="disabled" titleAccess={translate("ra.boolean.false")} />
    case "enum": {
      const label = field.choices?.find(({ id }) => id === value)?.label ?? textOf(value)
      return <Chip size="small" label={label} sx={toneOf(textOf(value))} />
    }
    case "integer":
    case "number":
      return (
        <Box component="span" sx={{ fontVariantNumeric: "tabular-nums", whiteSpace: "nowrap" }}>
          {numberText(locale, value, decimals)}
        </Box>
      )
    case "dateTime": {
      const time = instantOf(value)
      if (time === undefined) return <Words isBrief={isBrief} value={value} />
      return (
        <Box
          component="time"
          dateTime={time.toISOString()}
          // With the zone of the reader, in which it is shown.
          title={dateTimeFormat(locale, { dateStyle: "full", timeStyle: "long" }).format(time)}
          sx={{ whiteSpace: "nowrap" }}
        >
          {dateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(time)}
        </Box>
      )
    }
    case "date": {
      const day = dayOf(value)
      if (day === undefined) return <Words isBrief={isBrief} value={value} />
      return (
        <Box component="time" dateTime={textOf(value)} sx={{ whiteSpace: "nowrap" }}>
          {dateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" }).format(day)}
        </Box>
      )
    }
    case "reference":
      return field.reference === undefined
        ? <Words isBrief={isBrief} value={value} />
        : <ReferenceLink resource={field.reference} id={textOf(value)} />
    case "email":
      return (
        <Anchor href={`mailto:${encodeURIComponent(textOf(value))}`} onClick={stop}>{short(value, isBrief)}</Anchor>
      )
    case "url":
      return /^https?:\/\//iu.test(textOf(value))
        ? (
          <Anchor href={textOf(value)} target="_blank" rel="noopener noreferrer" onClick={stop}>
            {short(value, isBrief)}
          </Anchor>
        )
        : <Words isBrief={isBrief} value={value} />
    case "image":
    case "file":
      return <Words isBrief={isBrief} value={isObject(value) ? value["name"] : value} />
    case "model":
      return isObject(value)
        ? <Parts field={field} value={value} isBrief={isBrief} />
        : <Words isBrief={isBrief} value={value} />
    case "list":
      return Array.isArray(value)
        ? <Elements field={field} value={value} isBrief={isBrief} />
        : <Words isBrief={isBrief} value={value} />
    case "json":
      return isBrief ?
        <Words isBrief value={value} /> :
        (
          <Box component="pre" sx={{ m: 0, fontSize: "0.8125rem", whiteSpace: "pre-wrap" }}>
            {JSON.stringify(value, undefined, 2)}
          </Box>
        )
    default:
      return <Words isBrief={isBrief} value={value} />
  }
}

/** A click on a link within a row does not open the row's document. */
const stop = (event: { readonly stopPropagation: () => void }): void => event.stopPropagation()

const short = (value: unknown, isBrief: boolean): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  const length = isBrief ? briefLength : shownLength
  return text.length > length ? `${text.slice(0, length)}…` : text
}

/** Text with a direction of its own, which stays within its lines. */
const Words = ({ isBrief, value }: { readonly isBrief: boolean; readonly value: unknown }) => (
  <Box
    component="bdi"
    sx={isBrief
      ? {
        display: "block",
        overflow: "hidden",
        textOverflow: "ellipsis",
        whiteSpace: "nowrap",
        maxWidth: 320,
        contain: "paint"
      }
      : { whiteSpace: "pre-wrap", display: "block", contain: "paint" }}
  >
    {short(value, isBrief)}
  </Box>
)

const Parts = (
  { field, isBrief, value }: {
    readonly field: FieldDescription
    readonly isBrief: boolean
    readonly value: { readonly [key: string]: unknown }
  }
) => {
  const parts = (field.fields ?? []).filter(({ name }) => value[name] !== undefined && value[name] !== null)
  if (isBrief) {
    const text = parts.filter(({ type }) => type !== "model" && type !== "list").map(({ name }) => textOf(value[name]))
    return <Words isBrief value={text.length === 0 ? "…" : text.join(", ")} />
  }
  return (
    <Box sx={{ display: "grid", gridTemplateColumns: { sm: "minmax(96px, auto) 1fr" }, columnGap: 2, rowGap: 0.5 }}>
      {parts.map((part) => [
        <Typography key={`${part.name}-label`} variant="body2" color="textSecondary">{part.label}</Typography>,
        <Box key={part.name}>
          <Value field={part} value={value[part.name]} />
        </Box>
      ])}
    </Box>
  )
}

const briefElements = 3

const Elements = (
  { field, isBrief, value }: {
    readonly field: FieldDescription
    readonly isBrief: boolean
    readonly value: ReadonlyArray<unknown>
  }
) => {
  const translate = useTranslate()
  const { items } = field
  if (items === undefined) return <Words isBrief={isBrief} value={value} />
  if (items.type === "model" && isBrief) {
    return (
      <Box component="span" sx={{ whiteSpace: "nowrap" }}>
        {translate("explorer.elements", { smart_count: value.length })}
      </Box>
    )
  }
  const isText = items.file === undefined && items.type !== "model" && items.type !== "reference" &&
    items.type !== "json" &&
    items.type !== "longText"
  const shown = isBrief ? value.slice(0, briefElements) : value
  return (
    <Stack
      component="ul"
      direction={isBrief || items.type !== "model" ? "row" : "column"}
      sx={{
        gap: items.type === "model" ? 1.5 : 0.5,
        m: 0,
        p: 0,
        listStyle: "none",
        flexWrap: isBrief ? "nowrap" : "wrap"
      }}
    >
      {shown.map((one, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- elements have no other key, and no state
        <li key={i}>
          {isText
            ? (
              <Chip
                size="small"
                variant="outlined"
                label={<bdi>{short(one, isBrief)}</bdi>}
                sx={{ maxWidth: isBrief ? 160 : "100%" }}
              />
            )
            : <Value field={items} value={one} isBrief={isBrief} />}
        </li>
      ))}
      {shown.length < value.length && (
        <li>
          <Chip size="small" variant="outlined" label={`+${value.length - shown.length}`} />
        </li>
      )}
    </Stack>
  )
}
