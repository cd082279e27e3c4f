import { defined } from "@/server/domain/base/defined";
import "server-only";
import { clientFetch } from "../client";
import { ModelError, type ModelIo } from "../model";
import { OFFLINE_RUN_HEADER } from "../offline";
import {
  type Callee,
  cancelled,
  classifyNetworkError,
  classifyServerError,
  cutOff,
  notAnAnswer,
  ProviderRejection,
  refusalInside,
  type ServerError,
} from "./errors";
import { readFinish } from "./finish";
import { Collector, finished } from "./openai-answer";
import type { ProviderCall, RawAnswer, Taken } from "./openai-call";
import { isRecord } from "./openai-chunk";
import { apiOf, bodyOf } from "./openai-request";
import { asResponsesRequest, ResponsesReader, toChatFields } from "./responses";
import { ModelTransport, type ResponsePiece } from "./transport";

/** A call without an answer, with the usage that it caused. */
export class CallFailed extends Error {
  constructor(
    readonly failure: ModelError,
    readonly taken: Taken,
    /** The server's refusal; an adapted request may succeed. */
    readonly refusal?: ServerError,
  ) {
    super(failure.message);
  }
}

const DONE = "[DONE]";

/**
 * Asks once. Throws CallFailed; resolves only with an answer that the server itself reported as finished, whatever
 * happens to the connection afterwards.
 */
export async function callOnce(call: ProviderCall, io: ModelIo): Promise<RawAnswer> {
  const { provider, model, key, request } = call;
  const callee: Callee = { provider: provider.name, base_url: provider.base_url, model, key };
  const transport = new ModelTransport(
    await clientFetch(provider.base_url, call.fetch),
    callee,
    call.limits,
    io.signal,
  );
  const api = apiOf(call);
  const url = `${provider.base_url}/${api === "responses" ? "responses" : "chat/completions"}`;
  const headers = headersOf(call);
  const reader = new ResponsesReader();
  const { body, rung, protocol, notes } = bodyOf(call);
  const collector = new Collector(io, callee, protocol !== null);
  try {
    const isDone = await readAnswer();
    const answer = finished(collector.end(), request, { isDone, rung, protocol, provider }, callee);
    return { ...answer, notes: [...notes, ...answer.notes] };
  } catch (error) {
    const refusal = error instanceof ProviderRejection ? error.refusal : undefined;
    throw new CallFailed(
      asModelError(error, callee, io.signal),
      collector.taken(transport.isAccepted()),
      refusal,
    );
  } finally {
    transport.close();
  }

  /** A finished answer is complete, even if the connection was lost afterwards. */
  function isCompleteDespite(error: unknown): boolean {
    const isLost = error instanceof ModelError && ["TIMEOUT", "TRANSIENT"].includes(error.error.code);
    return isLost && collector.isFinished() && !io.signal.aborted;
  }

  /** Reads until the end; true if the server said that the stream is over. */
  async function readAnswer(): Promise<boolean> {
    const sent = api === "responses" ? asResponsesRequest(body, call.capability.refuses) : body;
    try {
      for await (const piece of transport.post(url, sent, headers)) {
        const data = "data" in piece ? piece.data.trim() : null;
        if (data?.startsWith(DONE)) return true;
        // Some keep the connection open with empty events.
        if (data === "" && "event" in piece && piece.event !== "error") continue;
        collector.add(api === "responses" ? chunkOf(piece, reader, callee) : valueOf(piece, callee));
        if (collector.isFinished()) transport.ending();
        else if (collector.hasBegun()) transport.begun();
      }
    } catch (error) {
      if (error instanceof ProviderRejection && error.usage !== undefined)
        collector.add({ usage: error.usage });
      if (!isCompleteDespite(error)) throw error;
    }
    return false;
  }
}

/** An event of the Responses endpoint as a chunk. Throws ProviderRejection if it is an error. */
function chunkOf(piece: ResponsePiece, reader: ResponsesReader, callee: Callee): unknown {
  let value: unknown;
  try {
    value = "whole" in piece ? piece.whole : JSON.parse(piece.data);
  } catch {
    throw cutOff(callee, "was garbled");
  }
  const chunk = reader.chunk(value);
  if (chunk?.error || (isRecord(value) && value.error && value.object !== "response")) {
    const refusal = refusalInside(chunk ?? value);
    throw new ProviderRejection(
      { ...refusal, message: toChatFields(refusal.message), param: toChatFields(refusal.param) },
      chunk?.usage,
    );
  }
  if (!chunk && "whole" in piece) throw notAnAnswer(callee, "something else");
  return chunk ?? {};
}

const headersOf = ({ key, headers, provider, request }: ProviderCall): Record<string, string> => ({
  ...defined({ authorization: key === null ? undefined : `Bearer ${key}` }),
  // A gateway may need another form of authorization, so the configured headers take precedence.
  ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  ...(provider.kind === "offline" ? { [OFFLINE_RUN_HEADER]: request.run_id } : {}),
});

const isFilterEnd = (reason: unknown) => typeof reason === "string" && readFinish(reason) === "filter";

/** A chunk of the answer; a whole answer becomes one. Throws ProviderRejection if it is an error. */
function valueOf(piece: ResponsePiece, callee: Callee): unknown {
  if ("whole" in piece) return asChunk(piece.whole, callee);
  let value: unknown;
  try {
    value = JSON.parse(piece.data);
  } catch {
    // Some services send an error as plain text.
    if (piece.event === "error") throw new ProviderRejection(refusalInside(piece.data));
    throw cutOff(callee, "was garbled");
  }
  if (piece.event === "error" || isError(value))
    throw new ProviderRejection(refusalInside(value), isRecord(value) ? value.usage : undefined);
  return value;
}

function asChunk(whole: unknown, callee: Callee): unknown {
  const choice = isRecord(whole) && Array.isArray(whole.choices) ? whole.choices[0] : undefined;
  // Azure leaves the message out if its filter removed all of it.
  const isAnswer = isRecord(choice) && (isRecord(choice.message) || isFilterEnd(choice.finish_reason));
  if (isRecord(whole) && !whole.error && isAnswer)
    return { ...whole, choices: [{ ...choice, delta: choice.message ?? {} }] };
  const refusal = refusalInside(whole);
  throw refusal.message === "" ? notAnAnswer(callee, "something else") : new ProviderRejection(refusal);
}

function isError(value: unknown): boolean {
  if (!isRecord(value)) return false;
  if (value.error || value.object === "error") return true;
  return value.choices === undefined && (Array.isArray(value.errors) || value.detail !== undefined);
}

function asModelError(error: unknown, callee: Callee, signal: AbortSignal): ModelError {
  if (signal.aborted) return cancelled();
  if (error instanceof ModelError) return error;
  return error instanceof ProviderRejection
    ? classifyServerError(error.refusal, callee)
    : classifyNetworkError(error, callee);
}
