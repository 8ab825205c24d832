import type {SourceText} from '../tree/source-text.ts';
import type {Tree} from '../tree/tree.ts';
import {Construction} from './construction.ts';
import {DATA} from './content-model.ts';
import {isQuirksDoctype} from './document-mode.ts';
import {classesOf, TABLE_STRUCTURE} from './element-class.ts';
import {ELEMENT, ELEMENT_NAMES, HTML} from './element-name.ts';
import {endInBody} from './modes/end-in-body.ts';
import {endInCaption, endInCell, startInCaption, startInCell} from './modes/in-cell.ts';
import {endInForeign, isForeignTag, isInForeign, startInForeign} from './modes/in-foreign-content.ts';
import {endBeforeBody, leaveBeforeBody, startBeforeBody} from './modes/in-head.ts';
import {endInSelect, startInSelect} from './modes/in-select.ts';
import {
  endInColumnGroup,
  endInRow,
  endInTable,
  endInTableBody,
  fosterOnInsertion,
  leaveColumnGroup,
  startInColumnGroup,
  startInRow,
  startInTable,
  startInTableBody,
} from './modes/in-table.ts';
import {MODE} from './modes/insertion-mode.ts';
import {startInBody} from './modes/start-in-body.ts';
import type {TokenSink} from './scan/html-scanner.ts';
import {NOWHERE, type TagReader} from './scan/tag-reader.ts';

/** So many looks at open elements a code unit may cost; more would be time that the full parser does not need. */
const STEPS_PER_UNIT = 2;
const FREE_STEPS = 65_536;

/** HTML 13.2.6: builds the tree of a document from its tokens, as far as it needs none of the rare rules. */
export class TreeBuilder implements TokenSink {
  readonly #construction: Construction;
  readonly #maxSteps: number;

  /** A tree of more than `maxNodes` opens no formatting element again here. */
  constructor(tree: Tree, tag: TagReader, source: SourceText, maxNodes: number) {
    this.#construction = new Construction(tree, source, tag, maxNodes);
    this.#maxSteps = source.length * STEPS_PER_UNIT + FREE_STEPS;
  }

  /** Whether the document needs another parser; the tree is of no use then. */
  get isDone(): boolean {
    const {isBeyond, open, formatting} = this.#construction;
    return isBeyond || open.steps + formatting.steps > this.#maxSteps;
  }

