export declare function reportSource(recorded: string): Promise<string>;
