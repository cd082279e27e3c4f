import { CircleCheck, CircleX } from "lucide-react";
import { toApiError } from "@/components/trpc";

interface Tested {
  ok: boolean;
  message: string;
  /** What was found out about the model, a sentence each. */
  found?: readonly string[];
  models?: readonly string[];
  latency_ms?: number | null;
}

/** What a test of a provider or of a channel found; nothing while there was none. */
export function TestResult({ test }: { test: { data: Tested | undefined; error: unknown } }) {
  const result: Tested | null =
    test.data ?? (test.error ? { ok: false, message: toApiError(test.error).message } : null);
  if (!result) return null;
  const { models = [], latency_ms = null } = result;
  const Icon = result.ok ? CircleCheck : CircleX;
  return (
    <div role="status" className="flex items-start gap-2 text-[13px]">
      <Icon
        aria-hidden="true"
        className={`mt-0.5 size-4 shrink-0 ${result.ok ? "text-completed" : "text-failed"}`}
      />
      <div className="min-w-0">
        {result.message}
        {result.ok && latency_ms !== null ? (
          <span className="text-ink-3">
            {" "}
            {models.length > 0 ? `${models.length} ${models.length === 1 ? "model" : "models"}. ` : ""}
            {Math.round(latency_ms)} ms
          </span>
        ) : null}
        {result.found?.length ? (
          <ul className="mt-1 text-ink-2">
            {result.found.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        ) : null}
      </div>
    </div>
  );
}
