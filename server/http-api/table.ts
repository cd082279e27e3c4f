import { z } from "zod";
import packageJson from "@/package.json";
import { operations } from "@/server/operations";
import { type Endpoint, endpoint } from "./endpoint";
import { endpointsOf } from "./expose";
import { openApi } from "./openapi";
import { runEndpoints } from "./runs";
import { watchingEndpoints } from "./watching";
import { workflowEndpoints } from "./workflows";

const { version } = packageJson;

const serverEndpoints = [
  ...watchingEndpoints,

  endpoint({
    method: "GET",
    path: "/openapi.json",
    name: "getOpenApi",
    summary: "Get this OpenAPI description",
    tag: "Server",
    needs: "public",
    success: { status: 200, about: "An OpenAPI 3.1 file", schema: z.looseObject({ openapi: z.string() }) },
    answer: () => ({ body: description(), headers: { "cache-control": "no-cache" } }),
  }),
];

let described: ReturnType<typeof openApi> | undefined;
/** Made once: anybody may ask for it, and it takes as long as some hundred other answers. */
function description() {
  described ??= openApi(ENDPOINTS, version);
  return described;
}

/** The public HTTP API: every endpoint there is, under /api/v1. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...serverEndpoints,
  ...workflowEndpoints,
  ...endpointsOf(operations.versions),
  ...endpointsOf(operations.imports),
  ...runEndpoints,
  ...endpointsOf(operations.triggers),
  ...endpointsOf(operations.tests),
  ...endpointsOf(operations.questions),
  ...endpointsOf(operations.notices),
  ...endpointsOf(operations.roles),
  ...endpointsOf(operations.crews),
  ...endpointsOf(operations.agents),
  ...endpointsOf(operations.memories),
  ...endpointsOf(operations.storage),
  ...endpointsOf(operations.bin),
  ...endpointsOf(operations.tools),
  ...endpointsOf(operations.secrets),
  ...endpointsOf(operations.variables),
  ...endpointsOf(operations.toolSettings),
  ...endpointsOf(operations.customTools),
  ...endpointsOf(operations.mcp),
  ...endpointsOf(operations.providers),
  ...endpointsOf(operations.engine),
];
