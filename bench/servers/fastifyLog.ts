/**
 * The service on Fastify 5 with its log of requests.
 */
process.env["BENCH_LOG"] = "true"
await import("./fastify.ts")
