import { KernelError } from "@appkernel/react-admin"
import CheckIcon from "@mui/icons-material/CheckCircleOutlined"
import ErrorIcon from "@mui/icons-material/ErrorOutlined"
import { Box, Card, Skeleton, Typography } from "@mui/material"
import { useQuery } from "@tanstack/react-query"
import { useTranslate } from "react-admin"
import { useConnection } from "../data/Description.tsx"
import { isObject } from "../data/documents.ts"
import { isDown, isRefused } from "../data/retry.ts"
import { textOf } from "../data/text.ts"

/** Whether the service and what it stands on work, for those who may know. */
export const Health = ({ isAsked, isExpected }: {
  readonly isAsked: boolean
  /** Whether the service says that the caller may know. */
  readonly isExpected: boolean
}) => {
  const translate = useTranslate()
  const { ask } = useConnection()
  const { data, error, isPending } = useQuery({
    queryKey: ["health"],
    queryFn: () =>
      ask({ path: "/health" }).catch((error: unknown) => {
        // What does not work is said with a 503.
        if (error instanceof KernelError && isObject(error.body["checks"])) return error.body
        throw error
      }),
    enabled: isAsked,
    retry: false,
    // A browser that is offline asks as well, and learns that nobody answers.
    networkMode: "always",
    refetchInterval: ({ state }) => isRefused(state.error) ? false : 30_000
  })
  // What was answered before says nothing of now.
  const isAnswered = error === null && isObject(data)
  if (!isAnswered && !isDown(error) && !(isPending && isExpected)) return null
  const checks = isAnswered && isObject(data["checks"]) ? Object.entries(data["checks"]) : []
  return (
    <Box component="section">
      <Typography variant="h2" sx={{ mb: 1 }}>{translate("explorer.home.health")}</Typography>
      <Card sx={{ px: 2, py: 1 }}>
        {isPending && <Skeleton height={36} animation={false} />}
        {!isPending && <Line name={translate("explorer.home.service")} isUp={isAnswered && data["status"] === "ok"} />}
        {checks.map(([name, check]) => (
          <Line
            key={name}
            // The service's own checks have names; those of the program are called as they are there.
            name={translate(`explorer.home.checks.${name}`, { _: name })}
            isUp={isObject(check) && check["status"] === "ok"}
            milliseconds={isObject(check) ? check["duration_ms"] : undefined}
            reason={isObject(check) ? textOf(check["reason"]) : ""}
          />
        ))}
      </Card>
    </Box>
  )
}

const Line = (
  { isUp, milliseconds, name, reason = "" }: {
    readonly name: string
    readonly isUp: boolean
    readonly milliseconds?: unknown
    /** Why it does not work. */
    readonly reason?: string
  }
) => {
  const translate = useTranslate()
  const Icon = isUp ? CheckIcon : ErrorIcon
  return (
    <Box sx={{ display: "flex", alignItems: "center", gap: 1, py: 0.75 }}>
      <Icon fontSize="small" color={isUp ? "success" : "error"} />
      <Box sx={{ flex: 1, minWidth: 0 }}>
        <Box sx={{ textTransform: "capitalize" }}>{name}</Box>
        {reason !== "" && (
          <Typography variant="body2" color="textSecondary" sx={{ overflowWrap: "anywhere" }}>
            <bdi>{reason}</bdi>
          </Typography>
        )}
      </Box>
      <Typography variant="body2" color="textSecondary">
        {translate(isUp ? "explorer.home.up" : "explorer.home.down")}
        {milliseconds !== undefined && ` · ${textOf(milliseconds)} ms`}
      </Typography>
    </Box>
  )
}
