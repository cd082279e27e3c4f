"use client";

import { useState } from "react";
import { countOf } from "@/components/display/format";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { isWhole, type Money, MoneyFields } from "./money-fields";

/** Asks what real models may cost before the tests are run with them. */
export function RealRunDialog({
  count,
  onRun,
  onClose,
}: {
  /** How many tests. */
  count: number;
  onRun: (money: Money) => void;
  onClose: () => void;
}) {
  const [money, setMoney] = useState<Money>({ real: true, most: 1 });
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      size="sm"
      title="Run with real models"
      description={`${countOf(count, "test")} with the models of the workflow instead of recorded answers, and the judges are asked. Tools still touch nothing outside.`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            disabled={!isWhole(money)}
            onClick={() => {
              onRun(money);
              onClose();
            }}
          >
            Run
          </Button>
        </>
      }
    >
      <MoneyFields canBeOff={false} money={money} onChange={setMoney} />
    </Dialog>
  );
}
