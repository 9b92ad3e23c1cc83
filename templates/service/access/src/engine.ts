import { KernelEngine, Tokens } from "appkernel"
import { Projects } from "./Projects.ts"
import { Tasks } from "./Tasks.ts"
import { Users } from "./Users.ts"

export const engine = KernelEngine.make("my-service")
  .register(Users, { urlBase: "/api/v1" })
  .register(Projects, { urlBase: "/api/v1" })
  .register(Tasks, { urlBase: "/api/v1" })
  // POST /api/v1/token signs in.
  .register(Tokens.service, { urlBase: "/api/v1" })
  .enableSecurity()
  .enableOpenApi({ title: "my-service", version: "0.1.0" })
  // A page for documents, at /explorer: whoever signs in sees and changes what they may.
  .enableExplorer()
