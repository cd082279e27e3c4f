import { describeUnchecked } from "@/server/domain/agent/unchecked";
import type { JsonSchema } from "@/server/domain/base/values";

/** Lists the parts of a schema that Troupe does not validate; nothing if it validates all. */
export function UncheckedNotes({ schema, label }: { schema: JsonSchema | undefined; label: string }) {
  const notes = schema ? describeUnchecked(schema) : [];
  if (notes.length === 0) return null;
  return (
    <section
      aria-label={`${label}: not validated`}
      className="flex flex-col gap-1 text-[13px] text-waiting [overflow-wrap:anywhere]"
    >
      <p>These parts of the schema aren't validated:</p>
      <ul className="list-disc pl-5">
        {notes.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </section>
  );
}
