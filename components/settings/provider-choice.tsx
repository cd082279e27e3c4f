import clsx from "clsx";
import { type ProviderPreset, providerPresets } from "./provider-presets";

/** The services that a new provider may be. */
export function ProviderChoice({ onChoose }: { onChoose: (preset: ProviderPreset) => void }) {
  return (
    <ul className="grid gap-2 sm:grid-cols-2">
      {providerPresets.map((preset) => (
        <li key={preset.key} className={clsx(preset.key === "other" && "sm:col-span-2")}>
          <button
            type="button"
            onClick={() => onChoose(preset)}
            className="flex size-full flex-col rounded-lg border border-line bg-raised px-3 py-2.5 text-left hover:border-line-strong hover:bg-sunken"
          >
            <span className="font-medium">{preset.name}</span>
            <span className="text-[13px] text-ink-2">{preset.hint}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The newest of the models that suit agents, else the first of the list. */
export function suggestedModel(models: readonly string[], prefers: RegExp | undefined): string | undefined {
  const fitting = prefers ? models.filter((model) => prefers.test(model)) : [];
  return fitting.toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }))[0] ?? models[0];
}
