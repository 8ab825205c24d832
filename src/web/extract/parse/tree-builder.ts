// Builds the tree from tags and text, as the HTML standard says.

import {ATTRIBUTE} from '../tree/tags.ts';
import type {Tree} from '../tree/tree.ts';
import {
  classesOf,
  ELEMENT,
  ELEMENT_NAMES,
  EXITS_FOREIGN,
  HTML,
  HTML_INTEGRATION,
  KEY,
  keyOf,
  MATHML,
  MATHML_TEXT_INTEGRATION,
  namespaceOf,
  SVG,
  TABLE_SCOPE,
  TABLE_STRUCTURE,
} from './element-names.ts';
import {endInBody, startInBody} from './in-body.ts';
import {endBeforeBody, isQuirksDoctype, leaveBeforeBody, startBeforeBody, startMetadata} from './in-head.ts';
import {
  endInCaption,
  endInCell,
  endInColumnGroup,
  endInRow,
  endInTable,
  endInTableBody,
  fosterOnInsertion,
  leaveColumnGroup,
  startInCaption,
  startInCell,
  startInColumnGroup,
  startInRow,
  startInTable,
  startInTableBody,
} from './in-table.ts';
import type {TokenSink} from './scanner.ts';
import {NOWHERE, READ_ATTRIBUTE, type TagReader} from './tag-reader.ts';
import {Construction, DATA, MODE} from './tree-state.ts';

/** So many looks at open elements a code unit may cost; more would be time that the full parser does not need. */
const STEPS_PER_UNIT = 2;
const FREE_STEPS = 65_536;

/** HTML 13.2.6: builds the tree of a document from its tokens, as far as it needs none of the rare rules. */
export class TreeBuilder implements TokenSink {
  readonly #construction: Construction;
  readonly #maxSteps: number;

