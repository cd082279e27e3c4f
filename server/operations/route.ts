import { z } from "zod";
import type { HttpRoute, Operation } from "./operation";

/** The method and the path of an operation's endpoint, and the input fields that its path parameters stand for. */
export function routeOf({ input }: Pick<Operation, "input">, { route }: HttpRoute) {
  const [method = "", path = ""] = route.split(" ", 2);
  const parts = path.split("/").filter(Boolean);
  const has = (field: string) => input instanceof z.ZodObject && field in input.shape;
  const params = parts.flatMap((part, at) => {
    if (!part.startsWith("{")) return [];
    const param = part.slice(1, -1);
    const ofParent = `${parts[at - 1]?.replace(/s$/, "")}_id`;
    return [{ param, field: param === "id" && has(ofParent) ? ofParent : param }];
  });
  // The type of `route` names the methods.
  return { method: method as "GET" | "POST" | "PUT" | "DELETE", path, params };
}
