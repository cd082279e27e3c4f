import { z } from "zod";
import { ModelFacts } from "@/server/domain/model/provider";
import { registerSecret } from "@/server/secrets/redact";
import type { Sealer } from "@/server/secrets/sealer";

// How a provider's secrets, and what its service says of its models, are kept. Servers and workers open them alike.

const keyBinding = (id: string, baseUrl: string) => `provider:${id}:key:${baseUrl}`;
const headersBinding = (id: string, baseUrl: string) => `provider:${id}:headers:${baseUrl}`;

const Headers = z.object({ names: z.array(z.string()), sealed: z.string() });
const HeaderValues = z.record(z.string(), z.string());
const readHeaders = (text: string) => Headers.parse(JSON.parse(text));

/** A key goes to the address that it was sealed for, and nowhere else. */
export const sealKey = (sealer: Sealer, id: string, baseUrl: string, key: string): string =>
  sealer.seal(key, keyBinding(id, baseUrl));

/** Throws where it cannot be opened. */
export const openKey = (sealer: Sealer, id: string, baseUrl: string, sealed: string): string =>
  sealer.open(sealed, keyBinding(id, baseUrl));

export const sealHeaders = (
  sealer: Sealer,
  id: string,
  baseUrl: string,
  headers: readonly (readonly [name: string, value: string])[],
): string =>
  JSON.stringify({
    names: headers.map(([name]) => name),
    sealed: sealer.seal(JSON.stringify(Object.fromEntries(headers)), headersBinding(id, baseUrl)),
  });

/**
 * The values are registered one by one, so that each is blacked out wherever it turns up. `text`: as it is stored. Throws
 * where it cannot be read.
 */
export function openHeaders(
  sealer: Sealer,
  id: string,
  baseUrl: string,
  text: string | null,
): Record<string, string> {
  if (text === null) return {};
  const { sealed } = readHeaders(text);
  const opened = HeaderValues.parse(JSON.parse(sealer.open(sealed, headersBinding(id, baseUrl))));
  for (const value of Object.values(opened)) registerSecret(value);
  return opened;
}

export function headerNames(text: string | null): string[] {
  try {
    return text === null ? [] : readHeaders(text).names;
  } catch {
    // Said when they are wanted.
    return [];
  }
}

/** What each service says of its models, beside the providers: it may be long, and is needed one model at a time. */
export const REPORTED_MODELS_PREFIX = "provider_models:";
const ReportedModels = z.object({ base_url: z.string(), models: z.record(z.string(), ModelFacts) });
export type ReportedModels = z.infer<typeof ReportedModels>;

export function readReportedModels(text: string): ReportedModels {
  try {
    return ReportedModels.parse(JSON.parse(text));
  } catch {
    // It is asked for again with the next test.
    return { base_url: "", models: {} };
  }
}
