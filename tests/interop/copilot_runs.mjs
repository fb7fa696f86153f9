// Lets Copilot CLI, through its SDK, ask a provider: node copilot_runs.mjs PACKAGES URL WORK PROMPT…
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, url, work, ...prompts] = process.argv.slice(2);
const entry = createRequire(`${packages}/`).resolve("@github/copilot-sdk");
const { CopilotClient, approveAll } = await import(pathToFileURL(entry));
const client = new CopilotClient({ workingDirectory: work, useLoggedInUser: false });
await client.start();
const session = await client.createSession({
  model: "m",
  provider: { type: "openai", baseUrl: url, wireApi: "completions", apiKey: "none" },
  onPermissionRequest: approveAll,
  workingDirectory: work,
});
for (const prompt of prompts) {
  if (prompt === "/compact") await session.rpc.history.compact({});
  else await session.sendAndWait({ prompt }, 60000);
}
await session.disconnect();
await client.stop();
