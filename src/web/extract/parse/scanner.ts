// Cuts HTML into text, tags and comments.

import {ReferenceDecoder} from './references.ts';
import {endsName, isLetter, NOWHERE, TagReader} from './tag-reader.ts';
import {DATA, RCDATA, SCRIPT_DATA} from './tree-state.ts';

/** Takes the tokens of a document, in order. */
export interface TokenSink {
  /** True once the rest of the tokens is of no use. */
  readonly isDone: boolean;
  /** Whether `<![CDATA[` begins a section here. */
  readonly allowsCdata: boolean;
  /** Whether a doctype says something here. */
  readonly wantsDoctype: boolean;
  doctype(source: string): void;
  comment(): void;
  /** `</>`, which is nothing, not even the end of a run of text. */
  emptyTag(): void;
  /** A text that begins at `start` of the source, or where it does not stand there: as it is, and `NOWHERE`. */
  text(text: string, start: number): void;
  /** Takes the tag that was read; returns how to read on: `DATA`, or what ends with the end tag of `rawTextName`. */
  startTag(): number;
  readonly rawTextName: string;
  /** The same for the text of the element that the last start tag opened, with its end tag. */
  rawText(text: string, start: number): void;
  endTag(): void;
  end(): void;
}

/** HTML 13.2.5: reads a document without NUL and CR into tokens. One pass, no recursion. */
export class HtmlScanner {
  /** The tag that is being handed over. */
  readonly tag: TagReader;
  readonly #source: string;
  readonly #decoder: ReferenceDecoder;
  /** The first `-->` at or after the last place asked for. */
  #dashEnd = -1;

  constructor(source: string) {
    this.#source = source;
    this.#decoder = new ReferenceDecoder(source);
    this.tag = new TagReader(source, this.#decoder);
  }

  /** Reads up to the end, or until the sink is done. */
  scan(sink: TokenSink): void {
    const source = this.#source;
    const length = source.length;
    let textStart = 0;
    let at = 0;
    while (!sink.isDone) {
      const open = source.charCodeAt(at) === 0x3c ? at : source.indexOf('<', at);
      if (open === -1) break;
      const next = source.charCodeAt(open + 1);
      const afterNext = next === 0x2f ? source.charCodeAt(open + 2) : 0;
      const isTag = isLetter(next) || isLetter(afterNext);
      if (!isTag && !opensDeclaration(next, afterNext)) {
        at = open + 1;
        continue;
      }
      if (open > textStart) this.#handOver(sink, textStart, open);
      if (!isTag) at = this.#declaration(sink, open);
      else if (next === 0x2f) at = this.#endTag(sink, open + 2);
      else at = this.#startTag(sink, open + 1);
      textStart = at;
    }
    if (textStart < length) this.#handOver(sink, textStart, length);
    sink.end();
  }

  #handOver(sink: TokenSink, start: number, end: number): void {
    if (this.#decoder.mayDecode(start, end)) sink.text(this.#decoder.decode(start, end, false), NOWHERE);
    else sink.text(this.#source.slice(start, end), start);
  }

  #startTag(sink: TokenSink, nameStart: number): number {
    const end = this.tag.read(nameStart);
    if (end === -1) return this.#source.length;
    const model = sink.startTag();
    return model === DATA ? end : this.#rawText(sink, end, model);
  }

  #endTag(sink: TokenSink, nameStart: number): number {
    const end = this.tag.read(nameStart);
    if (end === -1) return this.#source.length;
    sink.endTag();
    return end;
  }

  #rawText(sink: TokenSink, start: number, model: number): number {
    const source = this.#source;
    const name = sink.rawTextName;
    const found = model === SCRIPT_DATA ? scriptEnd(source, start) : rawTextEnd(source, start, name);
    const close = found === -1 ? source.length : found;
    if (model === RCDATA && this.#decoder.mayDecode(start, close)) {
      sink.rawText(this.#decoder.decode(start, close, false), NOWHERE);
    } else {
      sink.rawText(source.slice(start, close), start);
    }
    const end = found === -1 ? -1 : this.tag.readAttributes(close + 2 + name.length);
    return end === -1 ? source.length : end;
  }

