export declare const VENDORED: readonly string[];
