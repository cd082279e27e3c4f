import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { ChatMessage } from "@/server/domain/run/events";
import type { ToolCall } from "@/server/domain/tool/tool";
import type { ToolOffer } from "../model";
import { asArguments, callErrorText, type ReadCall, truncatedErrorText } from "./text-calls";

// Tools as functions on the wire: names, the pieces of streamed calls, and the messages that carry both.

const SAFE = /^[a-zA-Z0-9_-]{1,64}$/;
const AGAIN = "Call it again with its arguments as one JSON object.";

export interface WireNames {
  /** The name that a server accepts for a tool. */
  toWire(name: string): string;
  /** The tool that a server's name means; the name itself where it means none. */
  fromWire(name: string): string;
}

/**
 * Names that every server accepts, one for each tool and the same in every turn: those on offer first, then those
 * that the conversation mentions.
 */
export function wireNames(tools: readonly ToolOffer[], messages: readonly ChatMessage[] = []): WireNames {
  const known = new Set([
    ...tools.map(({ name }) => name),
    ...messages.flatMap(({ tool_calls }) => tool_calls?.map(({ tool_name }) => tool_name) ?? []),
  ]);
  // Names that are fine stay as they are, and no other may take them.
  const taken = new Set([...known].filter((name) => SAFE.test(name)));
  const forward = new Map<string, string>();
  for (const name of known) {
    if (SAFE.test(name)) {
      forward.set(name, name);
      continue;
    }
    const safe = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unnamed";
    let unique = safe;
    for (let n = 2; taken.has(unique); n++) unique = `${safe.slice(0, 63 - String(n).length)}_${n}`;
    taken.add(unique);
    forward.set(name, unique);
  }
  const back = new Map([...forward].map(([name, wire]) => [wire, name]));
  return {
    toWire: (name) => forward.get(name) ?? name,
    fromWire(name) {
      const bare = name.trim();
      // Some models write the name as their training data have it.
      const short = bare.replace(/^functions?[.:]/, "");
      return back.get(bare) ?? (known.has(bare) ? bare : (back.get(short) ?? bare));
    },
  };
}

/** Gives every call an id that no other call of the conversation has, and keeps the server's where it can. */
export function callIds(messages: readonly ChatMessage[]): (given?: string) => string {
  const used = new Set(messages.flatMap(({ tool_calls }) => tool_calls?.map(({ id }) => id) ?? []));
  let count = used.size;
  return (given) => {
    let id = given?.trim() || `call_${++count}`;
    while (used.has(id)) id = `call_${++count}`;
    used.add(id);
    return id;
  };
}

/** A piece of a call as servers stream it; everything may be missing. */
export interface CallPiece {
  index?: number | undefined;
  id?: string | undefined;
  name?: string | undefined;
  /** Text; an object where the server forgot to write it as text. */
  args?: string | object | undefined;
  /** Its other fields: some services want them back with the call. */
  more?: JsonObject | undefined;
}

interface OpenCall {
  index: number | undefined;
  id: string;
  name: string;
  args: string;
  /** Their last sign that is no blank. */
  last: string;
  /** How often they were parsed before they were complete. */
  parsed: number;
  more: JsonObject;
}

/** Parsing arguments again with every piece of them would take the square of their length. */
const MAX_PARSED = 100;

export interface CallAssembler {
  /** The pieces of one chunk; `grown` is the text that arguments gained, in the order it came. */
  add(pieces: readonly CallPiece[]): { grown: string };
  /** The calls, in the order they began. `isCut`: the answer ended at the token limit. */
  end(names: WireNames, idOf: (given?: string) => string, isCut: boolean): ToolCall[];
  readonly size: number;
  /** What else stood in each call, in the order they began. */
  extras(): JsonObject[];
}

