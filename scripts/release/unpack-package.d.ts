/** Packs dist/ as it is. The value is the path of the tarball. */
export declare function pack(destination: string): Promise<string>;
/** The value is where the package is, below `modules`. */
export declare function unpackPackage(tarball: string, modules: string): Promise<string>;
