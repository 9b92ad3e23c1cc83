/** The operations of the files of documents: what they have in common with a `GET` and a `PATCH` of the document. */
import { type FileField, fileFieldsOf, modelTypeId } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Resource } from "./componentSchemas.ts"
import { withoutNeededKey } from "./idempotencyKeys.ts"
import * as Json from "./node.ts"

type Node = Json.Node

/**
 * The paths of the files of documents, for the operations that the document has, and those of the documents, which take their files in
 * forms. `resolve` has the schema that a reference is to.
 */
export const fileOperations = (
  paths: Node,
  resources: ReadonlyArray<Resource>,
  resolve: (schema: Node) => Node
): Node => ({
  ...Object.fromEntries(resources.flatMap(({ model, path }) => {
    const fields = fileFieldsOf(model)
    return fields.length === 0 ? [] : [path, `${path}/{id}` as const].flatMap((at) => {
      const item = paths[at]
      return item === undefined ? [] : [[at, withForms(Json.nodeOf(item), model, fields, resolve)] as const]
    })
  })),
  ...Object.fromEntries(
    resources.flatMap(({ files, model, path }) => {
      const item = Json.nodeOf(paths[`${path}/{id}`])
      return fileFieldsOf(model).flatMap((field) => {
        const own = operationsOf(field, item)
        const at = `${path}/{id}/${field.name}`
        const uploads = (place: string, isItem: boolean) => {
          const { begin, upload } = uploadsOf(field.name, isItem, item)
          return files?.resumable === true
            ? [[`${place}/uploads`, begin], [`${place}/uploads/{upload}`, upload]] as const
            : []
        }
        return field.isList
          ? [
            [at, own.list],
            [`${at}/{key}`, own.one],
            [`${at}/{key}/address`, own.address],
            ...uploads(at, false),
            ...uploads(`${at}/{key}`, true)
          ] as const
          : [[at, own.one], [`${at}/address`, own.address], ...uploads(at, false)] as const
      })
    }).filter(([, item]) => Object.keys(item).length > 0)
  )
})

// internal

/** The operations of documents with what their forms have of files: all that a new one needs, and those that a patch changes. */
const withForms = (
  item: Node,
  model: Model.Any,
  fields: ReadonlyArray<FileField>,
  resolve: (schema: Node) => Node
): Node => {
  const properties = Object.fromEntries(fields.map(({ isList, name, types }) => {
    const file = { type: "string", format: "binary", ...types.length === 1 ? { contentMediaType: types[0]! } : {} }
    return [name, isList ? { type: "array", items: file } : file]
  }))
  const encoding = Object.fromEntries(
    fields.filter(({ types }) => types.length > 0).map(({ name, types }) => [name, { contentType: types.join(", ") }])
  )
  const needed = fields.flatMap(({ name }) => {
    const { default: byDefault, optional } = model[modelTypeId][name] ?? {}
    return optional === true || byDefault !== undefined ? [] : [name]
  })
  const withForm = (operation: unknown, like: string, required: ReadonlyArray<string>): Node => {
    const { requestBody, responses, ...others } = Json.nodeOf(operation)
    const { content, ...body } = Json.nodeOf(requestBody)
    const bodies = Json.nodeOf(content)
    if (bodies[like] === undefined) return Json.nodeOf(operation)
    const one = resolve(Json.nodeOf(Json.nodeOf(bodies[like])["schema"]))
    const schema = {
      ...one,
      properties: { ...Json.nodeOf(one["properties"]), ...properties },
      ...required.length === 0 ? {} : { required: [...Json.listOf(one["required"]), ...required] }
    }
    return {
      ...withoutNeededKey(others),
      requestBody: {
        ...body,
        content: {
          ...bodies,
          "multipart/form-data": { schema, ...Object.keys(encoding).length === 0 ? {} : { encoding } }
        }
      },
      responses: withUnprocessable(Json.nodeOf(responses))
    }
  }
  return Json.mapValues(item, (operation, method) =>
    method === "post"
      ? withForm(operation, "multipart/form-data", needed)
      : method === "patch"
      ? withForm(operation, "application/merge-patch+json", [])
      : operation)
}