/** Puts the pieces of streamed calls together, by the rules that cover what servers do. */
export function newCallAssembler(): CallAssembler {
  const calls: OpenCall[] = [];
  const byIndex = new Map<number, OpenCall>();
  const byId = new Map<string, OpenCall>();

  const targetOf = (piece: CallPiece, inChunk: ReadonlySet<OpenCall>): OpenCall | undefined => {
    const known =
      piece.index !== undefined ? byIndex.get(piece.index) : piece.id ? byId.get(piece.id) : calls.at(-1);
    if (!known || !piece.name) return known;
    // A new id with a name on a used index is another call.
    if (piece.id && known.id && piece.id !== known.id) return undefined;
    const isAnother =
      known.name !== "" &&
      (!piece.id || piece.id !== known.id) &&
      (inChunk.has(known) || isComplete(known, piece));
    return isAnother ? undefined : known;
  };

  return {
    add(pieces) {
      const inChunk = new Set<OpenCall>();
      let grown = "";
      for (const piece of pieces) {
        let call = targetOf(piece, inChunk);
        if (!call) {
          call = { index: piece.index, id: "", name: "", args: "", last: "", parsed: 0, more: {} };
          calls.push(call);
          if (piece.index !== undefined) byIndex.set(piece.index, call);
        }
        inChunk.add(call);
        call.id ||= piece.id ?? "";
        if (!byId.has(call.id)) byId.set(call.id, call);
        call.name ||= piece.name ?? "";
        if (piece.more) Object.assign(call.more, piece.more);
        const text = typeof piece.args === "object" ? JSON.stringify(piece.args) : (piece.args ?? "");
        call.args += text;
        call.last = text.trimEnd().at(-1) ?? call.last;
        grown += text;
      }
      return { grown };
    },
    end: (names, idOf, isCut) =>
      calls.map((call, at) => ({
        id: idOf(call.id),
        ...asRead(call, names, isCut && at === calls.length - 1),
      })),
    get size() {
      return calls.length;
    },
    extras: () => calls.map(({ more }) => more),
  };
}

/** Whether a call has all its arguments, so that more of them belong to another. */
function isComplete(call: OpenCall, piece: CallPiece): boolean {
  const hasMore = typeof piece.args === "object" || Boolean(piece.args?.trim());
  if (!hasMore || (call.last !== "}" && call.last !== "]") || call.parsed++ >= MAX_PARSED) return false;
  try {
    JSON.parse(call.args);
    return true;
  } catch {
    return false;
  }
}

function asRead({ name, args }: OpenCall, names: WireNames, isCut: boolean): ReadCall {
  const tool_name = names.fromWire(name);
  const invalid = (why: string): ReadCall => ({
    tool_name,
    args: {},
    fault: callErrorText(why, args, AGAIN),
  });
  if (tool_name === "") return invalid("it names no tool");
  if (isCut && !isJson(args)) return { tool_name, args: {}, fault: truncatedErrorText(args, AGAIN) };
  const read = asArguments(args);
  return read ? { tool_name, ...read } : invalid("its arguments are not a JSON object");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export interface WireMessage {
  role: string;
  content: string | null;
  name?: string;
  tool_call_id?: string;
  reasoning_content?: string;
  reasoning_details?: Json;
  tool_calls?: ({
    id: string;
    type: "function";
    function: { name: string; arguments: string };
  } & JsonObject)[];
  /** For the Responses endpoint, which has dedicated fields for it. */
  carried?: JsonObject;
}

/**
 * The conversation as servers that know functions read it. `backTo`: whose own parts go back with their messages; those of
 * another model mean nothing to this one.
 */
export function withFunctions(
  messages: readonly ChatMessage[],
  names: WireNames,
  backTo: { provider_id: string; model: string },
): WireMessage[] {
  return messages.map(({ role, content, name, tool_calls, tool_call_id, carried }) => {
    if (role === "tool") return { role, tool_call_id: tool_call_id ?? "", content };
    const isOwn = carried?.provider_id === backTo.provider_id && carried.model === backTo.model;
    const own: JsonObject = isOwn ? carried.parts : {};
    const { reasoning_details, calls, ...rest } = own;
    const parts = {
      ...defined({
        name: name || undefined,
        reasoning_details,
        carried: Object.keys(rest).length > 0 ? rest : undefined,
      }),
    };
    if (!tool_calls || tool_calls.length === 0) return { role, content, ...parts };
    const more = isObject(calls) ? calls : {};
    const partsOf = (id: string) => (Object.hasOwn(more, id) && isObject(more[id]) ? more[id] : {});
    return {
      role,
      content: content === "" ? null : content,
      ...parts,
      tool_calls: tool_calls.map((call) => ({
        ...partsOf(call.id),
        id: call.id,
        type: "function" as const,
        function: { name: names.toWire(call.tool_name), arguments: JSON.stringify(call.args) },
      })),
    };
  });
}

/** The tools as the field `tools` of a request. */
export const functionsOf = (tools: readonly ToolOffer[], names: WireNames) =>
  tools.map(({ name, description, parameters }) => ({
    type: "function" as const,
    function: {
      name: names.toWire(name),
      description,
      // Some servers refuse an object without properties.
      parameters: { type: "object", properties: {}, ...parameters },
    },
  }));
