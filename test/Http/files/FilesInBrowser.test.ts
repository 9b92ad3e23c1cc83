/** Files in a browser: a form that sends one, a player that seeks in one, and what must not run. */
import { assert, it } from "@effect/vitest"
import { KernelEngine, Model, Resource } from "appkernel"
import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { inBrowser } from "../../support/browser.ts"

class Post extends Model.Class<Post>()("Post", {
  id: Model.id({ prefix: "P" }),
  title: Schema.String,
  files: Model.files()
}) {}

const engine = KernelEngine.make("posts").register(Resource.make(Post, { methods: ["GET", "POST", "PATCH"] }))

const page = (body: string) =>
  HttpServerResponse.text(`<!doctype html><body>${body}`, { contentType: "text/html;charset=utf-8" })

/** A second of silence after another, which a player can seek in. */
const sound = (): Buffer => {
  const data = Buffer.alloc(8000 * 600, 128)
  const head = Buffer.alloc(44)
  head.write("RIFF", 0)
  head.writeUInt32LE(36 + data.length, 4)
  head.write("WAVEfmt ", 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8000, 24)
  head.writeUInt32LE(8000, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write("data", 36)
  head.writeUInt32LE(data.length, 40)
  return Buffer.concat([head, data])
}

const run = "fetch('/ran?'+location.pathname);top.ran=1"

const hostile: ReadonlyArray<readonly [name: string, type: string, content: string]> = [
  ["a.html", "text/html", `<html><script>${run}</script></html>`],
  ["a.png", "image/png", `<html><script>${run}</script></html>`],
  ["a.svg", "image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg" onload="${run}"><script>${run}</script></svg>`],
  ["a.xml", "text/xml", `<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">${run}</x:script>`],
  ["a.txt", "text/plain", run],
  ["a.js", "text/javascript", run],
  ["a.gif", "image/gif", `GIF89a/*\u0001\0\u0001\0\0\0\0*/=1;${run}`],
  ["b.html.png", "image/png", `\u0089PNG\r\n\u001a\n\0\0\0\rIHDR<html><script>${run}</script>`],
  ["a.css", "text/css", `@import url(/ran?css);body{background:url(/ran?css)}`],
  ["a.pdf", "application/pdf", `%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>`],
  ["a.mhtml", "multipart/related", `MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<script>${run}</script>`]
]

inBrowser("Files in a browser", (open) => {
  it.live("come from a form, play from anywhere, and run nowhere", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const service = engine
        .use(HttpRouter.add("GET", "/page", page("")))
        .use(HttpRouter.add(
          "GET",
          "/form",
          page(`<form method=post enctype=multipart/form-data action=/posts>
          <input name=title value=Eiger><input type=file name=files multiple><button>Send</button></form>`)
        ))
        .use(HttpRouter.add("GET", "/ran", (request) =>
          Effect.sync(() => {
            ran.push(request.url)
            return HttpServerResponse.text("")
          })))
      const { baseUrl, client } = yield* service.test()
      const browser = yield* open
      const tab = yield* Effect.promise(() => browser.newPage())

      yield* Effect.promise(async () => {
        await tab.goto(`${baseUrl}/form`)
        await tab.setInputFiles("input[type=file]", [
          { name: "Mönch \"1\".wav", mimeType: "audio/wav", buffer: sound() },
          { name: "../../b.txt", mimeType: "text/plain", buffer: Buffer.from("hello") }
        ])
        await Promise.all([tab.waitForURL(`${baseUrl}/posts`), tab.click("button")])
      })
      const [post] = (yield* client.posts.list())._items
      assert.deepStrictEqual(post?.files.map(({ name, type }) => [name, type]), [
        ["Mönch _1_.wav", "audio/wav"],
        ["b.txt", "text/plain"]
      ])

      const statuses: Array<number> = []
      tab.on("response", (response) => {
        if (response.url().includes("/files/")) statuses.push(response.status())
      })
      const address = `/posts/${post?.id}/files/${post?.files[0]?.key}`
      const position = yield* Effect.promise(async () => {
        await tab.goto(`${baseUrl}/page`)
        return await tab.evaluate(async (src) => {
          const video = Object.assign(document.createElement("video"), { src })
          document.body.append(video)
          await new Promise((loaded) => video.addEventListener("loadedmetadata", loaded))
          video.currentTime = 500
          await new Promise((sought) => video.addEventListener("seeked", sought))
          return [video.currentTime, video.duration]
        }, address)
      })
      assert.deepStrictEqual(position, [500, 600])
      assert.include(statuses, 206)

      const addresses = yield* Effect.promise(async () => {
        const made: Array<string> = []
        for (const [name, type, content] of hostile) {
          const form = new FormData()
          form.set("file", new Blob([Buffer.from(content, "latin1")], { type }), name)
          const response = await fetch(`${baseUrl}/posts/${post?.id}/files`, { method: "POST", body: form })
          const location = response.headers.get("location")
          if (location === null) assert.include([415, 422], response.status, name)
          else made.push(location)
        }
        return made
      })
      assert.isAbove(addresses.length, 7)
      yield* Effect.promise(async () => {
        for (const at of addresses) {
          // What is saved instead of shown ends the navigation.
          await tab.goto(`${baseUrl}${at}`).catch(() => undefined)
        }
        await tab.goto(`${baseUrl}/page`)
        await tab.evaluate(async (sources) => {
          const tags = ["script", "iframe", "embed", "img", "object", "link"]
          await Promise.all(sources.flatMap((src) =>
            tags.map((tag) => {
              const own = tag === "object" ? { data: src } : tag === "link" ? { href: src, rel: "stylesheet" } : { src }
              const element = Object.assign(document.createElement(tag), own)
              document.body.append(element)
              return new Promise((done) => {
                element.addEventListener("load", done)
                element.addEventListener("error", done)
                // Some elements tell neither.
                setTimeout(done, 1500)
              })
            })
          ))
        }, addresses)
      })
      const isRun = yield* Effect.promise(() => tab.evaluate(() => "ran" in window))
      assert.deepStrictEqual([isRun, ran], [false, []])
    }), 60_000)
})
