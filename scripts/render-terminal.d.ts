export declare function renderTerminal(text: string, title: string): string;
