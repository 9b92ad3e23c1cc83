/** Parses `cfg.yml` with errors that name the line and never quote the text. */
import * as Result from "effect/Result"
import { LineCounter, parseDocument } from "yaml"

/** Parses a file's text as YAML (1.2, core schema). Errors never quote the text, which may contain secrets. */
export const parseYaml = (text: string): Result.Result<unknown, string> => {
  const lines = new LineCounter()
  const document = parseDocument(text, { prettyErrors: false, lineCounter: lines, stringKeys: true })
  const [error] = document.errors
  if (error === undefined) {
    // `toJS` throws at an alias without an anchor, and at aliases that expand without bound.
    return Result.try({
      try: (): unknown => document.toJS(),
      catch: () => "an alias has no anchor before it, or there are too many aliases"
    })
  }
  const { col, line } = lines.linePos(error.pos[0])
  return Result.fail(`line ${line}, column ${col}: ${error.message}`)
}
