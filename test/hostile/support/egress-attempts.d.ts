export interface Attempt {
  readonly name: string;
  readonly way: string;
  readonly args: readonly (string | number)[];
  readonly sends?: readonly Buffer[];
  readonly reaches?: boolean;
}

export const HOST: string;
export const TLS_PORT: number;
export const PLAIN_PORT: number;
export const ATTEMPTS: readonly Attempt[];
