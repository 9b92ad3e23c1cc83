/** The colours and letters of the page, of what is made with MUI and of what is there before it. */

export const fontFamily =
  "system-ui, -apple-system, \"Segoe UI\", Roboto, \"Noto Sans\", \"Liberation Sans\", sans-serif"

/** The tones of one of both themes. Text and its surface have a contrast of 4.5 at least, as WCAG 2.2 AA asks. */
export interface Tones {
  readonly mode: "light" | "dark"
  readonly page: string
  readonly surface: string
  readonly border: string
  /** Of what somebody writes into. */
  readonly edge: string
  readonly text: string
  readonly quiet: string
  readonly accent: string
  readonly onAccent: string
  readonly error: string
}

export const light: Tones = {
  mode: "light",
  page: "#f6f7f9",
  surface: "#ffffff",
  border: "#e3e6eb",
  edge: "#8d95a5",
  text: "#171a21",
  quiet: "#586071",
  accent: "#3d4fd6",
  onAccent: "#ffffff",
  error: "#b3261e"
}

export const dark: Tones = {
  mode: "dark",
  page: "#0f1116",
  surface: "#171a21",
  border: "#2a2f3a",
  edge: "#5d6575",
  text: "#e9ebf0",
  quiet: "#a3abbb",
  accent: "#9aa7ff",
  onAccent: "#10131c",
  error: "#f44336"
}
