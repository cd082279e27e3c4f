import { fieldKey } from "@/components/editor/use-problems";
import type { Fix } from "@/server/domain/problems/fixes";
import type { CommandContext } from "./command-context";

/** What is wrong on the drawing: when it may be said, and how it is put right. */
export function problemCommands({ store, ui, announce }: Pick<CommandContext, "store" | "ui" | "announce">) {
  return {
    /** Somebody was in this field of a node and went on: what is wrong there may be said. */
    leaveField(id: string, field: string) {
      ui.setState(({ left }) => ({ left: new Set(left).add(fieldKey(id, field)) }));
    },
    /** From now on whatever is missing is wrong: somebody wants to run it. */
    callDue() {
      ui.setState({ fresh: new Set(), isNew: false });
    },
    async fix(repair: Fix) {
      const { applyFix } = await import("@/server/domain/problems/problems");
      store.getState().edit({ id: "fix", label: repair.label, apply: applyFix }, repair);
      announce(`Done: ${repair.label}`);
    },
  };
}
