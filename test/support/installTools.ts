/** Installs the tools of other authors that tests would install one by one when they need them. */
import { installGenerators } from "./clientGenerators.ts"
import { ofNpm, pythonSdk } from "./mcpClient.ts"
import { installMoto } from "./s3Server.ts"

await installGenerators()
for (const install of [ofNpm, pythonSdk, installMoto]) await install()
