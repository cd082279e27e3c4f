import { InFileBadge, type InFileState } from "./in-file-badge";

/** Crews or agents that files bring, before anything is saved. */
export function ItemsInFile({
  label,
  rows,
}: {
  label: string;
  rows: readonly { id: string; line: string; state: InFileState }[];
}) {
  if (rows.length === 0) return null;
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-[13px] font-medium">{label}</h3>
      <ul aria-label={label} className="divide-y divide-line rounded-lg border border-line">
        {rows.map(({ id, line, state }) => (
          <li key={id} className="flex items-center gap-3 px-3 py-2">
            <span className="min-w-0 flex-1">
              <span className="block truncate font-mono text-[13px] font-medium">{id}</span>
              <span className="block truncate text-[13px] text-ink-2">{line}</span>
            </span>
            <InFileBadge state={state} />
          </li>
        ))}
      </ul>
    </div>
  );
}
