/** Gives somebody what is at an address. */
export const download = (url: string, name: string): void => {
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
}

/** Gives somebody a file. */
export const saveAs = (content: Blob | string, name: string): void => {
  const url = URL.createObjectURL(
    typeof content === "string" ? new Blob([content], { type: "text/csv;charset=utf-8" }) : content
  )
  download(url, name)
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
