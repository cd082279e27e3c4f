"use client";

import { ArrowDown, ArrowRight, ArrowUp, Plus, Trash2, X } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Field } from "@/components/ui/input/field";
import { Picker } from "@/components/ui/input/picker";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import {
  addRoute,
  connectRoute,
  disconnectRoute,
  moveRoute,
  type Route,
  type RouterRoutes,
  removeRoute,
  renameRoute,
  routerRoutes,
  setOtherwise,
  setWhen,
} from "@/server/domain/graph/router-routes";
import { getNodeKind, routerKindOf, settingsOf } from "@/server/domain/nodes";
import type { FieldProps } from "../field-props";
import { useFormScope } from "../form-scope";
import { keyFacts } from "../key-facts";
import { ConditionBuilder } from "./condition-builder";
import { DraftField } from "./draft-field";

const NOWHERE = "(nowhere)";

/** The routes of a router as rows: name, condition and target. Changes update the edges on the canvas. */
export function RoutesField({ label, hint, error }: FieldProps) {
  const { graph, node, change } = useFormScope();
  const [added, setAdded] = useState<number | null>(null);
  const routes = node && routerRoutes(graph, node.id);
  if (!node || !routes || !change) return null;
  const by = routerKindOf(node);
  // A model or rule that chooses among the routes always takes one.
  const isChosen = getNodeKind(node.node_type).routesKey !== undefined;
  const write = (title: string, apply: (graph: WorkflowGraph) => WorkflowGraph) => change(title, apply);
  return (
    <Field label={label} hint={hint} error={error} group>
      <ol aria-label={label} className="flex flex-col gap-2.5">
        {routes.routes.map((way, at) => (
          <WayRow
            // Not the name, which changes while it is typed.
            key={at}
            way={way}
            at={at}
            all={routes}
            hasWhen={by === "expression"}
            isNew={at === added}
            write={write}
          />
        ))}
        {isChosen ? null : <Otherwise routes={routes} isAlways={by === "llm"} write={write} />}
      </ol>
      {routes.isOpen ? (
        <div className="flex flex-wrap gap-1">
          <Button
            size="sm"
            icon={<Plus aria-hidden />}
            onClick={() => {
              setAdded(routes.routes.length);
              write("Add route", (drawn) => addRoute(drawn, node.id));
            }}
          >
            Add route
          </Button>
          <KnownValues routes={routes} write={write} />
        </div>
      ) : null}
    </Field>
  );
}

type Write = (title: string, apply: (graph: WorkflowGraph) => WorkflowGraph) => void;

interface WayRowProps {
  way: Route;
  at: number;
  all: RouterRoutes;
  hasWhen: boolean;
  isNew: boolean;
  write: Write;
}

function WayRow({ way, at, all, hasWhen, isNew, write }: WayRowProps) {
  const { node } = useFormScope();
  const id = node?.id ?? "";
  const { label } = way;
  const names = all.routes.map((other) => other.label);
  const isFixed = !all.isOpen || !way.isOffered;
  return (
    <li className="flex flex-col gap-2 rounded-lg border border-line bg-bg p-2.5">
      <div className="flex items-end gap-0.5">
        {all.isOpen ? (
          <>
            <DraftField
              label={`Route ${at + 1}`}
              value={label}
              isNew={isNew}
              onCommit={(text) =>
                text.trim() === label
                  ? undefined
                  : write("Rename route", (drawn) => renameRoute(drawn, id, label, text.trim()))
              }
              check={(text) => nameError(text, names, at)}
              fieldClassName="flex-1 mr-1"
            />
            <IconButton
              label={`Move route ${at + 1} up`}
              size="sm"
              icon={<ArrowUp aria-hidden />}
              disabled={at === 0 || isFixed}
              onClick={() => write("Move route", (drawn) => moveRoute(drawn, id, at, at - 1))}
            />
            <IconButton
              label={`Move route ${at + 1} down`}
              size="sm"
              icon={<ArrowDown aria-hidden />}
              disabled={at === all.routes.length - 1 || isFixed}
              onClick={() => write("Move route", (drawn) => moveRoute(drawn, id, at, at + 1))}
            />
            <IconButton
              label={`Remove route ${at + 1}`}
              size="sm"
              variant="danger"
              icon={<Trash2 aria-hidden />}
              onClick={() => write("Remove route", (drawn) => removeRoute(drawn, id, label))}
            />
          </>
        ) : (
          <p className="text-[13px] font-medium">{label}</p>
        )}
      </div>
      {hasWhen && way.isOffered ? (
        <ConditionBuilder
          label={`Condition of route ${at + 1}`}
          value={way.when ?? ""}
          onChange={(when) => write("Edit condition", (drawn) => setWhen(drawn, id, label, when))}
        />
      ) : null}
      {!way.isOffered ? (
        <p className="text-[13px] text-ink-2">
          A connection uses this route, but the router doesn't define it, so it's never taken.{" "}
          {all.isOpen ? (
            <button
              type="button"
              className="underline underline-offset-2 hover:text-accent"
              onClick={() => write("Add route", (drawn) => addRoute(drawn, id, label))}
            >
              Add to router
            </button>
          ) : null}
        </p>
      ) : null}
      <GoesTo
        label={`Route ${at + 1} target`}
        targets={way.targets}
        onLead={(target) => write("Connect route", (drawn) => connectRoute(drawn, id, label, target))}
        onStop={(target) => write("Disconnect", (drawn) => disconnectRoute(drawn, id, label, target))}
      />
    </li>
  );
}

