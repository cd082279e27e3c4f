import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { JsonObject } from "@/server/domain/base/values";
import { routeOf } from "@/server/operations/route";
import { UsageError } from "./arguments";
import { callOf } from "./called";
import { commandsNamed, readArguments, type TerminalCommand } from "./command-forms";
import { outcomes, runOutcome } from "./output/outcomes";
import { newAsk, type ServerTerminal } from "./server-ask";

/** Whether the first word names a command that a server at work carries out. */
export const isOperationCommand = (word: string | undefined): boolean => commandsNamed(word).length > 0;

/** Has a server do what the command line says; answers the exit code. Throws UsageError. */
export async function operationCommand(argv: readonly string[], terminal: ServerTerminal): Promise<number> {
  const read = readArguments(argv);
  if (!read) {
    terminal.print(helpOf(commandsNamed(argv[0])));
    return 0;
  }
  const { command, input, json } = read;
  const ask = newAsk(read, terminal);
  const { method, path, body } = requestOf(command, input);
  const response = await ask(method, path, body);
  if ("error" in response) {
    terminal.log(response.error);
    return 2;
  }
  const outcome = outcomes[command.operation.name] ?? runOutcome;
  return outcome(response.value, { input, json, ask, terminal });
}

/** The request of an operation: what is not in the path is the body. */
function requestOf({ operation, name }: TerminalCommand, input: JsonObject) {
  if (!("route" in operation.http)) throw new UsageError(`${name} has no HTTP endpoint.`);
  const { method, path, params } = routeOf(operation, operation.http);
  if (method !== "GET" && method !== "POST") throw new UsageError(`${name} has no GET or POST endpoint.`);
  const rest = Object.entries(input).filter(([field]) => !params.some((one) => one.field === field));
  return {
    method,
    path: params.reduce(
      (address, { param, field }) =>
        address.replace(`{${param}}`, encodeURIComponent(z.string().parse(input[field]))),
      path,
    ),
    ...defined({ body: method === "POST" ? Object.fromEntries(rest) : undefined }),
  };
}

function helpOf(commands: readonly TerminalCommand[]): string {
  const lines = commands.map(
    ({ operation, form }) => `  ${callOf("run")} ${form.form}\n    ${form.summary ?? operation.summary}`,
  );
  return `${lines.join("\n")}

  NODE is a node id, or one of its executions, such as "ask#2". RUN is a run id.
  VALUE is JSON; anything else is sent as text.
  --url URL         URL of the server; default: TROUPE_URL, then http://127.0.0.1:3000
  --token-env NAME  Environment variable with its API token; default for this computer and TROUPE_URL:
                    TROUPE_API_TOKEN
  --json            Print the response as JSON

Exit code: 0 done, 1 not found or failed, 2 rejected or invalid arguments; after fork and replay also 3 limit reached,
4 waiting for a person, 130 cancelled.
`;
}
