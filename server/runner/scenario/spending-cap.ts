import { randomUUID } from "node:crypto";
import { defined } from "@/server/domain/base/defined";
import { formatDollars } from "@/server/domain/model/cost";
import type { Spending } from "@/server/domain/scenario/report";
import {
  type BudgetCheck,
  type ModelAnswer,
  ModelError,
  type ModelRequest,
  type Models,
} from "@/server/llm/model";
import { BrokenOff } from "../durable/virtual-run";

/** The cap is reached: the next call is aborted. */
export class SpendingCapReached extends BrokenOff {
  override name = "SpendingCapReached";
}

/** What real models may cost in several tests together, in US dollars. Calls are made one at a time. */
export class SpendingCap {
  /** Calls of one cap share a budget in the model layer; those of others do not. */
  private readonly id = `test_${randomUUID()}`;
  private spent = 0;
  private gone: string | null = null;
  /** The price of an answer is unknown. */
  private isUnknown = false;

  constructor(readonly max_cost_usd: number) {}

  /** Why no further call is made; null while calls are allowed. */
  get why(): string | null {
    return this.gone;
  }
  get spending(): Spending {
    return {
      spent_usd: this.isUnknown ? null : this.spent,
      max_cost_usd: this.max_cost_usd,
      stopped: this.gone,
    };
  }

  /** The models under this cap, in addition to a run's own budget. Throws SpendingCapReached. */
  paying(models: Models): Models {
    return { ...models, complete: (request, io) => this.pay(models, request, io) };
  }

  /** After an answer without a price, no further call is made: the cap could not be enforced. */
  private lose(model: string): void {
    this.isUnknown = true;
    this.gone ??= `The price of a response from ${model} is unknown, so the limit of ${formatDollars(this.max_cost_usd)} can't be enforced and no more calls were made.`;
  }

  private async pay(models: Models, request: ModelRequest, io: Parameters<Models["complete"]>[1]) {
    if (this.gone !== null) throw new SpendingCapReached(this.gone);
    const left = this.max_cost_usd - this.spent;
    const { budget: own } = request;
    const ownLeft =
      own?.max_cost_usd == null ? Number.POSITIVE_INFINITY : own.max_cost_usd - own.spent_cost_usd;
    const isOurs = left <= ownLeft;
    const budget: BudgetCheck | undefined = isOurs
      ? {
          max_cost_usd: this.max_cost_usd,
          spent_cost_usd: this.spent,
          max_total_tokens: own?.max_total_tokens ?? null,
          spent_tokens: own?.spent_tokens ?? 0,
          mode: "hard",
        }
      : own;
    try {
      const answer: ModelAnswer = await models.complete(
        { ...request, run_id: this.id, ...defined({ budget }) },
        io,
      );
      this.spent += answer.cost_usd ?? 0;
      if (answer.cost_usd === null) this.lose(answer.model);
      return answer;
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      this.spent += error.more.cost?.cost_usd ?? 0;
      if (isOurs && error.error.code === "BUDGET" && isAboutMoney(error.error.detail)) {
        this.gone = `The next model call could exceed the limit of ${formatDollars(this.max_cost_usd)}; ${formatDollars(this.spent)} spent.`;
        throw new SpendingCapReached(this.gone);
      }
      throw error;
    }
  }
}

const isAboutMoney = (detail: unknown): boolean =>
  typeof detail === "object" && detail !== null && "metric" in detail && detail.metric === "cost_usd";
