// Lets pins survive pi's compaction: the summary is Ullage's, written by rule from the session.
// Whatever fails, pi compacts by itself. `ullage uninstall pi` takes this file away.
import { spawn } from "node:child_process";

const PROGRAM = ["ullage", "hook", "pi"];
const OPTIONS = ["--db"];
const MILLISECONDS = 30_000;
const LARGEST = 4 << 20;

// The answer of `ullage hook pi EVENT`, or undefined.
function ask(event, input, signal) {
  return new Promise((resolve) => {
    let child;
    try {
      child = spawn(PROGRAM[0], [...PROGRAM.slice(1), event, ...OPTIONS], {
        stdio: ["pipe", "pipe", "ignore"],
      });
    } catch {
      resolve(undefined);
      return;
    }
    let text = "";
    const finish = (answer) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      resolve(answer);
    };
    const stop = () => {
      child.kill("SIGKILL");
      finish(undefined);
    };
    const timer = setTimeout(stop, MILLISECONDS);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    child.on("error", () => finish(undefined));
    child.stdin.on("error", () => {});
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (piece) => {
      text += piece;
      if (text.length > LARGEST) stop();
    });
    child.on("close", () => {
      try {
        const answer = JSON.parse(text);
        finish(typeof answer === "object" && answer !== null ? answer : undefined);
      } catch {
        finish(undefined);
      }
    });
    child.stdin.end(JSON.stringify(input));
  });
}

function about(ctx) {
  const file = ctx.sessionManager.getSessionFile();
  return file && { transcript_path: file, session_id: ctx.sessionManager.getSessionId() };
}

export default function (pi) {
  pi.on("session_before_compact", async (event, ctx) => {
    const session = about(ctx);
    // Without a file there is no log to read; instructions are for a model to follow.
    if (!session || event.customInstructions?.trim()) return;
    const { firstKeptEntryId, tokensBefore, messagesToSummarize, turnPrefixMessages } =
      event.preparation;
    // About what it replaces: a summary that is no smaller helps nobody.
    const replaced = JSON.stringify([messagesToSummarize, turnPrefixMessages]).length / 4;
    const input = { ...session, tokens: Math.floor(replaced / 2) };
    const answer = await ask("before-compact", input, event.signal);
    if (typeof answer?.summary !== "string" || !answer.summary.trim()) return;
    const details = { writtenBy: "ullage" };
    return { compaction: { summary: answer.summary, firstKeptEntryId, tokensBefore, details } };
  });

  pi.on("session_compact", async (event, ctx) => {
    const session = about(ctx);
    if (!session || event.fromExtension) return;
    const answer = await ask("after-compact", session);
    if (typeof answer?.context !== "string" || !answer.context.trim()) return;
    pi.sendMessage({ customType: "ullage", content: answer.context, display: true });
  });
}
