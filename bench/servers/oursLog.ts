/**
 * Our service with its log of requests.
 */
process.env["BENCH_OPERATED"] = "log"
process.env["APPKERNEL_SERVER_PORT"] = "0"
await import("./operated.ts")