function nameError(text: string, names: readonly string[], at: number): string | null {
  if (text.trim() === "") return "Enter a route name.";
  if (text.length > 200) return "Use at most 200 characters.";
  return names.some((name, i) => i !== at && name === text.trim()) ? "Another route has this name." : null;
}

interface GoesToProps {
  label: string;
  targets: readonly string[];
  onLead: (target: string | null) => void;
  onStop: (target: string) => void;
}

function GoesTo({ label, targets, onLead, onStop }: GoesToProps) {
  const { graph } = useFormScope();
  const [first = null, ...more] = targets;
  const nodes = useTargets();
  return (
    <div className="flex items-start gap-2">
      <ArrowRight aria-hidden className="mt-2 size-4 shrink-0 text-ink-3" />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <Picker
          label={label}
          hideLabel
          placeholder="Choose a node…"
          searchPlaceholder="Search nodes…"
          options={first === null ? nodes : [{ value: NOWHERE, label: "Not connected" }, ...nodes]}
          value={first}
          onValueChange={(target) => onLead(target === NOWHERE ? null : target)}
        />
        {more.map((target) => (
          <span key={target} className="flex items-center gap-1 text-[13px] text-ink-2">
            <span className="min-w-0 flex-1 truncate">and {graph.nodes[target]?.name || target}</span>
            <IconButton
              label={`Disconnect ${graph.nodes[target]?.name || target}`}
              size="sm"
              icon={<X aria-hidden />}
              onClick={() => onStop(target)}
            />
          </span>
        ))}
      </div>
    </div>
  );
}

/** The possible targets of a route. */
function useTargets() {
  const { graph, node } = useFormScope();
  const others = Object.values(graph.nodes).filter(
    ({ id, node_type }) => id !== node?.id && getNodeKind(node_type).hasEntry !== false,
  );
  const names = others.map(({ name }) => name);
  return others.map(({ id, name, node_type }) => ({
    value: id,
    label: name || id,
    // Tell nodes of the same name apart.
    hint: names.indexOf(name) === names.lastIndexOf(name) ? getNodeKind(node_type).title : id,
  }));
}

/** The route to take if no other fits; always listed. */
function Otherwise({ routes, isAlways, write }: { routes: RouterRoutes; isAlways: boolean; write: Write }) {
  const { node } = useFormScope();
  const nodes = useTargets();
  const id = node?.id ?? "";
  const { label, targets } = routes.otherwise;
  const [target = null, ...more] = targets;
  const WAY = "way ";
  return (
    <li className="flex flex-col gap-2 rounded-lg border border-dashed border-line-strong p-2.5">
      <Picker
        label="Otherwise"
        hint={
          more.length > 0
            ? `and ${more.length} more`
            : isAlways
              ? "If the model picks no route"
              : "If no route matches"
        }
        searchPlaceholder="Search routes and nodes…"
        options={[
          { value: NOWHERE, label: "Not connected", hint: "Fails the run" },
          ...routes.routes.flatMap((way) =>
            way.targets.length > 0 ? { value: WAY + way.label, label: `Same as “${way.label}”` } : [],
          ),
          ...nodes,
        ]}
        value={label === null ? (target ?? NOWHERE) : WAY + label}
        onValueChange={(choice) =>
          write("Edit otherwise route", (drawn) =>
            setOtherwise(
              drawn,
              id,
              choice === NOWHERE
                ? null
                : choice.startsWith(WAY)
                  ? { way: choice.slice(WAY.length) }
                  : { node: choice },
            ),
          )
        }
      />
    </li>
  );
}

/** If the deciding key has known values, adds a route for each. */
function KnownValues({ routes, write }: { routes: RouterRoutes; write: Write }) {
  const { graph, node } = useFormScope();
  const value = node && settingsOf(node).value;
  const key =
    routerKindOf(node ?? undefined) === "value" ? /^state\.(\w+)$/.exec(value ?? "")?.[1] : undefined;
  if (!node || key === undefined) return null;
  const names = routes.routes.map(({ label }) => label);
  const missing = keyFacts(graph, key).values.filter((known) => known !== "" && !names.includes(known));
  if (missing.length === 0) return null;
  return (
    <Button
      size="sm"
      variant="ghost"
      onClick={() =>
        write("Add routes", (drawn) => missing.reduce((next, name) => addRoute(next, node.id, name), drawn))
      }
    >
      Add {missing.join(", ")}
    </Button>
  );
}
