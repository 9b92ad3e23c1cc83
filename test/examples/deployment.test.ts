/** The files that the page about deployment shows. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Schedule } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import { type AddressInfo, connect } from "node:net"
import { parseAllDocuments } from "yaml"
import { Keys } from "../../src/index.ts"
import { rows, variableOf } from "../../src/internal/configurationKeys.ts"
import { freshDirectory } from "../support/folders.ts"
import { freePort, patient, printed, runProgram } from "../support/processes.ts"
import { request, signIn } from "../support/shop.ts"

const page = readFileSync("docs/guides/deployment.md", "utf8")

const fence = (language: string, beginning: string): string => {
  const found = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gmsu)].find(([, own, text = ""]) =>
    own === language && text.startsWith(beginning)
  )
  return found?.[2] ?? assert.fail(`There is no ${language} that begins with ${beginning}`)
}

const variables = new Set(
  [
    ...rows.map(([key]) => variableOf(key)),
    "APPKERNEL_PRIVATE_KEY_PATH",
    "APPKERNEL_PUBLIC_KEY_PATH"
  ]
    .flatMap((name) => [name, `${name}_FILE`])
)

const secondsOf = (text: string): number => Duration.toSeconds(Duration.fromInputUnsafe(text as Duration.Input))

describe("Kubernetes", () => {
  it("has probes, time to stop, limits, and variables that there are", () => {
    const [deployment, service] = parseAllDocuments(fence("yaml", "apiVersion")).map((document) => {
      assert.deepStrictEqual(document.errors, [])
      return document.toJS()
    })
    assert.deepStrictEqual([deployment.kind, deployment.apiVersion], ["Deployment", "apps/v1"])
    const { spec, metadata } = deployment.spec.template
    assert.deepStrictEqual(deployment.spec.selector.matchLabels, metadata.labels)
    assert.deepStrictEqual(service.spec.selector, metadata.labels)
    const [container] = spec.containers
    const [{ containerPort }] = container.ports
    assert.strictEqual(service.spec.ports[0].targetPort, containerPort)
    const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe]
    assert.deepStrictEqual(probes.map(({ httpGet }) => [httpGet.path, httpGet.port]), [
      ["/health/ready", containerPort],
      ["/health/ready", containerPort],
      ["/health/live", containerPort]
    ])
    const env = new Map<string, string>(
      container.env.map(({ name, value }: { readonly name: string; readonly value: string }) => [name, value])
    )
    assert.deepStrictEqual([...env.keys()].filter((name) => !variables.has(name)), [])
    const delay = secondsOf(env.get("APPKERNEL_SERVER_SHUTDOWN_DELAY") ?? "")
    assert.isAbove(spec.terminationGracePeriodSeconds, delay + 20)
    const mounts = container.volumeMounts.map(({ mountPath }: { readonly mountPath: string }) => mountPath)
    for (const [name, value] of env) {
      if (/_(?:FILE|PATH)$/u.test(name)) {
        assert.isTrue(mounts.some((mount: string) => value.startsWith(`${mount}/`)), name)
      }
    }
    assert.deepStrictEqual(
      container.volumeMounts.map(({ name }: { readonly name: string }) => name),
      spec.volumes.map(({ name }: { readonly name: string }) => name)
    )
    assert.isDefined(container.resources.limits.memory)
    assert.isTrue(spec.securityContext.runAsNonRoot && container.securityContext.readOnlyRootFilesystem)
  })
})

describe("systemd", () => {
  const unit = fence("ini", "# /etc/systemd")

  it("names variables that there are, and credentials that it loads", () => {
    const named = [...unit.matchAll(/^Environment=(APPKERNEL_\w+)=(.*)$/gmu)]
    assert.deepStrictEqual(named.flatMap(([, name = ""]) => variables.has(name) ? [] : [name]), [])
    const loaded = [...unit.matchAll(/^LoadCredential=([^:]+):/gmu)].map(([, name]) => `%d/${name}`)
    assert.sameMembers(named.flatMap(([, , value = ""]) => value.startsWith("%d/") ? [value] : []), loaded)
  })

  it.live("is a unit that systemd takes", (context) =>
    Effect.gen(function*() {
      if (!existsSync("/usr/bin/systemd-analyze")) context.skip()
      const file = `${yield* freshDirectory}/notes.service`
      writeFileSync(file, unit.replace("/usr/bin/node", process.execPath))
      // It prints what is wrong, and nothing else.
      const output = execFileSync("sh", ["-c", `systemd-analyze verify --man=no ${file} 2>&1`], { encoding: "utf8" })
      assert.notMatch(output, /notes\.service/u)
    }))
})

const nginx = ["/usr/sbin/nginx", "/usr/bin/nginx"].find((file) => existsSync(file))

/** nginx in front of a port, as the page has it, without its certificate. */
const inFront = Effect.fnUntraced(function*(upstream: number) {
  const port = yield* freePort
  const folder = yield* freshDirectory
  mkdirSync(`${folder}/temp`)
  const site = fence("nginx", "upstream").replace("127.0.0.1:5000", `127.0.0.1:${upstream}`)
    .replace("listen 443 ssl", `listen 127.0.0.1:${port}`).replaceAll(/^ *ssl_.*$/gmu, "")
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) =>
    `${name}_temp_path ${folder}/temp/${name};`
  ).join("\n")
  writeFileSync(
    `${folder}/nginx.conf`,
    `${
      process.getuid?.() === 0 ? "user root;" : ""
    } daemon off; pid ${folder}/pid; error_log stderr notice; worker_processes 1; events {}
     http { access_log off; ${temporary}\n${site} }`
  )
  const program = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(nginx ?? "", ["-p", folder, "-c", `${folder}/nginx.conf`], { stdio: "ignore" })),
    (started) =>
      Effect.callback<void>((resume) => {
        if (started.exitCode !== null) return resume(Effect.void)
        started.once("exit", () => resume(Effect.void))
        started.kill("SIGQUIT")
      })
  )
  assert.isUndefined(program.exitCode ?? undefined)
  const base = `http://127.0.0.1:${port}`
  yield* Effect.orDie(
    Effect.retry(
      Effect.tryPromise(() => fetch(`${base}/`).then((response) => response.text())),
      { schedule: Schedule.spaced("20 millis"), times: 200 }
    )
  )
  return { base, port }
})