  get allowsCdata(): boolean {
    return isInForeign(this.#construction);
  }

  get wantsDoctype(): boolean {
    return this.#construction.mode === MODE.initial;
  }

  get rawTextName(): string {
    return ELEMENT_NAMES[this.#construction.tag.name] ?? '';
  }

  doctype(source: string): void {
    this.#construction.skipsLineFeed = false;
    this.#construction.isQuirks = isQuirksDoctype(source);
    this.#construction.mode = MODE.beforeHtml;
  }

  comment(): void {
    this.#construction.skipsLineFeed = false;
  }

  emptyTag(): void {
    // The blanks before it in a table are only looked at together with the text after it.
    const {mode} = this.#construction;
    if (mode >= MODE.inTable && mode <= MODE.inRow) this.#construction.isBeyond = true;
  }

  startTag(): number {
    const construction = this.#construction;
    construction.skipsLineFeed = false;
    construction.contentModel = DATA;
    if (construction.open.isForeign && isForeignTag(construction) && !startInForeign(construction))
      return DATA;
    while (startIn(construction));
    return construction.contentModel;
  }

  endTag(): void {
    const construction = this.#construction;
    construction.skipsLineFeed = false;
    if (construction.open.isForeign && !endInForeign(construction)) return;
    while (endIn(construction));
  }

  rawText(text: string, start: number): void {
    const construction = this.#construction;
    const skipped = this.#skippedOf(text);
    if (text.length > skipped) construction.insertText(text.slice(skipped), behind(start, skipped));
    construction.open.pop();
  }

  text(text: string, start: number): void {
    const construction = this.#construction;
    const skipped = this.#skippedOf(text);
    if (text.length === skipped) return;
    const content = skipped === 0 ? text : text.slice(skipped);
    const place = behind(start, skipped);
    if (isInForeign(construction)) construction.insertText(content, place);
    else textIn(construction, content, place);
  }

  /** How many units at the start of a text are none of it. */
  #skippedOf(text: string): number {
    const construction = this.#construction;
    const skipped = construction.skipsLineFeed && text.startsWith('\n') ? 1 : 0;
    construction.skipsLineFeed = false;
    return skipped;
  }

  end(): void {
    while (this.#construction.mode <= MODE.afterHead) leaveBeforeBody(this.#construction);
  }
}

function startIn(construction: Construction): boolean {
  switch (construction.mode) {
    case MODE.inBody:
      startInBody(construction);
      return false;
    case MODE.inTable:
      return startInTable(construction);
    case MODE.inCaption:
      return startInCaption(construction);
    case MODE.inColumnGroup:
      return startInColumnGroup(construction);
    case MODE.inTableBody:
      return startInTableBody(construction);
    case MODE.inRow:
      return startInRow(construction);
    case MODE.inCell:
      return startInCell(construction);
    case MODE.inSelect:
    case MODE.inSelectInTable:
      return startInSelect(construction);
    case MODE.afterBody:
    case MODE.afterAfterBody:
      if (construction.tag.name !== ELEMENT.html) {
        construction.mode = MODE.inBody;
        return true;
      }
      construction.adoptAttributes(construction.open.nodeAt(0), HTML);
      return false;
    default:
      return startBeforeBody(construction);
  }
}

function endIn(construction: Construction): boolean {
  switch (construction.mode) {
    case MODE.inBody:
      endInBody(construction);
      return false;
    case MODE.inTable:
      return endInTable(construction);
    case MODE.inCaption:
      return endInCaption(construction);
    case MODE.inColumnGroup:
      return endInColumnGroup(construction);
    case MODE.inTableBody:
      return endInTableBody(construction);
    case MODE.inRow:
      return endInRow(construction);
    case MODE.inCell:
      return endInCell(construction);
    case MODE.inSelect:
    case MODE.inSelectInTable:
      return endInSelect(construction);
    case MODE.afterBody:
      if (construction.tag.name === ELEMENT.html) {
        construction.mode = MODE.afterAfterBody;
        return false;
      }
      construction.mode = MODE.inBody;
      return true;
    case MODE.afterAfterBody:
      construction.mode = MODE.inBody;
      return true;
    default:
      return endBeforeBody(construction);
  }
}

function behind(start: number, units: number): number {
  return start === NOWHERE ? NOWHERE : start + units;
}

function textIn(construction: Construction, text: string, start: number): void {
  switch (construction.mode) {
    case MODE.inBody:
    case MODE.inCaption:
    case MODE.inCell:
      construction.reconstruct();
      construction.insertText(text, start);
      break;
    case MODE.inSelect:
    case MODE.inSelectInTable:
      construction.insertText(text, start);
      break;
    case MODE.afterBody:
    case MODE.afterAfterBody:
      if (blanksOf(text) < text.length) construction.mode = MODE.inBody;
      construction.reconstruct();
      construction.insertText(text, start);
      break;
    case MODE.inTable:
    case MODE.inTableBody:
    case MODE.inRow:
      if (blanksOf(text) === text.length && isInTableStructure(construction))
        construction.insertText(text, start);
      else fosterOnInsertion(construction, () => insertBodyText(construction, text, start));
      break;
    default:
      splitText(construction, text, start);
  }
}

function insertBodyText(construction: Construction, text: string, start: number): void {
  construction.reconstruct();
  construction.insertText(text, start);
}

function isInTableStructure({open}: Construction): boolean {
  return (classesOf(open.key) & TABLE_STRUCTURE) !== 0;
}

/** The modes in which blanks stay, or are dropped, and the first other character leads into the next mode. */
function splitText(construction: Construction, text: string, start: number): void {
  const blanks = blanksOf(text);
  const keepsBlanks = construction.mode >= MODE.inHead;
  if (blanks > 0 && keepsBlanks) construction.insertText(text.slice(0, blanks), start);
  if (blanks === text.length) return;
  if (construction.mode !== MODE.inColumnGroup) leaveBeforeBody(construction);
  else if (!leaveColumnGroup(construction)) return;
  textIn(construction, text.slice(blanks), behind(start, blanks));
}

/** How many blanks a text begins with; a CR from a character reference is one. */
function blanksOf(text: string): number {
  let count = 0;
  while (count < text.length && ' \n\t\f\r'.includes(text.charAt(count))) count++;
  return count;
}
