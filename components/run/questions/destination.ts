import type { JsonObject } from "@/server/domain/base/values";

const NAMES = ["url", "uri", "endpoint", "host", "to", "recipient", "recipients", "email", "channel", "path"];

/** Where a tool call goes, as far as its arguments say: a host with its address, a recipient, a path. */
export function destinationOf(args: JsonObject): string | null {
  for (const name of NAMES) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value === "string" && value.trim() !== "") return value;
    if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string"))
      return value.join(", ");
  }
  return null;
}
