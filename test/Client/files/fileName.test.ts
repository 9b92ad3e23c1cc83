import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as path from "node:path"
import { fileNameOf } from "../../../src/Client/files/fileName.ts"
import { safeFileName } from "../../../src/internal/safeFileName.ts"

const url = "http://upstream/reports/2026.csv"

/** A header and the name that follows from it. */
const headers: ReadonlyArray<readonly [header: string | undefined, name: string]> = [
  // RFC 6266
  [undefined, "2026.csv"],
  ["", "2026.csv"],
  ["attachment", "2026.csv"],
  ["attachment; filename=a.txt", "a.txt"],
  ["ATTACHMENT; FILENAME = \"a b.txt\"", "a b.txt"],
  ["inline;filename=\"a;b.txt\"", "a;b.txt"],
  ["attachment; filename=\"a\\\"b.txt\"", "a_b.txt"],
  ["attachment; filename=a b.txt; size=3", "a b.txt"],
  ["attachment; filename=\"a.txt\"; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"],
  ["attachment; filename*=utf-8'en'%c3%bc.txt; filename=u.txt", "ü.txt"],
  ["attachment; filename*=iso-8859-1'de'%fc.txt", "ü.txt"],
  ["attachment; filename=a.txt; filename*=UTF-8''%ff.txt", "a.txt"],
  ["attachment; filename=a.txt; filename*=koi8-r''%c1.txt", "a.txt"],
  ["attachment; filename*=%%%", "2026.csv"],
  // UTF-8 without a word about it, as Node decodes it
  [`attachment; filename="${Buffer.from("日本 ü.txt").toString("latin1")}"`, "日本 ü.txt"],
  ["attachment; filename=\"\u{FC}.txt\"", "ü.txt"],
  // other folders
  ["attachment; filename=\"../../etc/passwd\"", "passwd"],
  ["attachment; filename=\"/etc/passwd\"", "passwd"],
  ["attachment; filename=\"..\\\\..\\\\x.exe\"", "x.exe"],
  ["attachment; filename=\"..\\..\\x.exe\"", "x.exe"],
  ["attachment; filename*=UTF-8''..%5c..%5Cx.exe", "x.exe"],
  ["attachment; filename*=UTF-8''%2e%2e%2f%2E%2E%2Fx", "x"],
  ["attachment; filename=\"%2e%2e%2fx\"", "%2e%2e%2fx"],
  ["attachment; filename=\"C:x\"", "C_x"],
  ["attachment; filename=\"C:\\\\Windows\\\\win.ini\"", "win.ini"],
  ["attachment; filename=\"\\\\\\\\host\\\\share\\\\a\"", "a"],
  ["attachment; filename=\"x/\"", "x"],
  ["attachment; filename=\"..\"", "2026.csv"],
  ["attachment; filename=\".\"", "2026.csv"],
  ["attachment; filename=\"/\"", "2026.csv"],
  ["attachment; filename=\"a/..\"", "2026.csv"],
  ["attachment; filename*=UTF-8''..%ef%bc%8fx", "_x"],
  ["attachment; filename*=UTF-8''..%e2%88%95x", "_x"],
  // what Windows has no place for
  ["attachment; filename=CON", "_CON"],
  ["attachment; filename=con.txt", "_con.txt"],
  ["attachment; filename=\"Nul .tar.gz\"", "_Nul .tar.gz"],
  ["attachment; filename=COM1", "_COM1"],
  ["attachment; filename*=UTF-8''LPT%C2%B9.txt", "_LPT¹.txt"],
  ["attachment; filename=CONIN$", "_CONIN$"],
  ["attachment; filename=console.log", "console.log"],
  ["attachment; filename=\"x.txt::$DATA\"", "x.txt__$DATA"],
  ["attachment; filename=\"a<b>c|d?e*f.txt\"", "a_b_c_d_e_f.txt"],
  ["attachment; filename=\"x.txt. . \"", "x.txt"],
  // control characters, hidden files, directions of text
  ["attachment; filename*=UTF-8''x.txt%00.exe", "x.txt_.exe"],
  ["attachment; filename*=UTF-8''a%0d%0ab%1b%5b31m.txt", "a__b_[31m.txt"],
  ["attachment; filename=.bashrc", "bashrc"],
  ["attachment; filename=\"  ...  .profile\"", "profile"],
  ["attachment; filename*=UTF-8''invoice%e2%80%aefdp.exe", "invoicefdp.exe"],
  ["attachment; filename*=UTF-8''a%e2%80%8bb%ef%bb%bf.txt", "ab.txt"],
  ["attachment; filename*=UTF-8''%f0%9f%91%a9%e2%80%8d%f0%9f%92%bb.txt", "👩‍💻.txt"],
  ["attachment; filename*=UTF-8''u%cc%88.txt", "ü.txt"],
  // too long
  [`attachment; filename="${"a".repeat(300)}.txt"`, `${"a".repeat(250)}.txt`],
  [`attachment; filename*=UTF-8''${"%e2%82%ac".repeat(300)}.csv`, `${"€".repeat(83)}.csv`],
  [`attachment; filename="${"a".repeat(300)}"`, "a".repeat(254)],
  [`attachment; filename="con${" ".repeat(300)}x.txt"`, "_con.txt"]
]