const operationsOf = (field: FileField, { get, patch }: Node): Record<"one" | "list" | "address", Node> => {
  const { image, isList, maxSize, name, types } = field
  const content = binary(types.length === 0 ? ["application/octet-stream"] : types)
  const sizes = Object.keys(image)
  const sizeTypes = Object.values(image).map(({ format = "webp" }) => `image/${format}`)
  const size = maxSize === undefined ? "" : `, up to ${maxSize} bytes`
  const key = isList ? [inPath("key")] : []
  /** An operation like one of the document, with other parameters behind those of the path, and other answers of success. */
  const like = (base: unknown, verb: string, success: Node, more: Node, parameters: ReadonlyArray<Node> = []): Node => {
    const { operationId, parameters: _, requestBody: __, responses, ...others } = Json.nodeOf(base)
    return {
      ...others,
      operationId: `${String(operationId)}_${name}_${verb}`,
      parameters: [...Json.pathParametersOf(base), ...verb === "append" ? [] : key, ...parameters],
      responses: { ...success, ...withoutSuccess(Json.nodeOf(responses)) },
      ...more
    }
  }
  const ranges = {
    "200": { description: "The file", headers: headersOfFile, content: { ...binary(sizeTypes), ...content } },
    "206": {
      description: "A range of the file, or several as multipart/byteranges",
      headers: headersOfFile,
      content: { ...content, ...binary(["multipart/byteranges"]) }
    },
    "304": { description: "The file is the one that the client has" },
    "416": { description: "The file has no such range" }
  }
  const written = Json.nodeOf(Json.nodeOf(patch)["responses"])["200"]
  const write = (verb: string, summary: string, status: string): Node => {
    const operation = like(patch, verb, { [status]: written }, {
      summary,
      description: `The bytes decide which type a file has${size}.`,
      requestBody: {
        required: true,
        content: {
          ...content,
          "multipart/form-data": {
            schema: { type: "object", properties: { file: { type: "string", format: "binary" } }, required: ["file"] }
          }
        }
      }
    })
    return { ...operation, responses: withUnprocessable(Json.nodeOf(operation["responses"])) }
  }
  const one = {
    ...get === undefined ? {} : {
      get: like(
        get,
        "get",
        ranges,
        { summary: `Get the file ${name}`, description: "What a browser could run is sent as an attachment." },
        sizes.length === 0 ? [] : [
          inQuery("size", "The size of the picture; without it, the file as it is", { type: "string", enum: sizes })
        ]
      )
    },
    ...patch === undefined ? {} : {
      put: write("put", `Write the file ${name}`, "200"),
      delete: like(patch, "delete", { "200": written }, { summary: `Remove the file ${name}` })
    }
  }
  const address = {
    type: "object",
    properties: { href: { type: "string" }, expires: { type: "string", format: "date-time" } },
    required: ["href", "expires"]
  }
  const isGuarded = Json.nodeOf(Json.nodeOf(get)["responses"])["401"] !== undefined
  return {
    one,
    list: patch === undefined ? {} : { post: write("append", `Append a file to ${name}`, "201") },
    address: get === undefined ? {} : {
      post: like(
        get,
        "address",
        {
          "200": {
            description: "The address, and when it expires",
            content: { "application/json": { schema: address } }
          }
        },
        { summary: `Sign an address of the file ${name}, for a while` },
        [
          inQuery("expires_in", "Seconds", { type: "integer", minimum: 1, maximum: 86_400, default: 300 }),
          ...isGuarded
            ? [inQuery("bound", "`true` for an address that answers only with the credentials of who asked for it", {
              type: "string",
              enum: ["true", "false"],
              default: "false"
            })]
            : []
        ]
      )
    }
  }
}

/** Resumable uploads: how one is begun, and how it goes on. */
const uploadsOf = (name: string, isItem: boolean, { patch }: Node): Record<"begin" | "upload", Node> => {
  if (patch === undefined) return { begin: {}, upload: {} }
  const { operationId, parameters: _, requestBody: __, responses, ...others } = Json.nodeOf(patch)
  const header = (name: string, description: string, schema: Node, required = true) => ({
    name,
    in: "header",
    required,
    description,
    schema
  })
  const number = { type: "integer", minimum: 0 }
  const offset = { "Upload-Offset": { description: "The bytes that have come", schema: number } }
  const operation = (verb: string, summary: string, status: string, headers: Node, more: Node): Node => ({
    ...others,
    operationId: `${String(operationId)}_${name}${isItem ? "_item" : ""}_upload_${verb}`,
    summary,
    description: "By tus 1.0.0: https://tus.io/protocols/resumable-upload",
    ...more,
    parameters: [
      ...Json.pathParametersOf(patch),
      ...isItem ? [inPath("key")] : [],
      header("Tus-Resumable", "The version of the protocol", { type: "string", enum: ["1.0.0"] }),
      ...Json.listOf(more["parameters"])
    ],
    responses: {
      [status]: { description: summary, headers },
      ...withUnprocessable(withoutSuccess(Json.nodeOf(responses)))
    }
  })
  return {
    begin: {
      post: operation("begin", `Begin a resumable upload of the file ${name}`, "201", {
        Location: { description: "Where it goes on", schema: { type: "string" } },
        ...offset
      }, {
        parameters: [
          header("Upload-Length", "The bytes of the file", number),
          header("Upload-Metadata", "filename and filetype, each with its text in Base64", { type: "string" }, false)
        ]
      })
    },
    upload: {
      head: operation("state", `Get how far an upload of ${name} is`, "200", offset, {
        parameters: [inPath("upload")]
      }),
      patch: operation("go_on", `Send bytes of an upload of ${name}`, "204", offset, {
        parameters: [inPath("upload"), header("Upload-Offset", "The bytes that have come", number)],
        requestBody: { required: true, content: binary(["application/offset+octet-stream"]) }
      }),
      delete: operation("end", `End an upload of ${name}`, "204", {}, { parameters: [inPath("upload")] })
    }
  }
}

const inQuery = (name: string, description: string, schema: Node): Node => ({ name, in: "query", description, schema })

const inPath = (name: string): Node => ({ name, in: "path", required: true, schema: { type: "string" } })

const binary = (types: ReadonlyArray<string>): Node =>
  Object.fromEntries(types.map((type) => [type, { schema: { type: "string", contentMediaType: type } }]))

const withoutSuccess = (responses: Node): Node => Json.omitBy(responses, (status) => /^[23]/u.test(status))

/** Adds what is answered to bytes that are not what their sender says. */
const withUnprocessable = (responses: Node): Node => {
  const { headers: _headers, ...unsupported } = Json.nodeOf(responses["415"])
  const description = "The bytes of a file are not what their sender says, or no picture that can be read"
  return Object.fromEntries(
    Object.entries({ ...responses, "422": { ...unsupported, description } }).toSorted(([a], [b]) => a < b ? -1 : 1)
  )
}

const headersOfFile: Node = {
  ETag: { description: "The checksum of the bytes", schema: { type: "string" } },
  "Content-Disposition": { description: "The name of the file", schema: { type: "string" } }
}
