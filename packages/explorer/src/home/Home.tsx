import { Box, Card, Typography } from "@mui/material"
import { lazy, startTransition, Suspense, useDeferredValue, useEffect, useMemo, useState } from "react"
import { useTranslate } from "react-admin"
import { useService } from "../data/Description.tsx"
import { whenIdle } from "../parts/later.tsx"
import { PageTitle } from "../parts/PageTitle.tsx"
import { Failing, isWork } from "./Failing.tsx"
import { Health } from "./Health.tsx"
import { Latest } from "./Latest.tsx"
import { ModelCard } from "./ModelCard.tsx"
import { Operations } from "./Operations.tsx"

// After an update of the service, an open page may ask for a file that is gone: the rest of the home does without it.
const Metrics = lazy(() => import("./Metrics.tsx").catch(() => ({ default: () => null })))

/** The home, which is made after what surrounds it, in parts between which the browser answers. */
export const Home = () => useDeferredValue(true, false) && <Parts />

/** What there is, what has happened to it, and whether the service works. */
const Parts = () => {
  const translate = useTranslate()
  const { monitoring, resources, title } = useService()
  // The models come first, then what has happened to them, and then what the service does, so that none waits for the next.
  const [step, setStep] = useState(0)
  useEffect(() => {
    if (step < 2) whenIdle(() => startTransition(() => setStep(step + 1)))
  }, [step])
  const isIdle = step === 2
  // A service that does not say it is asked.
  const isMonitored = (path: string) => monitoring?.includes(path) !== false
  const listed = useMemo(() => resources.filter(({ may }) => may.list), [resources])
  return (
    <Box>
      <PageTitle title={translate("explorer.home.title")} />
      <Typography variant="h1">{title}</Typography>
      <Typography color="textSecondary" sx={{ mb: 2.5 }}>{translate("explorer.home.greeting")}</Typography>
      <Typography variant="h2" sx={{ mb: 1 }}>{translate("explorer.home.models")}</Typography>
      <Box
        sx={{
          display: "grid",
          gridTemplateColumns: "repeat(auto-fill, minmax(min(100%, 210px), 1fr))",
          gap: 1.5,
          alignItems: "stretch"
        }}
      >
        {listed.map((resource) => <ModelCard key={resource.name} resource={resource} />)}
      </Box>
      {step > 0 && (
        <Box
          sx={{
            display: "grid",
            gridTemplateColumns: { xs: "minmax(0, 1fr)", lg: "minmax(0, 2fr) minmax(260px, 1fr)" },
            gap: 2,
            mt: 3
          }}
        >
          <Box component="section">
            <Typography variant="h2" sx={{ mb: 1 }}>{translate("explorer.home.latest")}</Typography>
            <Card>
              <Latest resources={listed} />
            </Card>
          </Box>
          <Box sx={{ display: "grid", gap: 2, alignContent: "start", minWidth: 0 }}>
            <Operations />
            {isMonitored("/health") && <Health isAsked={isIdle} isExpected={monitoring !== undefined} />}
            {resources.filter(isWork).map((resource) => <Failing key={resource.name} resource={resource} />)}
          </Box>
        </Box>
      )}
      <Box sx={{ mt: 3 }}>
        {isIdle && isMonitored("/metrics") && (
          <Suspense>
            <Metrics />
          </Suspense>
        )}
      </Box>
    </Box>
  )
}
