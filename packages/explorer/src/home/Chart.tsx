import { Box } from "@mui/material"

const width = 200
const height = 44

interface ChartProps {
  /** One after the other; where one is missing, the line is interrupted. */
  readonly values: ReadonlyArray<number | undefined>
  readonly label: string
}

/** A line through values, from zero to the largest. The table of the metrics has the same for those who don't see it. */
export const Chart = ({ label, values }: ChartProps) => {
  const most = Math.max(1e-9, ...values.map((value) => value ?? 0))
  const path = values.map((value, i) => {
    if (value === undefined) return ""
    const x = width * (i + 1) / values.length
    const y = height - 2 - (height - 4) * value / most
    return `${values[i - 1] === undefined ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`
  }).join("")
  return (
    <Box
      component="svg"
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an `img` does not take the colours of the page
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      sx={{ display: "block", width: "100%", height, mt: 1, color: "primary.main" }}
    >
      <line x1={0} x2={width} y1={height - 1} y2={height - 1} stroke="currentColor" strokeOpacity={0.25} />
      <path
        d={path}
        fill="none"
        stroke="currentColor"
        strokeWidth={2}
        strokeLinecap="round"
        vectorEffect="non-scaling-stroke"
      />
    </Box>
  )
}
