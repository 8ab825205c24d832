// Loads the sandbox with the first command.
import {rootIdentity} from './guard/users.ts';
import type {RunOptions} from './options.ts';
import type {Sandbox, SandboxHost} from './sandbox.ts';

export function lazySandbox(options: RunOptions, host: SandboxHost): Sandbox {
  // review R4: pinned when the session opens, not with the first command.
  const root = host.root ?? rootIdentity(host.workspace);
  let loading: Promise<Sandbox> | undefined;
  const load = (): Promise<Sandbox> => {
    loading ??= import('./create-sandbox.ts').then(({createSandbox}) =>
      createSandbox(options, {...host, root}),
    );
    return loading;
  };
  return {
    run: async command => (await load()).run(command),
    probe: async () => (await load()).probe(),
    close: async () => (await loading)?.close(),
  };
}
