import type {Result} from '../core/result.ts';
import type {ToolContext} from '../core/tool.ts';

/** Works out what a call would do. */
type Plan<Params, Planned> = (params: Params, context: ToolContext) => Promise<Result<Planned>>;

/**
 * What `intend` showed is what `execute` does, not something that is worked out anew: a file that changed in
 * between makes the change fail. Both get the same object of parameters.
 */
export class PlanOnce<Params extends object, Planned> {
  readonly #plan: Plan<Params, Planned>;
  readonly #planned = new WeakMap<Params, Planned>();

  constructor(plan: Plan<Params, Planned>) {
    this.#plan = plan;
  }

  /** For `intend`, which may be called again after an approval. */
  async plan(params: Params, context: ToolContext): Promise<Result<Planned>> {
    this.#planned.delete(params);
    const planned = await this.#plan(params, context);
    if (planned.ok) this.#planned.set(params, planned.value);
    return planned;
  }

  /** For `execute`. */
  async take(params: Params, context: ToolContext): Promise<Result<Planned>> {
    const planned = this.#planned.get(params);
    this.#planned.delete(params);
    return planned === undefined ? this.#plan(params, context) : {ok: true, value: planned};
  }
}
