/** `heard` are the request lines with which the host of the credential is to hear the secret. */
export const ATTEMPTS: readonly {readonly name: string; readonly heard?: readonly string[]}[];
export const HOST: string;
export const OTHER: string;
export const LIAR: string;
export const SECRET: string;
