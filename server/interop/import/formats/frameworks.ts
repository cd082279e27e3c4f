import type { Format } from "../format";
import { agentsSdk } from "./agents-sdk";
import { AUTOGEN } from "./autogen";
import { langchain } from "./langchain";
import { LANGGRAPH } from "./langgraph";

/** What other frameworks keep as files or code. */
export const FRAMEWORKS: readonly Format[] = [agentsSdk, ...LANGGRAPH, ...AUTOGEN, langchain];
