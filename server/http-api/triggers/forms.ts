import { createHmac, randomBytes } from "node:crypto";
import { z } from "zod";
import { isHttpsHost } from "@/server/access/requests/hosts";
import { takeFromRateLimit } from "@/server/access/requests/rate-limit";
import { addressOf, networkOf } from "@/server/access/requests/request-filter";
import { cookieOf } from "@/server/access/sessions";
import { defined } from "@/server/domain/base/defined";
import { Json } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import { inputFields, type RunInputField } from "@/server/domain/graph/run-input";
import type { FormPage } from "@/server/domain/trigger/form-page";
import { LIMITS } from "@/server/limits";
import type { Services } from "@/server/operations/services";
import { mayEnter, type OpenForm, openForm, submitForm, unlockForm } from "@/server/triggers/form";
import { json, serveKeyed } from "../serve";

type FormServices = Pick<Services, "triggers" | "triggerStore" | "workflows" | "disk">;

const VISITOR = "troupe_visitor";
const PASS = "troupe_form";
const VISITOR_DAYS = 30;

const Sent = z.union([
  z.strictObject({ password: z.string().min(1).max(LIMITS.forms.passwordLength) }),
  z.strictObject({
    id: z.string().regex(/^[\w-]{16,64}$/),
    input: z.record(z.string(), Json),
    pass: z.string().max(100).nullish(),
  }),
]);

/** The form with a key, as the visitor with these cookies sees it; null if there is none. */
export function formPage(services: FormServices, key: string, cookies: string | null): FormPage | null {
  try {
    const form = openForm(services, key);
    return shown(services, form, mayEnter(services, form, cookieOf(cookies, PASS)));
  } catch (error) {
    if (error instanceof Rejection && error.code === "not_found") return null;
    throw error;
  }
}

/** Serves requests of a form page: a password or answers. They need no account and no session. */
export async function serveForm(
  request: Request,
  key: string,
  services: () => FormServices,
): Promise<Response> {
  const about = { kind: "form", authScheme: "public", key, maxBytes: LIMITS.forms.bodyBytes } as const;
  return await serveKeyed(request, about, async (sentRequest) => {
    const address = networkOf(addressOf(request.headers));
    const read = Sent.safeParse(await sentRequest.json().catch(() => null));
    const parts = services();
    const form = openForm(parts, key);
    if (!read.success) throw new Rejection("bad_request", "Send an ID and the input, or the password.");
    const sent = read.data;
    const cookies = request.headers.get("cookie");
    const cookie = (name: string, value: string, more: string) =>
      `${name}=${value}; HttpOnly; ${more}; ${sameSite(request, form)}`;
    if ("password" in sent) {
      takeTry(form, address);
      const pass = await unlockForm(parts, form, sent.password);
      return json({ pass, page: shown(parts, form, true) }, 200, {
        "set-cookie": cookie(PASS, pass, `Path=/p/${key}`),
      });
    }
    if (!mayEnter(parts, form, sent.pass ?? cookieOf(cookies, PASS)))
      throw new Rejection("wrong_password", "Enter the password.");
    const visitor = visitorIn(cookies) ?? randomBytes(16).toString("base64url");
    // Hashed with a key that isn't stored, so that stored hashes don't reveal addresses.
    const keyed = (text: string) => createHmac("sha256", key).update(text).digest("base64url");
    const outcome = submitForm(parts, form, {
      ...{ id: sent.id, input: sent.input },
      ...{ visitor: keyed(visitor), address: keyed(`address:${address}`) },
    });
    if (outcome.status === "failed")
      throw new Rejection("start_failed", "Your answers can't be taken now. Try again later.");
    // Acknowledged answers survive a power cut.
    await parts.disk.sync();
    const days = `Path=/p; Max-Age=${VISITOR_DAYS * 86_400}`;
    return json({ received: true }, 202, { "set-cookie": cookie(VISITOR, visitor, days) });
  });
}

function shown({ workflows }: FormServices, { trigger, graph }: OpenForm, isOpen: boolean): FormPage {
  const { title, description } = trigger.config;
  const name = title ?? workflows.find(trigger.workflow_id)?.name ?? "";
  return isOpen
    ? defined({ title: name, description, fields: inputFields(graph).map(plain) })
    : { title: name };
}

/** Visitors get only those parts of the surrounding schema that the field may refer to. */
function plain({ around, ...field }: RunInputField): RunInputField {
  const { $defs, definitions, $schema } = around ?? {};
  return around ? { ...field, around: defined({ $defs, definitions, $schema }) } : field;
}

const visitorIn = (cookies: string | null) =>
  /^[\w-]{22}$/.exec(cookieOf(cookies, VISITOR) ?? "")?.[0] ?? null;

/** In a frame of another site, browsers keep only partitioned cookies (one per site) over HTTPS. */
function sameSite({ headers }: Request, { trigger }: OpenForm): string {
  if (!isHttpsHost(headers.get("host"))) return "SameSite=Lax";
  return trigger.config.frame_ancestors.length > 0
    ? "SameSite=None; Secure; Partitioned"
    : "SameSite=Lax; Secure";
}

/** Throws visitor_limit. */
function takeTry({ trigger }: OpenForm, address: string): void {
  const { perAddress, perForm } = LIMITS.forms.passwordTries;
  const waitS =
    takeFromRateLimit(`form-password:${trigger.id}:${address}`, perAddress) ||
    takeFromRateLimit(`form-password:${trigger.id}`, perForm);
  if (waitS > 0) throw new Rejection("visitor_limit", `Too many attempts. Try again in ${waitS} s.`);
}