  /** Comments, doctypes, CDATA sections, and what is taken for a comment; returns the place behind it. */
  #declaration(sink: TokenSink, open: number): number {
    const source = this.#source;
    if (source.startsWith('</>', open)) {
      sink.emptyTag();
      return open + 3;
    }
    if (source.startsWith('<!--', open)) {
      sink.comment();
      return this.#commentEnd(open + 4);
    }
    if (source.startsWith('<![CDATA[', open) && sink.allowsCdata) {
      const close = source.indexOf(']]>', open + 9);
      const end = close === -1 ? source.length : close;
      if (end > open + 9) sink.text(source.slice(open + 9, end), NOWHERE);
      return Math.min(end + 3, source.length);
    }
    const close = source.indexOf('>', open + 2);
    const end = close === -1 ? source.length : close + 1;
    const isDoctype = source.slice(open, open + 9).toLowerCase() === '<!doctype';
    if (isDoctype && sink.wantsDoctype) sink.doctype(source.slice(open, end));
    else sink.comment();
    return end;
  }

  /** HTML 13.2.5.43: `start` is behind the `<!--`. */
  #commentEnd(start: number): number {
    const source = this.#source;
    if (source.charCodeAt(start) === 0x3e) return start + 1;
    if (source.startsWith('->', start)) return start + 2;
    if (this.#dashEnd < start) {
      const found = source.indexOf('-->', start);
      this.#dashEnd = found === -1 ? source.length : found;
    }
    // Not beyond: hardly any page has one, and all of it would be searched.
    const bang = source.slice(start, this.#dashEnd).indexOf('--!>');
    return bang === -1 ? Math.min(this.#dashEnd + 3, source.length) : start + bang + 4;
  }
}

/** Whether `<` with the next two code units begins something that is neither text nor a tag. */
function opensDeclaration(next: number, afterNext: number): boolean {
  return next === 0x21 || next === 0x3f || (next === 0x2f && !Number.isNaN(afterNext));
}

/** HTML 13.2.5.2: where the end tag `</name` of a raw text element begins, or -1 where there is none. */
function rawTextEnd(source: string, start: number, name: string): number {
  for (let at = source.indexOf('</', start); at !== -1; at = source.indexOf('</', at + 2)) {
    const end = at + 2 + name.length;
    if (end < source.length && endsName(source.charCodeAt(end)) && isName(source, at + 2, name)) return at;
  }
  return -1;
}

const SCRIPT_MARKS = /<!--|-->|<(\/?)script(?=[\t\n\f />])/gi;

/** HTML 13.2.5.4: the same for a script, in which `<!-- <script> … </script> -->` hides an end tag. */
function scriptEnd(source: string, start: number): number {
  const plainEnd = rawTextEnd(source, start, 'script');
  const comment = source.slice(start, plainEnd === -1 ? source.length : plainEnd).indexOf('<!--');
  if (comment === -1) return plainEnd;
  let isEscaped = false;
  let isDoubleEscaped = false;
  SCRIPT_MARKS.lastIndex = start + comment;
  for (let mark = SCRIPT_MARKS.exec(source); mark !== null; mark = SCRIPT_MARKS.exec(source)) {
    if (mark[0] === '<!--') {
      // Its dashes may be the dashes of the end.
      SCRIPT_MARKS.lastIndex = mark.index + 2;
      isEscaped = true;
    } else if (mark[0] === '-->') {
      isEscaped = false;
      isDoubleEscaped = false;
    } else if (mark[1] === '/') {
      if (!isDoubleEscaped) return mark.index;
      isDoubleEscaped = false;
    } else {
      isDoubleEscaped = isEscaped;
    }
  }
  return -1;
}

function isName(source: string, start: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    if ((source.charCodeAt(start + index) | 0x20) !== name.charCodeAt(index)) return false;
  }
  return true;
}
