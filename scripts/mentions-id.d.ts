export declare function mentionsId(text: string, id: string): boolean;
