import { useService } from "../data/Description.tsx"

/** Names the page to the browser: its tab, its history, and those who have it read to them. */
export const PageTitle = ({ title }: { readonly title: string }) => {
  const service = useService()
  return <title>{`${title.slice(0, 120)} · ${service.title}`}</title>
}