if (nginx === undefined && process.env["CI"] === undefined) {
  console.warn("Skipped, as there is no nginx: what docs/guides/deployment.md shows of it. Install nginx-light.")
}

/** Sends a path as it is: `fetch` would normalise it. */
const getRaw = (port: number, path: string) =>
  Effect.callback<string>((resume) => {
    let text = ""
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    })
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part
    }).on("error", () => {}).on("close", () => resume(Effect.succeed(text)))
  })

/** All ways to write a path that differ by slashes, dots, encoded letters, case, and what may follow. */
const formsOf = (path: string): ReadonlyArray<string> => {
  const encoded = path.replace("m", "%6d")
  const wholly = path.replaceAll(/\w/gu, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  const names = [path, encoded, wholly, encoded.replace("6d", "6D"), path.toUpperCase(), path.replace("m", "%256d")]
  const before = ["", "/", "/.", "/x/..", "/x/%2e%2e", "/%2e", "/x//..", "http://a"]
  const after = [
    "",
    "/",
    "//",
    "/.",
    "/x/..",
    "?",
    "?a=b",
    "/?a=b",
    ";",
    ";a=b",
    "#a",
    "%2f",
    "%20",
    "%00",
    "%3f",
    "%3ba"
  ]
  return names.flatMap((name) => before.flatMap((start) => after.map((end) => `${start}${name}${end}`)))
}

// For CI, it has to run.
describe.skipIf(nginx === undefined && process.env["CI"] === undefined)("nginx", () => {
  it.live("shows nobody the metrics, in whichever form their path is written", () =>
    Effect.gen(function*() {
      const upstream = yield* freePort
      const program = yield* runProgram("test/support/workersProgram.ts", {
        APPKERNEL_SERVER_PORT: String(upstream),
        APPKERNEL_METRICS_ENABLED: "true",
        WORKERS_STORE: "own"
      })
      yield* printed(program, "Listening on")
      const { port } = yield* inFront(upstream)
      const forms = formsOf("/metrics")
      const shown = (to: number) =>
        Effect.map(
          Effect.forEach(forms, (form) => getRaw(to, form), { concurrency: 8 }),
          (answers) => forms.filter((_, index) => answers[index]?.includes("# TYPE"))
        )
      assert.includeMembers([...yield* shown(upstream)], ["/metrics", "/metrics/", "//metrics", "/%6detrics"])
      assert.deepStrictEqual(yield* shown(port), [])
      assert.match(yield* getRaw(port, "/works/whoami"), /^HTTP\/1\.1 200 /u)
    }))

  it.live(
    "passes on the shop: addresses, identifiers, bodies, sign-ins, and connections that stay open",
    () =>
      Effect.gen(function*() {
        const upstream = yield* freePort
        const keys = yield* freshDirectory
        yield* Effect.provide(Keys.makePair(`${keys}/keys`, "ES256"), NodeServices.layer)
        const shop = yield* runProgram("examples/shop/main.ts", {
          ...patient,
          NODE_ENV: "production",
          APPKERNEL_PRIVATE_KEY_PATH: `${keys}/keys/private.pem`,
          APPKERNEL_SERVER_PORT: String(upstream),
          APPKERNEL_SERVER_TRUSTED_PROXIES: "127.0.0.1",
          APPKERNEL_EMBEDDED_PATH: yield* freshDirectory
        })
        yield* printed(shop, "Try next:")
        const { base } = yield* inFront(upstream)
        const ada = { name: "Ada", email: "ada@example.com", password: "analytical engine" }
        const made = yield* request(base, "POST /api/v1/users", ada)
        assert.strictEqual(made.status, 201, made.text)
        const credentials = yield* signIn(base, ada.email, ada.password)
        assert.isDefined(credentials)
        const seen = yield* request(base, "GET /api/v1/products", undefined, { "x-forwarded-for": "198.51.100.7" })
        assert.strictEqual(seen.status, 200)
        // The client is on this machine, which is trusted, so that it counts as one more proxy.
        yield* printed(shop, `"route":"/api/v1/products"`)
        const line = JSON.parse(
          shop.output().split("\n").find((one) => one.includes(`"route":"/api/v1/products"`)) ?? ""
        )
        assert.strictEqual(line.address, "198.51.100.7")
        assert.match(line.request_id, /^[\da-f]{32}$/u)
        const large = yield* request(base, "POST /api/v1/users", { ...ada, name: "x".repeat(2_000_000) })
        assert.strictEqual(large.status, 413)
        assert.strictEqual(large.headers["content-type"], "application/json")
        const huge = yield* request(base, "POST /api/v1/users", { ...ada, name: "x".repeat(11_000_000) })
        assert.strictEqual(huge.status, 413)
        assert.match(String(huge.headers["content-type"]), /^text\/html/u)
        assert.strictEqual((yield* request(base, "GET /metrics")).status, 403)
      })
  )

  it.live(
    "passes on events one by one, WebSockets, and keeps connections to the service",
    () =>
      Effect.gen(function*() {
        const ports = new Set<number | undefined>()
        let finish = (): void => {}
        const server = http.createServer((incoming, response) => {
          ports.add(incoming.socket.remotePort)
          if (incoming.url !== "/events") {
            response.end("plain")
            return
          }
          response.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no" })
          response.write("data: 1\n\n")
          finish = () => response.end("data: 2\n\n")
        })
        server.on("upgrade", (incoming, socket) => {
          socket.end(
            `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${incoming.headers.upgrade}\r\n\r\nhello`
          )
        })
        yield* Effect.acquireRelease(
          Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
          () =>
            Effect.sync(() => {
              server.closeAllConnections()
              server.close()
            })
        )
        // A server on a port has an address.
        const { base, port } = yield* inFront((server.address() as AddressInfo).port)
        ports.clear()
        for (let i = 0; i < 5; i++) {
          assert.strictEqual((yield* request(base, "GET /", undefined, { connection: "close" })).text, "plain")
        }
        assert.strictEqual(ports.size, 1)
        yield* Effect.promise(async () => {
          const reader = (await fetch(`${base}/events`)).body?.getReader()
          // The first arrives while the answer has not ended.
          const first = await reader?.read()
          assert.strictEqual(new TextDecoder().decode(first?.value), "data: 1\n\n")
          finish()
          const second = await reader?.read()
          assert.strictEqual(new TextDecoder().decode(second?.value), "data: 2\n\n")
        })
        const answer = yield* Effect.callback<string>((resume) => {
          let text = ""
          const socket = connect(
            port,
            "127.0.0.1",
            () => socket.write("GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
          )
          socket.setEncoding("utf8").on("data", (part: string) => {
            text += part
            if (text.endsWith("hello")) resume(Effect.succeed(text))
          })
        })
        assert.match(answer, /^HTTP\/1\.1 101 /u)
        assert.match(answer, /Upgrade: websocket/u)
      })
  )
})
