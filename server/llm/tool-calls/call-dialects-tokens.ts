// What calls begin and end with in the words of other chat templates, for those who read whole answers and those who
// watch them come.

interface Token {
  text: string;
  /** What must follow, so that nothing but a call can be meant. */
  then?: RegExp;
}

const TOKENS: readonly Token[] = [
  { text: "<|python_tag|>" },
  { text: "<|python_start|>" },
  { text: "<tool_call>", then: /^\s*(?:<function=|[\w.:/-]+\s*(?:<arg_key>|<\/tool_call>))/ },
  { text: "<function=", then: /^[\w.:/-]+>/ },
  { text: "<seed:tool_call>" },
  { text: "<｜tool▁call▁begin｜>" },
  { text: "<｜tool▁calls▁begin｜>" },
  { text: "<|tool_call_begin|>" },
  { text: "<|tool_calls_begin|>" },
  { text: "<|tool_call_section_begin|>" },
  { text: "<|tool_calls_section_begin|>" },
  { text: "<|tool_call|>" },
  { text: "<function_call>" },
  { text: "functools[" },
  { text: "<tool_calls>" },
  { text: "<minimax:tool_call>" },
  { text: "<function_calls>" },
  { text: "<invoke name=" },
  { text: "<|action_start|>" },
  { text: "<|channel|>commentary to=" },
  { text: "<|start|>assistant<|channel|>commentary to=" },
];

/** What a line begins with that may be a call; only where `callTokenAt` finds it, it is one. */
export const CALL_OPENINGS: readonly string[] = TOKENS.map(({ text }) => text);

/** More than what must follow a token takes. */
const MAX_FOLLOWING = 600;

/** Whether a line of the text begins with what only calls begin with. */
export function beginsCall(text: string, line: number): boolean {
  let at = line;
  while (text[at] === " " || text[at] === "\t") at++;
  return TOKENS.some(({ text: token, then }) => {
    const end = at + token.length;
    return text.startsWith(token, at) && (!then || then.test(text.slice(end, end + MAX_FOLLOWING)));
  });
}

/** The offset of the first line that starts with a call token; -1 if there is none. */
export function callTokenAt(text: string): number {
  for (let line = 0; ; ) {
    if (beginsCall(text, line)) return line;
    const newline = text.indexOf("\n", line);
    if (newline < 0) return -1;
    line = newline + 1;
  }
}

/** What closes around calls, also where the end of the answer cuts it. */
export const CLOSING =
  /<\/[\w:]*(?:>|$)|<｜tool▁calls?▁end｜>|<\|tool_calls?_(?:section_)?end\|>|<\|\/tool_call\|>|<\|(?:python|action)_end\|>|<\|call\|>|<\|e\w+_id\|>/g;
