import type { ExecutionPlan } from "@/server/domain/crew/plan";

/** Downloads a text as a file. */
export function downloadText(fileName: string, text: string) {
  const type = fileName.endsWith(".json") ? "application/json" : "text/plain";
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Downloads a plan in the format that the import reads. */
export const downloadPlan = (plan: ExecutionPlan) =>
  downloadText("plan.json", `${JSON.stringify(plan, null, 2)}\n`);
