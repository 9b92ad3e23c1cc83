import { Box, Breadcrumbs, Card, LinearProgress, Tab, Tabs, Typography } from "@mui/material"
import { useEffect, useState } from "react"
import { Link, RecordContextProvider, useGetOne, useTranslate } from "react-admin"
import { useLocation } from "react-router-dom"
import { useConnection, useDescribed } from "../data/Description.tsx"
import { idIn } from "../data/documentPath.ts"
import { type Document, hasLink, isDeletedIn, mayBy, nameOf } from "../data/documents.ts"
import { isMissing } from "../data/retry.ts"
import { PageTitle } from "../parts/PageTitle.tsx"
import { DocumentActions } from "./DocumentActions.tsx"
import { EditForm } from "./EditForm.tsx"
import { History } from "./History.tsx"
import { Missing } from "./Missing.tsx"
import { RawJson } from "./RawJson.tsx"
import { Related } from "./Related.tsx"

/** A document: its form, what refers to it, its history, and what is done with it. */
export const DocumentPage = () => {
  const id = idIn(useLocation().pathname)
  // Another document is another page: nothing of the one before stays.
  return <OneDocument key={id} id={id} />
}

const OneDocument = ({ id }: { readonly id: string }) => {
  const translate = useTranslate()
  const { dataProvider } = useConnection()
  const resource = useDescribed()
  const [tab, setTab] = useState("document")
  const { data: document, error, isPending, refetch } = useGetOne<Document>(
    resource.name,
    { id, ...(resource.isSoftDeleted ? { meta: { deleted: true } } : {}) }
  )
  useEffect(() =>
    resource.may.watch
      ? dataProvider.watch(resource.name, (change) => {
        if (change.id === undefined || String(change.id) === id) void refetch()
      }, { onConnection: (isConnected) => isConnected && void refetch() })
      : undefined, [dataProvider, id, refetch, resource])

  if (isPending) return <LinearProgress aria-label={translate("ra.page.loading")} />
  if (document === undefined) return <Missing error={error} />
  const name = nameOf(resource, document)
  // It was there a moment ago.
  const isGone = isMissing(error)
  const isDeleted = isGone || isDeletedIn(resource, document)
  const isEditable = !isDeleted && (resource.may.update || resource.may.replace) &&
    mayBy(document, ["PATCH", "PUT", "POST"])
  const tabs = [
    "document",
    ...(resource.referencedBy.length > 0 ? ["related"] : []),
    ...(resource.may.history && hasLink(document, "revisions") ? ["history"] : []),
    "json"
  ]
  return (
    <RecordContextProvider value={document}>
      <PageTitle title={`${resource.label} ${name.slice(0, 80)}`} />
      <Breadcrumbs className="no-print" sx={{ fontSize: "0.8125rem", mb: 0.5 }}>
        {resource.may.list && <Link to={`/${resource.name}`}>{resource.labelPlural}</Link>}
        <Box
          component="bdi"
          sx={{
            display: "block",
            maxWidth: "60vw",
            overflow: "hidden",
            textOverflow: "ellipsis",
            whiteSpace: "nowrap",
            contain: "paint"
          }}
        >
          {name}
        </Box>
      </Breadcrumbs>
      <Box sx={{ display: "flex", flexWrap: "wrap", alignItems: "center", gap: 1, mb: 1 }}>
        <Box sx={{ minWidth: 0, flex: "1 1 240px" }}>
          <Typography
            variant="h1"
            sx={{ display: "-webkit-box", WebkitLineClamp: 2, WebkitBoxOrient: "vertical", overflow: "hidden" }}
          >
            <bdi>{name.slice(0, 300)}</bdi>
          </Typography>
          {name !== id && <Box component="code" sx={{ fontSize: "0.75rem", color: "text.secondary" }}>{id}</Box>}
        </Box>
        {!isGone && <DocumentActions document={document} isDeleted={isDeleted} onDone={() => void refetch()} />}
      </Box>
      <Tabs
        value={tab}
        onChange={(_, next: string) => setTab(next)}
        variant="scrollable"
        className="no-print"
        sx={{ borderBottom: 1, borderColor: "divider", mb: 2 }}
      >
        {tabs.map((one) => (
          <Tab
            key={one}
            value={one}
            id={`tab-${one}`}
            aria-controls={`panel-${one}`}
            label={translate(`explorer.tabs.${one}`)}
          />
        ))}
      </Tabs>
      <Box role="tabpanel" id={`panel-${tab}`} aria-labelledby={`tab-${tab}`}>
        {tab === "document" && (
          <EditForm
            document={document}
            isEditable={isEditable}
            isDeleted={isDeleted}
            onSaved={() => void refetch()}
          />
        )}
        {tab === "related" && <Related document={document} />}
        {tab === "history" && <History document={document} onRestored={() => void refetch()} />}
        {tab === "json" && (
          <Card>
            <RawJson document={document} />
          </Card>
        )}
      </Box>
    </RecordContextProvider>
  )
}