/** A URL and the name that follows from it. */
const urls: ReadonlyArray<readonly [url: string, name: string]> = [
  ["http://upstream/files/a.txt", "a.txt"],
  ["http://upstream/files/a.txt/", "a.txt"],
  ["http://upstream/files//?name=x#y", "files"],
  ["http://upstream/a%20b.txt?version=2", "a b.txt"],
  ["http://upstream/files/%2e%2e%2fx", "x"],
  ["http://upstream/files/..%5C..%5Cx", "x"],
  ["http://upstream/files/CON", "_CON"],
  ["http://upstream/100%", "100%"],
  ["http://upstream/%00", "_"],
  ["http://upstream/", "download"],
  ["http://upstream", "download"],
  ["http://upstream/%2e%2e", "download"],
  ["nowhere", "download"]
]

/** Pieces of hostile names. */
const parts = [
  ..."/\\.:*?\"<>| a€\0\n\r\t%'",
  "..",
  "CON",
  "nul",
  "COM1",
  "C:",
  "\u{202E}",
  "\u{200B}",
  "\u{200D}",
  "\u{301}",
  "\u{FF0F}",
  "\u{FF0E}",
  "\u{2024}",
  "\u{37E}",
  "\u{A0}",
  "\u{2028}",
  "a".repeat(100),
  "日".repeat(50),
  " ".repeat(100),
  ".tar.gz",
  ".txt"
] as const

describe("the name of a downloaded file", () => {
  it.each(headers)("of the header %j is %j", (header, name) => {
    assert.strictEqual(fileNameOf(header, url), name)
  })

  it.each(urls)("of the URL %j is %j", (from, name) => {
    assert.strictEqual(fileNameOf(undefined, from), name)
    assert.strictEqual(fileNameOf("attachment; filename=\"..\"", from), name)
  })

  it.effect.prop(
    "is a plain file of its folder on every platform, whatever the header and the URL are",
    [Schema.String, Schema.String, Schema.Array(Schema.Literals(parts))],
    ([header, from, pieces]) =>
      Effect.sync(() => {
        const text = pieces.join("")
        for (
          const name of [
            fileNameOf(header, from),
            fileNameOf(`attachment; filename="${text}"`, from),
            fileNameOf(`attachment; filename*=UTF-8''${encodeURIComponent(text)}`, from),
            fileNameOf(undefined, `http://upstream/${encodeURIComponent(text)}`)
          ]
        ) {
          assert.strictEqual(path.posix.dirname(path.posix.resolve("/folder", name)), "/folder")
          assert.strictEqual(path.win32.dirname(path.win32.resolve("C:\\folder", name)), "C:\\folder")
          assert.strictEqual(path.win32.basename(path.win32.resolve("C:\\folder", name)), name)
          assert.isAtMost(Buffer.byteLength(name), 255)
          assert.notMatch(name, /[\p{Cc}<>:"|?*/\\]|^[.\s]|[.\s]$|^(con|prn|aux|nul|com\d|lpt\d)\s*(\.|$)/iu)
          // A name that is safe stays as it is.
          assert.strictEqual(safeFileName(name), name)
        }
      }),
    { arbitrary: { runs: 200 } }
  )
})
