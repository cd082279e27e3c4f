"use client";

import { useState } from "react";
import { useRun } from "@/components/run/run-context";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/input/form";
import { TextField } from "@/components/ui/input/text-field";
import { type Held, type WhenTrue, whenTrue } from "@/server/domain/run/past/when-true";
import { ExpressionError } from "@/server/domain/text/expression/expression";
import { MomentLink } from "./moment-link";
import { useAllEvents } from "./use-past";

/** "When did this become true?": a condition over the state, looked for from the end of the run backwards. */
export function WhenSearch() {
  const events = useAllEvents();
  const [condition, setCondition] = useState("");
  const [found, setFound] = useState<{ of: string; result: WhenTrue } | null>(null);
  const [error, setError] = useState<string | undefined>(undefined);

  const search = () => {
    try {
      setFound({ of: condition, result: whenTrue(events, condition) });
      setError(undefined);
    } catch (thrown) {
      if (!(thrown instanceof ExpressionError)) throw thrown;
      setFound(null);
      setError(thrown.message);
    }
  };
  return (
    <div className="flex flex-col gap-2">
      <Form className="flex items-start gap-2" onSubmit={search}>
        <TextField
          label="Find when true"
          hideLabel
          placeholder="Find when true: state.n > 3"
          value={condition}
          onValueChange={setCondition}
          error={error}
          fieldClassName="min-w-24 flex-1"
          className="!h-7 font-mono text-xs pointer-coarse:!h-9"
        />
        {condition.trim() === "" ? null : (
          <Button size="sm" type="submit">
            Find
          </Button>
        )}
      </Form>
      {found ? <Answer {...found} /> : null}
    </div>
  );
}

function Answer({ of, result: { held, isNow, searched_to, undecided } }: { of: string; result: WhenTrue }) {
  return (
    <div role="status" className="flex flex-col gap-1 text-xs text-ink-2">
      {held.length === 0 ? (
        <p>
          <code className="font-mono">{of}</code>{" "}
          {isNow ? "was already true before the searched range." : "never became true."}
        </p>
      ) : (
        <ol aria-label="When it became true" className="flex max-h-40 flex-col gap-0.5 overflow-y-auto">
          {held.map((span) => (
            <li key={span.from}>
              <Span span={span} />
            </li>
          ))}
        </ol>
      )}
      {searched_to > 1 ? (
        <p>Searched back to event {searched_to}; searching further would take too long.</p>
      ) : null}
      {undecided ? <p>Couldn't evaluate the condition at some events: {undecided}</p> : null}
    </div>
  );
}

function Span({ span: { from, to, node_id, activation_id } }: { span: Held }) {
  const name = useRun(({ head }) => (node_id ? head.graph.nodes[node_id]?.name || node_id : ""), "");
  const turn = activation_id?.split("#")[1] ?? "1";
  const by = name ? ` by ${name}${turn === "1" ? "" : ` ×${turn}`}` : "";
  return (
    <span className="flex flex-wrap items-center gap-x-1">
      True from <MomentLink seq={from} about={`it became true${by}`} />
      {by}
      {to === null ? (
        ", to the end"
      ) : (
        <>
          {" "}
          until <MomentLink seq={to} about="it was no longer true" />
        </>
      )}
    </span>
  );
}
