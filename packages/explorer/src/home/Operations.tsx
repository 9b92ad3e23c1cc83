import type { ActionDescription } from "@appkernel/react-admin"
import { Box, Button, Card, Typography } from "@mui/material"
import { useQueryClient } from "@tanstack/react-query"
import { Suspense, useState } from "react"
import { useTranslate } from "react-admin"
import { useConnection, useService } from "../data/Description.tsx"
import { later } from "../parts/later.tsx"

const ActionDialog = later(() => import("../documents/ActionDialog.tsx").then(({ ActionDialog }) => ActionDialog))

/** `users_v2` is "Users v2". */
const labelOf = (service: string): string => {
  const words = service.replaceAll(/[_.-]+/gu, " ")
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What the caller may do that is of no model. Their sign-ins are on a page of their own. */
export const Operations = () => {
  const translate = useTranslate()
  const { dataProvider } = useConnection()
  const queries = useQueryClient()
  const { operations } = useService()
  const [chosen, setChosen] = useState<ActionDescription>()
  const services = new Map<string, Array<ActionDescription>>()
  for (const operation of operations) {
    if (/\/token\/sessions(?:\/|$)/u.test(operation.path)) continue
    const service = operation.name.slice(0, operation.name.lastIndexOf("."))
    services.set(service, [...services.get(service) ?? [], operation])
  }
  if (services.size === 0) return null
  return (
    <Box component="section">
      <Typography variant="h2" sx={{ mb: 1 }}>{translate("explorer.home.operations")}</Typography>
      <Card sx={{ px: 2, py: 1.5, display: "grid", gap: 1.25 }}>
        {Array.from(services, ([service, offered]) => {
          const label = offered[0]?.service ?? labelOf(service)
          return (
            // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a `fieldset` is of a form
            <Box key={service} role="group" aria-label={label}>
              <Typography variant="body2" color="textSecondary" sx={{ mb: 0.5 }}>{label}</Typography>
              <Box sx={{ display: "flex", flexWrap: "wrap", gap: 1 }}>
                {offered.map((operation) => (
                  <Button
                    key={operation.name}
                    variant="outlined"
                    color={operation.isDestructive ? "error" : "primary"}
                    onClick={() => setChosen(operation)}
                  >
                    {operation.label}
                  </Button>
                ))}
              </Box>
            </Box>
          )
        })}
      </Card>
      {chosen !== undefined && (
        <Suspense>
          <ActionDialog
            action={chosen}
            run={(args) => dataProvider.runOperation(chosen.name, args)}
            onClose={() => setChosen(undefined)}
            // Nobody knows which documents it has changed.
            onDone={() => void queries.invalidateQueries()}
          />
        </Suspense>
      )}
    </Box>
  )
}
