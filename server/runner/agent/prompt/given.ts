import { z } from "zod";
import type { WriteValues } from "@/server/domain/agent/prompt";
import type { Json } from "@/server/domain/base/values";
import { estimateTokens } from "@/server/domain/run/condense/condense";
import { type Fences, promptText } from "@/server/domain/text/fence";
import type { Reads } from "@/server/llm/model";
import { isInsidePair } from "@/server/tools/truncate";
import type { RunTool } from "../task";
import { defineRunTool, done, rejected } from "../tools/run-tool";

/** The tool that reads on in a value that was cut. */
export const READ_VALUE = "read_value";

/** The share of what a model reads that all values of a prompt may take together: the rest is for its work. */
const VALUES_SHARE = 0.5;
/** Characters per token, if there is no text to estimate it from. */
const USUAL_PER_TOKEN = 3;
/** No value is shown in fewer characters than this, however many there are. */
const LEAST_SHOWN = 500;

/** A value that a prompt shows truncated; characters. */
export interface CutValue {
  name: string;
  shown: number;
  total: number;
}

/**
 * The values that an agent gets. All of them are whole if its model can read them; otherwise the longest are truncated,
 * and the agent gets a tool that reads the rest. Values whose names start alike don't replace each other.
 */
export class Given implements WriteValues {
  readonly cuts: CutValue[] = [];
  private readonly whole = new Map<string, string>();
  private most = Number.POSITIVE_INFINITY;
  private isReadable = false;

  constructor(private readonly fences: Fences) {}

  /** Decides how much room each value gets. `isReadable`: whether the agent can get the tool. */
  makeRoom(values: readonly Json[], { context_window, token_ratio }: Reads, isReadable: boolean): void {
    this.isReadable = isReadable;
    const texts = values.map(promptText);
    const all = texts.join("");
    const perToken = all.length / Math.max(1, estimateTokens(all, token_ratio));
    const room = Math.floor(context_window * VALUES_SHARE * (all === "" ? USUAL_PER_TOKEN : perToken));
    const lengths = texts.map(({ length }) => length);
    this.most = Math.max(LEAST_SHOWN, Math.min(room, longestThatFits(lengths, room)));
  }

  readonly fence: Fences["fence"] = (name, value, attributes) =>
    this.fences.fence(name, this.fitted(attributes?.task ?? name, promptText(value)), attributes);

  readonly named: Fences["named"] = (name, value) =>
    this.fences.named(name, this.fitted(name, promptText(value)));

  /** A text, cut where it is too long, with words that say so. */
  fitted(name: string, text: string): string {
    if (text.length <= this.most) return text;
    const at = isInsidePair(text, this.most) ? this.most - 1 : this.most;
    const known = this.whole.get(name);
    const key = known === undefined || known === text ? name : `${name} (${this.whole.size + 1})`;
    if (known !== text) {
      this.whole.set(key, text);
      this.cuts.push({ name: key, shown: at, total: text.length });
    }
    const rest = this.isReadable
      ? `continue with ${READ_VALUE}(name: ${JSON.stringify(key)}, offset: ${at})`
      : "the rest cannot be read here";
    return `${text.slice(0, at)}\n[… ${text.length - at} of ${text.length} characters left out; ${rest}]`;
  }

  /** The tool that reads on in what was cut. */
  get tool(): RunTool {
    return defineRunTool({
      name: READ_VALUE,
      description: "Reads more of a value that was too long to show in full; continue at next_offset.",
      read_only: true,
      input: z.object({
        name: z.string().describe("The name given by the note in the value"),
        offset: z.number().int().min(0).default(0).describe("Offset of the first character to read"),
        limit: z.number().int().min(1).max(50_000).default(10_000).describe("Maximum number of characters"),
      }),
      call: ({ name, offset, limit }) => this.read(name, offset, limit),
    });
  }

  private *read(name: string, offset: number, limit: number) {
    const text = this.whole.get(name);
    if (text === undefined)
      return rejected(
        404,
        `No truncated value has that name. Available: ${[...this.whole.keys()].join(", ")}.`,
      );
    const end = Math.min(text.length, offset + limit);
    return done({
      content: text.slice(offset, end),
      offset,
      total: text.length,
      next_offset: end < text.length ? end : null,
    });
  }
}

/** The length that each may have so that all together fit; without end where they do anyway. */
export function longestThatFits(lengths: readonly number[], room: number): number {
  let left = room;
  let count = lengths.length;
  for (const length of lengths.toSorted((a, b) => a - b)) {
    if (length * count > left) return Math.floor(left / count);
    left -= length;
    count--;
  }
  return Number.POSITIVE_INFINITY;
}
