export declare const VENDORED: readonly string[];
export declare const VENDORED_PACKAGES: readonly string[];
