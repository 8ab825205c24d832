/** The public identifiers that HTML 13.2.6.4.1 lists, by how they begin, in lower case. */
const QUIRKS_BEGINNINGS = [
  '+//silmaril//dtd html pro v0r11 19970101//',
  ...['-//as//', '-//advasoft ltd//'].map(owner => `${owner}dtd html 3.0 aswedit + extensions//`),
  ...[
    ...[
      '2.0 level 1',
      '2.0 level 2',
      '2.0 strict level 1',
      '2.0 strict level 2',
      '2.0 strict',
      '2.0',
      '2.1e',
    ],
    ...['3.0', '3.2 final', '3.2', '3', 'level 0', 'level 1', 'level 2', 'level 3', 'strict level 0'],
    ...['strict level 1', 'strict level 2', 'strict level 3', 'strict'],
  ].map(version => `-//ietf//dtd html ${version}//`),
  '-//ietf//dtd html//',
  '-//metrius//dtd metrius presentational//',
  ...['2.0 html strict', '2.0 html', '2.0 tables', '3.0 html strict', '3.0 html', '3.0 tables'].map(
    version => `-//microsoft//dtd internet explorer ${version}//`,
  ),
  ...['html', 'strict html'].map(name => `-//netscape comm. corp.//dtd ${name}//`),
  ...['2.0', 'extended 1.0', 'extended relaxed 1.0'].map(
    version => `-//o'reilly and associates//dtd html ${version}//`,
  ),
  '-//sq//dtd html 2.0 hotmetal + extensions//',
  '-//softquad software//dtd hotmetal pro 6.0::19990601::extensions to html 4.0//',
  '-//softquad//dtd hotmetal pro 4.0::19971010::extensions to html 4.0//',
  '-//spyglass//dtd html 2.0 extended//',
  ...['html', 'strict html'].map(name => `-//sun microsystems corp.//dtd hotjava ${name}//`),
  ...[
    ...['3 1995-03-24', '3.2 draft', '3.2 final', '3.2', '3.2s draft', '4.0 frameset', '4.0 transitional'],
    ...['experimental 19960712', 'experimental 970421'],
  ].map(version => `-//w3c//dtd html ${version}//`),
  '-//w3c//dtd w3 html//',
  '-//w3o//dtd w3 html 3.0//',
  ...['html 2.0', 'html'].map(name => `-//webtechs//dtd mozilla ${name}//`),
];
/** The same, where there is no system identifier. */
const QUIRKS_ALONE = ['frameset', 'transitional'].map(version => `-//w3c//dtd html 4.01 ${version}//`);
const QUIRKS_WHOLE = ['-//w3o//dtd w3 html strict 3.0//en//', '-/w3c/dtd html 4.0 transitional/en', 'html'];
const QUIRKS_SYSTEM = 'http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd';

/**
 * What the states of HTML 13.2.5.53 to 13.2.5.67 accept without setting the force-quirks flag: a name, then
 * perhaps `PUBLIC` with one or two identifiers or `SYSTEM` with one. Behind a system identifier anything goes.
 */
const DOCTYPE = doctypePattern();

/** HTML 13.2.6.4.1: whether a doctype, given with its brackets, puts a document into quirks mode. */
export function isQuirksDoctype(doctype: string): boolean {
  const found = DOCTYPE.exec(doctype)?.groups;
  if (found?.['name']?.toLowerCase() !== 'html') return true;
  const publicId = found['public']?.slice(1, -1).toLowerCase();
  const systemId = (found['second'] ?? found['system'])?.slice(1, -1).toLowerCase();
  if (systemId === QUIRKS_SYSTEM) return true;
  if (publicId === undefined) return false;
  const beginnings = systemId === undefined ? [...QUIRKS_BEGINNINGS, ...QUIRKS_ALONE] : QUIRKS_BEGINNINGS;
  return QUIRKS_WHOLE.includes(publicId) || beginnings.some(beginning => publicId.startsWith(beginning));
}

function doctypePattern(): RegExp {
  const space = '[\\t\\n\\f\\r ]*';
  const identifier = `(?:"[^">]*"|'[^'>]*')`;
  const publicIds = `public${space}(?<public>${identifier})(?:${space}(?<second>${identifier})[^>]*|${space})`;
  const systemId = `system${space}(?<system>${identifier})[^>]*`;
  return new RegExp(
    `^<!doctype${space}(?<name>[^\\t\\n\\f\\r >]+)(?:${space}|[\\t\\n\\f\\r ]${space}(?:${publicIds}|${systemId}))>$`,
    'i',
  );
}
