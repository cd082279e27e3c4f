import { CircleCheck, CircleX } from "lucide-react";

/** What a test of a provider found, in words. */
export function TestResult({
  result,
}: {
  result: {
    ok: boolean;
    message: string;
    /** What was found out about the model, a sentence each. */
    found?: readonly string[];
    models: readonly string[];
    /** Null: it is not told. */
    latency_ms: number | null;
  };
}) {
  const Icon = result.ok ? CircleCheck : CircleX;
  return (
    <div role="status" className="flex items-start gap-2 text-[13px]">
      <Icon
        aria-hidden="true"
        className={`mt-0.5 size-4 shrink-0 ${result.ok ? "text-completed" : "text-failed"}`}
      />
      <div className="min-w-0">
        {result.message}
        {result.ok && result.latency_ms !== null ? (
          <span className="text-ink-3">
            {" "}
            {result.models.length > 0
              ? `${result.models.length} ${result.models.length === 1 ? "model" : "models"}. `
              : ""}
            {Math.round(result.latency_ms)} ms
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
