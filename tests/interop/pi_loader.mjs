// The messages that pi would send if it resumed a session:  node pi_loader.mjs PACKAGE SESSION
// Opens the file as `pi --session` does. PACKAGE: the folder of @earendil-works/pi-coding-agent.
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [packageFolder, session] = process.argv.slice(2);
const module = (path) => import(pathToFileURL(path).href);

// A package beside or inside this one, as npm lays them out.
function beside(name, path) {
  for (let folder = resolve(packageFolder); ; folder = dirname(folder)) {
    const found = join(folder, "node_modules", name, path);
    if (existsSync(found)) return found;
    if (folder === dirname(folder)) throw new Error(`${name} is not installed`);
  }
}

const { SessionManager } = await module(join(packageFolder, "dist/core/session-manager.js"));
const { convertToLlm } = await module(join(packageFolder, "dist/core/messages.js"));
const { transformMessages } = await module(
  beside("@earendil-works/pi-ai", "dist/api/transform-messages.js"),
);

const manager = SessionManager.open(session);
const { messages } = manager.buildSessionContext();
const answer = messages.findLast((message) => message.role === "assistant");
const model = {
  id: answer?.model,
  provider: answer?.provider,
  api: answer?.api,
  input: ["text", "image"],
};
process.stdout.write(JSON.stringify(transformMessages(convertToLlm(messages), model)));
