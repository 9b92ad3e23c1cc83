import { HttpRouter, HttpServerResponse } from "effect/http"

/** What is in stock, in a browser, as it is now. The page needs nothing but the browser's own `EventSource`. */
export const stock = HttpRouter.add(
  "GET",
  "/stock",
  HttpServerResponse.html(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Stock</title>
<h1>Stock</h1>
<p id="connection" role="status">connecting</p>
<table>
  <thead><tr><th>Code<th>Product<th>Stock</thead>
  <tbody id="stock"></tbody>
</table>
<script type="module">
  let products = new Map()
  // The documents of a list that begins anew, until all of them are there.
  let arriving

  const read = ({ headers: { control, operation }, key, value }) => {
    if (control === "snapshot-start") arriving = new Map()
    else if (control === "snapshot-end") {
      products = arriving
      arriving = undefined
    } else if (operation === "delete") products.delete(key)
    else if (operation !== undefined) (arriving ?? products).set(key, value)
  }

  const rowOf = ({ code, name, stock }) => {
    const row = document.createElement("tr")
    for (const text of [code, name, stock]) row.insertCell().textContent = text
    return row
  }

  const show = () => {
    const sorted = [...products.values()].toSorted((a, b) => a.code < b.code ? -1 : 1)
    document.getElementById("stock").replaceChildren(...sorted.map(rowOf))
  }

  const connect = () => {
    const source = new EventSource("/api/v1/products/changes?live=sse&fields=code,name,stock")
    const say = (text) => {
      document.getElementById("connection").textContent = text
    }
    source.addEventListener("open", () => say("live"))
    source.addEventListener("data", ({ data }) => {
      JSON.parse(data).forEach(read)
      show()
    })
    source.addEventListener("error", () => {
      say("connecting")
      // It connects again by itself, and goes on at its place, unless the service has refused it.
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2_000)
    })
  }

  connect()
</script>
</html>`)
)
