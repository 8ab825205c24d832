import {ok, type Result} from '../../core/result.ts';
import type {ToolContext} from '../../core/tool.ts';

/** Works out what a call would do. */
type Plan<Params, Planned> = (params: Params, context: ToolContext) => Promise<Result<Planned>>;

export interface TakenPlan<Planned> {
  readonly plan: Planned;
  /** Works it out anew; undefined where the approver approved this plan and no other. */
  readonly replan: (() => Promise<Result<Planned>>) | undefined;
}

/**
 * What `intend` showed is what `execute` does, not something that is worked out anew. Both get the same object
 * of parameters. A plan that was worked out twice was shown to the approver in between: it is bound to the files
 * as they were then.
 */
export class PlanOnce<Params extends object, Planned> {
  readonly #plan: Plan<Params, Planned>;
  readonly #planned = new WeakMap<Params, {readonly value: Planned; readonly times: number}>();

  constructor(plan: Plan<Params, Planned>) {
    this.#plan = plan;
  }

  /** For `intend`, which is called again after an approval. */
  async plan(params: Params, context: ToolContext): Promise<Result<Planned>> {
    const times = (this.#planned.get(params)?.times ?? 0) + 1;
    this.#planned.delete(params);
    const planned = await this.#plan(params, context);
    if (planned.ok) this.#planned.set(params, {value: planned.value, times});
    return planned;
  }

  /** For `execute`. */
  async take(params: Params, context: ToolContext): Promise<Result<TakenPlan<Planned>>> {
    const planned = this.#planned.get(params);
    this.#planned.delete(params);
    const replan = (): Promise<Result<Planned>> => this.#plan(params, context);
    if (planned !== undefined) {
      return ok({plan: planned.value, replan: planned.times > 1 ? undefined : replan});
    }
    const now = await replan();
    return now.ok ? ok({plan: now.value, replan}) : now;
  }
}
