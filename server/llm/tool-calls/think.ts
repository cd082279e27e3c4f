import { must } from "@/server/domain/base/must";

/** Tells thinking from answering in streamed text. */
export interface ThinkSplitter {
  /** The certain part after this piece; the rest is held back until the next. */
  push(text: string): { content: string; reasoning: string };
  /** What was held back. */
  end(): { content: string; reasoning: string };
}

const OPEN = /^\s*<(think|thinking)>/i;
const OPENINGS = ["<think>", "<thinking>"];

/** Splits `<think>...</think>` at the start of an answer from the answer. Later mentions are part of the answer. */
export function newThinkSplitter(): ThinkSplitter {
  let state: "start" | "thinking" | "after" | "answer" = "start";
  let held = "";
  let closing = "";

  const step = (isEnd: boolean): { content: string; reasoning: string } => {
    let reasoning = "";
    if (state === "start") {
      const open = OPEN.exec(held);
      if (open) {
        state = "thinking";
        closing = `</${must(open, 1).toLowerCase()}>`;
        held = held.slice(open[0].length);
      } else if (!isEnd && isOpening(held)) return { content: "", reasoning: "" };
      else state = "answer";
    }
    if (state === "thinking") {
      const at = held.toLowerCase().indexOf(closing);
      const keep = at >= 0 || isEnd ? 0 : partialTail(held.toLowerCase(), closing);
      const end = at >= 0 ? at : held.length - keep;
      reasoning = held.slice(0, end);
      held = held.slice(at >= 0 ? end + closing.length : end);
      if (at < 0) return { content: "", reasoning };
      state = "after";
    }
    if (state === "after") {
      held = held.trimStart();
      if (held === "") return { content: "", reasoning };
      state = "answer";
    }
    const content = held;
    held = "";
    return { content, reasoning };
  };

  return {
    push(text) {
      // Blanks before an answer may be many: they are not looked at again with each piece.
      const isBlank = state === "start" && text.trim() === "";
      held += text;
      if (isBlank) return { content: "", reasoning: "" };
      return step(false);
    },
    end: () => step(true),
  };
}

/** Whether the text may become an opening tag. */
function isOpening(text: string): boolean {
  const begun = text.trimStart().toLowerCase();
  return OPENINGS.some((tag) => tag.startsWith(begun));
}

/** How many characters at the end may be the beginning of the tag. */
function partialTail(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--)
    if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}

/** Some servers send the closing tag only, as the opening one was part of the prompt. */
export function splitUnopened(content: string): { content: string; reasoning: string } | null {
  const match = /^([\s\S]*?)<\/(?:think|thinking)>\s*/i.exec(content);
  const before = match?.[1];
  if (!match || before === undefined || /<(?:think|thinking)>/i.test(before)) return null;
  return { reasoning: before.trim(), content: content.slice(match[0].length) };
}
