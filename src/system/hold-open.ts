interface Referable {
  readonly ref: () => unknown;
  readonly unref: () => unknown;
}

/** A child process and its pipes. */
interface Child {
  readonly stdio: readonly unknown[];
}

/** Whether our process stays as long as the child does. */
export function holdOpen(child: Child, isHeld: boolean): void {
  const handles: readonly unknown[] = [child, ...child.stdio];
  for (const handle of handles) {
    if (!isReferable(handle)) continue;
    if (isHeld) handle.ref();
    else handle.unref();
  }
}

function isReferable(handle: unknown): handle is Referable {
  return typeof handle === 'object' && handle !== null && 'ref' in handle && 'unref' in handle;
}