  /** A tree of more than `maxNodes` opens no formatting element again here. */
  constructor(tree: Tree, tag: TagReader, source: string, maxNodes: number) {
    this.#construction = new Construction(tree, tag, maxNodes);
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

const ANNOTATION_XML = keyOf(ELEMENT['annotation-xml'], MATHML);
const HTML_ENCODING = /^(?:text\/html|application\/xhtml\+xml)$/i;

/** Whether text and most start tags go into the current element as foreign content (HTML 13.2.6). */
function isInForeign(construction: Construction): boolean {
  const {open} = construction;
  return (
    open.isForeign && !isHtmlPoint(construction) && (classesOf(open.key) & MATHML_TEXT_INTEGRATION) === 0
  );
}

/** HTML 13.2.6: whether the start tag at work, in a foreign element, is foreign content. */
function isForeignTag(construction: Construction): boolean {
  const {open, tag} = construction;
  if (tag.name === ELEMENT.svg && open.key === ANNOTATION_XML) return false;
  if (isInForeign(construction)) return true;
  const isMathml = tag.name === ELEMENT.mglyph || tag.name === ELEMENT.malignmark;
  return isMathml && !isHtmlPoint(construction);
}

/** HTML 13.2.6.5: a start tag in foreign content; true where it ends that, and the insertion mode has to see it. */
function startInForeign(construction: Construction): boolean {
  const {open, tag} = construction;
  if (exits(construction)) {
    popForeign(construction);
    return true;
  }
  const key = keyOf(tag.name, namespaceOf(open.key));
  if (tag.isSelfClosing) construction.append(key);
  else construction.insert(key);
  return false;
}

/** HTML 13.2.6.5: an end tag in foreign content; true where the insertion mode has to see it. */
function endInForeign(construction: Construction): boolean {
  const {open, tag} = construction;
  if (tag.name === ELEMENT.p || tag.name === ELEMENT.br) {
    popForeign(construction);
    return true;
  }
  const slot = Math.max(open.indexOf(keyOf(tag.name, SVG)), open.indexOf(keyOf(tag.name, MATHML)));
  if (slot <= open.indexOfHtml()) return true;
  open.shortenTo(slot);
  return false;
}

function exits({tag}: Construction): boolean {
  if (tag.name === ELEMENT.font) {
    return (
      tag.hasAttribute(READ_ATTRIBUTE.color) ||
      tag.hasAttribute(READ_ATTRIBUTE.face) ||
      tag.hasAttribute(READ_ATTRIBUTE.size)
    );
  }
  return (classesOf(keyOf(tag.name, HTML)) & EXITS_FOREIGN) !== 0;
}

function popForeign(construction: Construction): void {
  while (isInForeign(construction)) construction.open.pop();
}

function isHtmlPoint({open, tree}: Construction): boolean {
  if (open.key !== ANNOTATION_XML) return (classesOf(open.key) & HTML_INTEGRATION) !== 0;
  return HTML_ENCODING.test(tree.attribute(open.node, ATTRIBUTE.encoding) ?? '');
}

/** The tags that end a select in a table. */
function endsSelectInTable(name: number): boolean {
  switch (name) {
    case ELEMENT.caption:
    case ELEMENT.table:
    case ELEMENT.tbody:
    case ELEMENT.tfoot:
    case ELEMENT.thead:
    case ELEMENT.tr:
    case ELEMENT.td:
    case ELEMENT.th:
      return true;
    default:
      return false;
  }
}

/** A start tag in a select; true where the mode that is set now has to see it. */
function startInSelect(construction: Construction): boolean {
  const {open} = construction;
  const {name} = construction.tag;
  if (construction.mode === MODE.inSelectInTable && endsSelectInTable(name)) return leaveSelect(construction);
  switch (name) {
    case ELEMENT.html:
      construction.adoptAttributes(open.nodeAt(0), HTML);
      return false;
    case ELEMENT.option:
      popOption(construction);
      construction.insert(KEY.option);
      return false;
    case ELEMENT.optgroup:
    case ELEMENT.hr:
      popOption(construction);
      if (open.key === KEY.optgroup) open.pop();
      if (name === ELEMENT.hr) construction.append(KEY.hr);
      else construction.insert(KEY.optgroup);
      return false;
    case ELEMENT.select:
    case ELEMENT.input:
    case ELEMENT.keygen:
    case ELEMENT.textarea:
      return isSelectInScope(construction) && leaveSelect(construction) && name !== ELEMENT.select;
    case ELEMENT.script:
    case ELEMENT.template:
      startMetadata(construction);
      return false;
    default:
      return false;
  }
}

function endInSelect(construction: Construction): boolean {
  const {open} = construction;
  const {name} = construction.tag;
  if (construction.mode === MODE.inSelectInTable && endsSelectInTable(name)) {
    return open.hasInScope(construction.tag.key, TABLE_SCOPE) && leaveSelect(construction);
  }
  switch (name) {
    case ELEMENT.optgroup:
      if (open.keyAt(open.depth - 2) === KEY.optgroup) popOption(construction);
      if (open.key === KEY.optgroup) open.pop();
      break;
    case ELEMENT.option:
      popOption(construction);
      break;
    case ELEMENT.select:
      if (isSelectInScope(construction)) leaveSelect(construction);
      break;
  }
  return false;
}

function popOption({open}: Construction): void {
  if (open.key === KEY.option) open.pop();
}

function leaveSelect(construction: Construction): boolean {
  construction.open.popThrough(KEY.select);
  construction.resetMode();
  return true;
}

/** "Have an element in select scope": only options and their groups are looked through. */
function isSelectInScope({open}: Construction): boolean {
  for (let slot = open.depth - 1; slot >= 0; slot--) {
    const key = open.keyAt(slot);
    if (key === KEY.select) return true;
    const isOption = key === KEY.option || key === KEY.optgroup;
    if (!isOption && namespaceOf(key) === HTML) return false;
  }
  return true;
}
