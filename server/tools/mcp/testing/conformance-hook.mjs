// The conformance suite imports a function of node:fs that Node 20 does not have, and does not need it to test clients.
import { register } from "node:module";

const files = `export * from "node:fs"; export const globSync = () => [];`;
const hook = `export async function resolve(specifier, context, next) {
  return specifier === "fs" && context.parentURL?.includes("/conformance/")
    ? { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(files)}`)}, shortCircuit: true }
    : next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
