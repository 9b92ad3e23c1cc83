import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { headSize, isAsSaid, sentAs, typeOfHead } from "../../../src/Http/files/contentTypes.ts"
import { checkedType } from "../../../src/Http/files/refusals.ts"

const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1")

/** What runs in a browser that takes it for a page, a picture, a script or a style. */
const active = {
  html: "<html><script>alert(1)</script></html>",
  doctype: "<!DOCTYPE html><title>a</title>",
  lateHtml: `${" ".repeat(600)}<script>alert(1)</script>`,
  upperHtml: "<SCRIPT>alert(1)</SCRIPT>",
  image: "<img src=x onerror=alert(1)>",
  link: "hello <a href='javascript:alert(1)'>a</a>",
  svg: "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>",
  declaredSvg: "<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>",
  prefixedSvg: "<?xml version=\"1.0\"?><s:svg xmlns:s=\"http://www.w3.org/2000/svg\"/>",
  xhtml: "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><body/></html>",
  xslt: "<?xml version=\"1.0\"?><?xml-stylesheet type=\"text/xsl\" href=\"#a\"?><a/>",
  byteOrderMark: "\u00ef\u00bb\u00bf<html><script>alert(1)</script>",
  utf16: "\u00ff\u00fe<\0h\0t\0m\0l\0>\0",
  utf7: "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
  pdf: "%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>",
  script: "alert(document.domain)",
  style: "body{background:url(javascript:alert(1))}",
  swf: "CWS\u0008\0\0\0\0",
  mhtml: "MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<script>alert(1)</script>",
  zip: "PK\u0003\u0004\u0014\0\0\0\0\0",
  wasm: "\0asm\u0001\0\0\0"
}

/** The beginnings of files that a browser shows. */
const heads = {
  png: "\u0089PNG\r\n\u001a\n\0\0\0\rIHDR\0\0\0\u0001\0\0\0\u0001\u0008\u0006\0\0\0",
  gif: "GIF89a\u0001\0\u0001\0\0\0\0",
  gifScript: "GIF89a/*",
  jpeg: "\u00ff\u00d8\u00ff\u00e0\0\u0010JFIF\0",
  bmp: "BM",
  webp: "RIFF\u0024\0\0\0WEBPVP8 ",
  mp3: "ID3\u0003\0\0\0\0\0\0",
  text: "hello\n"
}

const said = [
  undefined,
  "text/html",
  "image/svg+xml",
  "image/png",
  "text/plain",
  "text/csv",
  "application/json",
  "text/javascript",
  "text/css",
  "a/b"
]

const harmless =
  /^(?:image\/(?:apng|avif|bmp|gif|jpeg|png|webp|x-icon)|(?:audio|video)\/[\w.+-]+|text\/plain;charset=utf-8)$/u

