import { parametersOf } from "@/components/forms/schema/schema-labels";
import type { JsonSchema } from "@/server/domain/base/values";

/** The parameters of a tool as a table, nested ones indented below their parent. */
export function ParameterTable({
  schema,
  label,
  one = "Parameter",
  none = "No parameters.",
}: {
  schema: JsonSchema;
  label: string;
  /** The heading of the first column. */
  one?: string;
  none?: string;
}) {
  const rows = parametersOf(schema);
  if (rows.length === 0) return <p className="text-[13px] text-ink-2">{none}</p>;
  const hasMeaning = rows.some(({ description }) => description !== "");
  return (
    <section tabIndex={0} aria-label={label} className="overflow-x-auto rounded-lg border border-line">
      <table className="w-full text-left text-[13px]">
        <thead className="border-b border-line bg-sunken text-xs text-ink-2">
          <tr>
            <th scope="col" className="px-3 py-2 font-medium">
              {one}
            </th>
            <th scope="col" className="px-3 py-2 font-medium">
              Type
            </th>
            {hasMeaning ? (
              <th scope="col" className="px-3 py-2 font-medium">
                Description
              </th>
            ) : null}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map(({ name, depth, type, required, description, standard }, at) => (
            <tr key={at} className="align-top">
              <th scope="row" className="px-3 py-2 font-normal" style={{ paddingLeft: 12 + depth * 16 }}>
                <code className="font-mono text-xs">{name}</code>
                {required ? null : <span className="block text-xs text-ink-3">optional</span>}
              </th>
              <td className="px-3 py-2 text-ink-2">
                {type}
                {standard === undefined ? null : (
                  <span className="block text-xs text-ink-3">
                    default <code className="font-mono">{standard}</code>
                  </span>
                )}
              </td>
              {hasMeaning ? (
                <td className="min-w-40 px-3 py-2 text-ink-2 [overflow-wrap:anywhere]">{description}</td>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
