// What Gemini CLI would send if it resumed sessions:  node gemini_loader.mjs PACKAGE < FILES
// PACKAGE: the folder of @google/gemini-cli; FILES: paths as JSON. Prints a list of contents each,
// by the CLI's own loader and history; null for a file that it does not open.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const bundle = join(process.argv[2], "bundle");
const named = (name) => /^core-.*\.js$/.test(name);
const core = await import(pathToFileURL(join(bundle, readdirSync(bundle).find(named))).href);

// As much of its settings as the history asks for.
const config = {
  getModel: () => "gemini-2.5-pro",
  getProjectRoot: () => "/",
  isContextManagementEnabled: () => false,
};

async function sent(file) {
  const record = await core.loadConversationRecord(file);
  if (record === null) return null;
  const history = core.convertSessionToClientHistory(record.messages);
  const chat = new core.GeminiChat({ config, promptId: "p", ...config }, "", [], history);
  return core.stripToolCallIdPrefixes(chat.getHistory(true));
}

const found = [];
for (const file of JSON.parse(readFileSync(0, "utf8"))) found.push(await sent(file));
process.stdout.write(JSON.stringify(found));
