import { NumberField } from "@/components/ui/input/number-field";
import { Switch } from "@/components/ui/input/switch";

export interface Money {
  real: boolean;
  /** US dollars; null: empty. */
  most: number | null;
}

export const NO_MONEY: Money = { real: false, most: 1 };

export const isWhole = ({ real, most }: Money): boolean => !real || (most !== null && most > 0);

export const moneyOf = ({ real, most }: Money): { real?: true; max_cost_usd?: number } =>
  real && most !== null ? { real: true, max_cost_usd: most } : {};

/** The added field would be below the visible part of a dialog. */
const intoView = (element: HTMLElement | null) => {
  element?.scrollIntoView({ block: "nearest" });
};

export function MoneyFields({
  money,
  onChange,
  canBeOff = true,
}: {
  money: Money;
  onChange: (next: Money) => void;
  canBeOff?: boolean;
}) {
  return (
    <div className="flex flex-col gap-3">
      {canBeOff ? (
        <Switch
          label="Use real models"
          hint="If off, uses recordings, pinned outputs and the demo model"
          checked={money.real}
          onCheckedChange={(real) => onChange({ ...money, real })}
        />
      ) : null}
      {money.real ? (
        <div ref={canBeOff ? intoView : undefined}>
          <NumberField
            label="Cost limit"
            unit="US$"
            hint="Total for all calls, including judges. Stops before exceeding the limit."
            min={0.01}
            max={10_000}
            step={0.5}
            error={isWhole(money) ? undefined : "Set a cost limit."}
            value={money.most}
            onValueChange={(most) => onChange({ ...money, most })}
            fieldClassName="max-w-56"
          />
        </div>
      ) : null}
    </div>
  );
}
