import { Plus, X } from "lucide-react";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { TextField } from "@/components/ui/input/text-field";
import { headerError } from "@/server/domain/model/provider";

/** A header in the form; without a value, the stored one stays. */
export interface HeaderDraft {
  name: string;
  value?: string;
}

/** A provider's custom headers. Their values are write-only. */
export function HeaderRows({
  headers,
  stored,
  onChange,
  isTried,
}: {
  headers: readonly HeaderDraft[];
  /** Names of headers with stored values. */
  stored: readonly string[];
  onChange: (headers: HeaderDraft[]) => void;
  isTried: boolean;
}) {
  const put = (at: number, change: HeaderDraft) =>
    onChange(headers.map((header, i) => (i === at ? change : header)));
  return (
    <div className="flex flex-col gap-3">
      <p className="text-[13px] text-ink-2">Sent with every request. Stored encrypted, never shown again.</p>
      {headers.map(({ name, value }, at) => {
        const isStored = value === undefined && stored.includes(name);
        const error =
          headerError(name, value || undefined) ??
          (value || isStored ? null : "Enter a value, or remove the header.");
        return (
          <div key={at} className="grid grid-cols-[1fr_1.4fr_auto] items-start gap-2">
            <TextField
              label={`Header ${at + 1} name`}
              hideLabel
              mono
              placeholder="api-key"
              value={name}
              error={isTried ? (error ?? undefined) : undefined}
              onValueChange={(next) => put(at, { name: next.trim(), value: value ?? "" })}
            />
            <TextField
              label={`Header ${at + 1} value`}
              hideLabel
              mono
              type="password"
              autoComplete="off"
              value={value ?? ""}
              placeholder={isStored ? "Stored" : "Value"}
              onValueChange={(next) => put(at, { name, value: next })}
            />
            <IconButton
              label={`Remove header ${at + 1}`}
              icon={<X />}
              onClick={() => onChange(headers.filter((_header, i) => i !== at))}
            />
          </div>
        );
      })}
      <Button
        size="sm"
        className="self-start"
        onClick={() => onChange([...headers, { name: "", value: "" }])}
      >
        <Plus aria-hidden className="size-3.5" /> Add a header
      </Button>
    </div>
  );
}

/** Whether the headers can be saved. */
export const areHeadersFine = (headers: readonly HeaderDraft[], stored: readonly string[]): boolean =>
  headers.every(
    ({ name, value }) =>
      headerError(name, value || undefined) === null &&
      (Boolean(value) || (value === undefined && stored.includes(name))),
  );
