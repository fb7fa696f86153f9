// pi's own loader and runner of extensions compact a session, as `/compact` does in pi's core:
//   node pi_compacts.mjs PACKAGE AGENT_FOLDER SESSION [INSTRUCTIONS]
// What pi's model would have said is "pi's own summary". Prints what the session then sends.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packageFolder, agentFolder, log, customInstructions] = process.argv.slice(2);
const core = (path) => import(pathToFileURL(join(packageFolder, "dist/core", path)).href);
const { discoverAndLoadExtensions } = await core("extensions/loader.js");
const { ExtensionRunner } = await core("extensions/runner.js");
const { SessionManager } = await core("session-manager.js");
const { prepareCompaction } = await core("compaction/compaction.js");

const cwd = process.cwd();
const manager = SessionManager.open(log);
const { extensions, errors, runtime } = await discoverAndLoadExtensions([], cwd, agentFolder);
const runner = new ExtensionRunner(extensions, runtime, cwd, manager, {});
const nothing = () => undefined;
const every = (given) => new Proxy(given, { get: (target, name) => target[name] ?? nothing });
runner.bindCore(
  every({
    sendMessage: (message) =>
      manager.appendCustomMessageEntry(message.customType, message.content, message.display),
  }),
  every({}),
);
runner.onError((error) => errors.push(error));

const branch = manager.getBranch();
const preparation = prepareCompaction(branch, {
  enabled: true,
  reserveTokens: 1000,
  keepRecentTokens: 300,
});
const shared = { reason: "manual", willRetry: false };
const answer = await runner.emit({
  type: "session_before_compact",
  preparation,
  branchEntries: branch,
  customInstructions,
  signal: new AbortController().signal,
  ...shared,
});
const made = answer?.compaction ?? {
  summary: "pi's own summary",
  firstKeptEntryId: preparation.firstKeptEntryId,
  tokensBefore: preparation.tokensBefore,
};
const fromExtension = answer?.compaction !== undefined;
manager.appendCompaction(
  made.summary,
  made.firstKeptEntryId,
  made.tokensBefore,
  made.details,
  fromExtension,
);
const compactionEntry = manager.getBranch().at(-1);
await runner.emit({ type: "session_compact", compactionEntry, fromExtension, ...shared });
const { messages } = manager.buildSessionContext();
process.stdout.write(
  JSON.stringify({ loaded: extensions.map((e) => e.path), errors, fromExtension, messages }),
);
