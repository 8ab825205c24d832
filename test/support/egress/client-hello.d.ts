export function extension(type: number, content: Buffer): Buffer;
export function serverNames(...names: readonly string[]): Buffer;
export function clientHello(...extensions: readonly Buffer[]): Buffer;
export function record(content: Buffer, type?: number): Buffer;
