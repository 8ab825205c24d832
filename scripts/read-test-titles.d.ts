export declare function readTestTitles(text: string): readonly string[];