describe("the type of a file", () => {
  it.effect("is that of its bytes, and what could run is saved and of no type that runs", () =>
    Effect.gen(function*() {
      const files = [
        ...Object.entries(active),
        ...Object.entries(heads).flatMap(([head, start]) =>
          Object.entries(active).map(([name, text]) => [`${head} ${name}`, start + text] as const)
        )
      ]
      assert.isAbove(files.length * said.length, 1500)
      for (const [name, text] of files) {
        for (const one of said) {
          const found = yield* typeOfHead(bytes(text), one)
          const { disposition, type } = sentAs(found)
          assert.notMatch(type, /html|xml|svg|script|css|pdf/u, name)
          if (disposition === "inline") assert.match(type, harmless, name)
          if (name in active) assert.isTrue(disposition === "attachment" || found === "text/plain", `${name}: ${found}`)
        }
      }
      for (const name of ["html", "doctype", "upperHtml", "lateHtml", "image", "link"] as const) {
        assert.strictEqual(yield* typeOfHead(bytes(active[name]), "text/plain"), "text/html")
      }
      assert.strictEqual(yield* typeOfHead(bytes(active.declaredSvg), "image/png"), "image/svg+xml")
    }))

  it.effect.prop(
    "is one that is saved for any text with markup in it",
    {
      before: Schema.String.check(Schema.isMaxLength(400)),
      markup: Schema.Literals([
        active.html,
        active.doctype,
        active.upperHtml,
        active.image,
        active.svg,
        active.declaredSvg
      ]),
      after: Schema.String.check(Schema.isMaxLength(400)),
      one: Schema.Literals(["text/html", "image/png", "text/plain", "text/csv"])
    },
    ({ after, before, markup, one }) =>
      Effect.map(typeOfHead(Buffer.from(before + markup + after), one), (type) => {
        const { disposition, type: sent } = sentAs(type)
        assert.isTrue(disposition === "attachment" || harmless.test(sent) && !sent.startsWith("text/"), type)
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect("of a text is what its sender says, if nothing runs it", () =>
    Effect.gen(function*() {
      const csv = bytes("a,b\r\n1,2\r\n")
      assert.strictEqual(yield* typeOfHead(csv, "text/csv"), "text/csv")
      assert.strictEqual(yield* typeOfHead(csv, "text/javascript"), "text/plain")
      assert.strictEqual(yield* typeOfHead(bytes("a\0b"), "text/csv"), "application/octet-stream")
      const long = Buffer.from(`${"a".repeat(headSize - 2)}€`)
      for (const cut of [0, 1]) {
        assert.strictEqual(yield* typeOfHead(long.subarray(cut, cut + headSize), undefined), "text/plain")
      }
      for (const latin1 of ["Cafés", "Café", "é", `${"a".repeat(headSize - 3)}éab`]) {
        assert.strictEqual(yield* typeOfHead(bytes(latin1), "text/csv"), "application/octet-stream", latin1.slice(-5))
      }
      assert.strictEqual(yield* typeOfHead(new Uint8Array(), undefined), "text/plain")
    }))

  it("is kept for what no browser runs", () => {
    const office = "application/vnd.openxmlformats-officedocument"
    for (
      const type of [
        `${office}.wordprocessingml.document`,
        `${office}.spreadsheetml.sheet`,
        "application/json",
        "a/zip"
      ]
    ) assert.deepStrictEqual(sentAs(type), { type, disposition: "attachment" })
    for (const type of ["application/xml", "a/open+xml", "application/importmap+json", "application/pdf"]) {
      assert.deepStrictEqual(sentAs(type), { type: "application/octet-stream", disposition: "attachment" })
    }
  })

  it("has to be of the kind that its sender says", () => {
    assert.isTrue(isAsSaid("image/jpeg", "image/png"))
    assert.isFalse(isAsSaid("text/html", "image/png"))
    assert.isFalse(isAsSaid("application/zip", "audio/mpeg"))
    assert.isFalse(isAsSaid("image/svg+xml", "image/png"))
    assert.isTrue(isAsSaid("application/zip", "application/octet-stream"))
  })

  it.effect("is no reason against files without a mark, where a field takes anything", () =>
    Effect.gen(function*() {
      const kept = (text: string, said: string) => checkedType(bytes(text), said, [])
      assert.strictEqual(yield* kept("  0\nSECTION\n", "image/vnd.dxf"), "text/plain")
      assert.strictEqual(yield* kept("#EXTM3U\n", "audio/mpegurl"), "text/plain")
      assert.strictEqual(yield* kept("export const a = 1\n", "video/mp2t"), "text/plain")
      assert.strictEqual(yield* kept("\u0012\0\u0002abc", "image/x-tga"), "application/octet-stream")
      for (const text of [active.html, active.svg, active.pdf, active.zip]) {
        assert.strictEqual((yield* Effect.flip(kept(text, "image/vnd.dxf")))._tag, "UnprocessableContent")
      }
      const picture = checkedType(bytes("hello"), "image/png", ["image/png", "text/plain"])
      assert.strictEqual((yield* Effect.flip(picture))._tag, "UnprocessableContent")
    }))
})
