import fc from 'fast-check';
import {html, parse} from 'parse5';
import {expect, test} from 'vitest';
import {isQuirksDoctype} from './document-mode.ts';

const isQuirks = (doctype: string) => parse(doctype).mode === html.DOCUMENT_MODE.QUIRKS;

const part = fc.constantFrom(
  ...[
    'html',
    'HTML',
    'svg',
    'public',
    'PUBLIC',
    'system',
    'SyStEm',
    ' ',
    ' ',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '"',
    "'",
  ],
  ...[
    '"HTML"',
    "'-//W3C//DTD HTML 3.2//EN'",
    '"-//W3C//DTD HTML 4.01 Transitional//EN"',
    '""',
    "''",
    'x',
    '\0',
  ],
  ...[
    '"-//W3C//DTD XHTML 1.0 Transitional//EN"',
    '"http://www.w3.org/TR/html4/loose.dtd"',
    '"about:legacy-compat"',
  ],
  ...[
    '"http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd"',
    '-//ietf//dtd html//',
    '"-/W3C/DTD HTML 4.0 Transitional/EN"',
  ],
);

test('HTML 13.2.6.4.1 the mode of a document is that of the full algorithm', {tags: 'slow'}, () => {
  fc.assert(
    fc.property(fc.array(part, {maxLength: 9}), parts => {
      const doctype = `<!doctype${parts.join('')}>`;
      expect(isQuirksDoctype(doctype), doctype).toBe(isQuirks(doctype));
    }),
    {numRuns: 20_000},
  );
});

test.each([
  ...['+//Silmaril//dtd html Pro v0r11 19970101//', '-//AS//DTD HTML 3.0 asWedit + extensions//'],
  ...['-//AdvaSoft Ltd//DTD HTML 3.0 asWedit + extensions//', '-//IETF//DTD HTML 2.0 Level 1//'],
  ...[
    '-//IETF//DTD HTML 2.1E//',
    '-//IETF//DTD HTML Strict Level 3//',
    '-//Metrius//DTD Metrius Presentational//',
  ],
  ...['-//Microsoft//DTD Internet Explorer 3.0 Tables//', '-//Netscape Comm. Corp.//DTD Strict HTML//'],
  ...[
    "-//O'Reilly and Associates//DTD HTML Extended Relaxed 1.0//",
    '-//SQ//DTD HTML 2.0 HoTMetaL + extensions//',
  ],
  ...[
    '-//SoftQuad//DTD HoTMetaL PRO 4.0::19971010::extensions to HTML 4.0//',
    '-//Spyglass//DTD HTML 2.0 Extended//',
  ],
  ...['-//Sun Microsystems Corp.//DTD HotJava Strict HTML//', '-//W3C//DTD HTML Experimental 970421//'],
  ...[
    '-//W3C//DTD W3 HTML//',
    '-//W3O//DTD W3 HTML 3.0//',
    '-//WebTechs//DTD Mozilla HTML 2.0//',
    "nobody's",
  ],
  ...['-//W3C//DTD HTML 4.01 Frameset//', '-//W3C//DTD HTML 4.0 Frameset//', '-//W3C//DTD XHTML 1.1//'],
])('HTML 13.2.6.4.1 the public identifier %s', id => {
  for (const rest of ['', ' "x"']) {
    const doctype = `<!DOCTYPE html PUBLIC "${id}EN"${rest}>`;
    expect(isQuirksDoctype(doctype)).toBe(isQuirks(doctype));
  }
});
