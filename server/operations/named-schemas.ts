import type { z } from "zod";
import { RunConfig, RunError, Usage } from "@/server/domain/agent/outcome";
import { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import { Json } from "@/server/domain/base/values";
import { CrewConfig } from "@/server/domain/crew/crew";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { RunPlace, WorkerState } from "@/server/domain/run/engine-state";
import { ApiErrorBody, Finding } from "./common-schemas";
import {
  CustomTool,
  McpServer,
  PlacedMemory,
  SearchService,
  StoredAgent,
  StoredCrew,
  StoredMemory,
  StoredRole,
} from "./library/library-schemas";
import { Engine, Run, RunEvent, RunNode, RunPlan, RunSummary, RunTask, WaitingFor } from "./runs/run-schemas";
import { ModelProvider } from "./settings-schemas";
import {
  CapabilityGrant,
  OpenHandsGraph,
  UnfinishedNode,
  WorkflowFile,
  WorkflowProblem,
  WorkflowSummary,
} from "./workflows/workflow-schemas";

/** Schemas that the OpenAPI file names. */
export const NAMED_SCHEMAS: Record<string, z.ZodType> = {
  Error: ApiErrorBody,
  Finding,
  Problem: WorkflowProblem,
  WorkflowFile,
  WorkflowGraph,
  WorkflowNode,
  UnfinishedNode,
  OpenHandsGraph,
  CapabilityGrant,
  WorkflowSummary,
  RunSummary,
  Run,
  RunNode,
  RunTask,
  RunPlan,
  WaitingFor,
  RunPlace,
  Engine,
  Worker: WorkerState,
  ExecutionPlan,
  RunEvent,
  RunError,
  RunConfig,
  Usage,
  RoleDefinition,
  StoredRole,
  CrewConfig,
  StoredCrew,
  AgentConfig,
  StoredAgent,
  StoredMemory,
  PlacedMemory,
  SearchService,
  CustomTool,
  McpServer,
  ModelProvider,
  Json,
};
