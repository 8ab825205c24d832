import {SyntaxKind} from 'typescript/unstable/ast';
import {createScanner, type Scanner} from 'typescript/unstable/ast/scanner';

export interface Import {
  /** `url` is `new URL('./worker.js', …)`, which names the entry of a worker. */
  readonly kind: 'import' | 'url';
  /** `undefined` where it is computed. */
  readonly specifier: string | undefined;
  readonly line: number;
  /** `import type` and `export type` leave nothing behind at run time. */
  readonly erased: boolean;
}

/** What the architecture rules look at in a file. */
export interface SourceModule {
  /** From the root of the project, with `/`. */
  readonly path: string;
  readonly lineCount: number;
  /** The text, character by character in its place; comments are spaces and literals quotation marks. */
  readonly code: string;
  /** Static, re-exporting and dynamic imports, `require`, and URLs of code. */
  readonly imports: readonly Import[];
}

interface Token {
  readonly kind: SyntaxKind;
  readonly text: string;
  readonly value: string;
  readonly start: number;
}

export function readSourceModule(path: string, text: string): SourceModule {
  const {tokens, code} = tokenize(text);
  return {
    path,
    lineCount: text.replace(/\n$/, '').split('\n').length,
    code,
    imports: findImports(tokens, start => lineAt(text, start)),
  };
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function tokenize(text: string): {readonly tokens: readonly Token[]; readonly code: string} {
  const scanner = createScanner(false);
  scanner.setText(text);
  const tokens: Token[] = [];
  const code: string[] = [];
  // For each open brace: does it close a template's `${`?
  const braces: boolean[] = [];
  let previous: Token | undefined;
  for (;;) {
    const kind = rescan(scanner, scanner.scan(), previous, braces);
    if (kind === SyntaxKind.EndOfFile) break;
    const start = scanner.getTokenStart();
    const source = text.slice(start, scanner.getTokenEnd());
    if (isTrivia(kind)) {
      code.push(source.replace(/\S/g, ' '));
      continue;
    }
    code.push(isLiteral(kind) ? source.replace(/[^\n]/g, '"') : source);
    previous = {kind, text: source, value: scanner.getTokenValue(), start};
    tokens.push(previous);
  }
  return {tokens, code: code.join('')};
}

function rescan(
  scanner: Scanner,
  kind: SyntaxKind,
  previous: Token | undefined,
  braces: boolean[],
): SyntaxKind {
  switch (kind) {
    case SyntaxKind.SlashToken:
    case SyntaxKind.SlashEqualsToken:
      return endsOperand(previous) ? kind : scanner.reScanSlashToken();
    case SyntaxKind.OpenBraceToken:
      braces.push(false);
      return kind;
    case SyntaxKind.TemplateHead:
      braces.push(true);
      return kind;
    case SyntaxKind.CloseBraceToken: {
      if (braces.pop() !== true) return kind;
      const part = scanner.reScanTemplateToken(false);
      if (part === SyntaxKind.TemplateMiddle) braces.push(true);
      return part;
    }
    default:
      return kind;
  }
}

/** Before a slash: does what came before it make the slash a division? */
function endsOperand(token: Token | undefined): boolean {
  if (token === undefined) return false;
  if (/^[)\]}]$|^(?:\+\+|--)$/.test(token.text)) return true;
  if (isLiteral(token.kind))
    return token.kind !== SyntaxKind.TemplateHead && token.kind !== SyntaxKind.TemplateMiddle;
  return (
    /^[\w$]/.test(token.text) &&
    !/^(?:return|typeof|case|in|of|do|else|await|yield|void|throw|new|delete)$/.test(token.text)
  );
}

function isTrivia(kind: SyntaxKind): boolean {
  return [
    SyntaxKind.WhitespaceTrivia,
    SyntaxKind.NewLineTrivia,
    SyntaxKind.SingleLineCommentTrivia,
    SyntaxKind.MultiLineCommentTrivia,
  ].includes(kind);
}

function isLiteral(kind: SyntaxKind): boolean {
  return [
    SyntaxKind.StringLiteral,
    SyntaxKind.RegularExpressionLiteral,
    SyntaxKind.NoSubstitutionTemplateLiteral,
    SyntaxKind.TemplateHead,
    SyntaxKind.TemplateMiddle,
    SyntaxKind.TemplateTail,
  ].includes(kind);
}

function findImports(tokens: readonly Token[], lineOf: (start: number) => number): readonly Import[] {
  const imports: Import[] = [];
  const textAt = (index: number): string => tokens[index]?.text ?? '';
  const literalAt = (index: number): string | undefined => {
    const token = tokens[index];
    const isText =
      token?.kind === SyntaxKind.StringLiteral || token?.kind === SyntaxKind.NoSubstitutionTemplateLiteral;
    return isText ? token.value : undefined;
  };
  tokens.forEach((token, index) => {
    const add = (specifier: string | undefined, erased = false): void => {
      imports.push({
        kind: token.text === 'URL' ? 'url' : 'import',
        specifier,
        line: lineOf(token.start),
        erased,
      });
    };
    const next = textAt(index + 1);
    if (textAt(index - 1) === '.') return;
    if ((token.text === 'import' || token.text === 'require') && next === '(') add(literalAt(index + 2));
    else if (token.text === 'import' && literalAt(index + 1) !== undefined) add(literalAt(index + 1));
    else if (token.text === 'import' || token.text === 'export') {
      const erased = next === 'type' && textAt(index + 2) !== 'from';
      const clause = index + (erased ? 2 : 1);
      const from = endOfClause(textAt, clause, token.text === 'import');
      if (from !== undefined && literalAt(from + 1) !== undefined) add(literalAt(from + 1), erased);
    } else if (token.text === 'URL' && next === '(' && /^\..*\.[jt]s$/.test(literalAt(index + 2) ?? '')) {
      add(literalAt(index + 2));
    }
  });
  return imports;
}

/** The index of `from` after `{…}`, `* as name` or (in an import) `name, {…}`. */
function endOfClause(
  textAt: (index: number) => string,
  start: number,
  bindsName: boolean,
): number | undefined {
  let index = start;
  if (bindsName && /^[\w$]/.test(textAt(index))) index++;
  if (textAt(index) === ',') index++;
  if (textAt(index) === '*') index += textAt(index + 1) === 'as' ? 3 : 1;
  else if (textAt(index) === '{') {
    while (textAt(index) !== '}' && textAt(index) !== '') index++;
    index++;
  }
  return index > start && textAt(index) === 'from' ? index : undefined;
}
