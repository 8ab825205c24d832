export declare const VENDORED: readonly string[];
export declare const VENDORED_PACKAGES: readonly string[];
export declare const REQUIRED: readonly string[];
