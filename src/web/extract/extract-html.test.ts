import {describe, expect, test} from 'vitest';
import {extractHtml} from './extract-html.ts';

const baseUrl = 'https://example.com/docs/page?q=1';

const extract = (html: string, honorBaseHref = false) => extractHtml(html, {baseUrl, honorBaseHref});
const markdown = (html: string) => extract(html).markdown;

describe('removal', () => {
  test('T-WF-EXT-01 boilerplate elements are removed', () => {
    const removed = ['script', 'style', 'noscript', 'nav', 'footer', 'header', 'aside'];
    const html = removed.map(tag => `<${tag}>${tag} text</${tag}>`).join('');
    expect(markdown(`<body>${html}<p>kept</p></body>`)).toBe('kept\n');
  });

  test('T-WF-EXT-01 removal happens inside main, before a root is chosen (ruling D3)', () => {
    expect(markdown('<main><header>h</header><p>kept</p><aside>a</aside></main>')).toBe('kept\n');
    expect(markdown('<nav><main>no</main></nav><main>first that is left</main>')).toBe(
      'first that is left\n',
    );
  });

  test.each(['hidden', 'hidden=""', 'aria-hidden="true"', 'aria-hidden="TRUE"'])(
    'FR-WF-13 step 2: <p %s>',
    attribute => {
      expect(markdown(`<p ${attribute}>gone</p><p>kept</p>`)).toBe('kept\n');
    },
  );

  test('FR-WF-13 step 2: aria-hidden="false" is visible', () => {
    expect(markdown('<p aria-hidden="false">kept</p>')).toBe('kept\n');
  });

  test.each([
    'nav',
    'menu',
    'sidebar',
    'footer',
    'header',
    'advertisement',
    'ad',
    'social',
    'related',
    'comments',
  ])('FR-WF-EXT-CLASS-01 the token %s, in any case, as class or id', token => {
    const upper = token.toUpperCase();
    const html = `<p class="x ${token}\ty">1</p><p class="${upper}">2</p><p id="${upper}">3</p><p>kept</p>`;
    expect(markdown(html)).toBe('kept\n');
  });

  test.each(['navigate', 'site-nav', 'header_x', 'ads', 'adhoc', 'nav-menu'])(
    'FR-WF-EXT-CLASS-01 %s is no token',
    name => {
      expect(markdown(`<p class="${name}" id="${name}">kept</p>`)).toBe('kept\n');
    },
  );

  test('FR-WF-EXT-CLASS-01 an id is one value, not a list of tokens', () => {
    expect(markdown('<p id="nav x">kept</p>')).toBe('kept\n');
  });

  test('ruling D2 html and body are exempt from token matching, and from nothing else', () => {
    expect(markdown('<html class="nav"><body class="header menu" id="comments"><p>kept</p>')).toBe('kept\n');
    expect(markdown('<main class="related"><p>gone</p></main><p>kept</p>')).toBe('kept\n');
  });

  test.each([
    'display:none',
    'color:red; DISPLAY : none !important',
    'visibility:hidden',
    'display:/**/none',
    'd\\69 splay:none',
    'display:block;display:none',
  ])('ruling D2 style="%s" hides', style => {
    expect(markdown(`<p style="${style}">gone</p><p>kept</p>`)).toBe('kept\n');
  });

  test.each([
    'display:block',
    'display:none;display:block',
    'background:url(none)',
    '/*display:none*/',
    'overflow:hidden',
  ])('ruling D2 style="%s" does not hide', style => {
    expect(markdown(`<p style="${style}">kept</p>`)).toBe('kept\n');
  });

  test('ruling D2 embedded content and form controls are dropped', () => {
    const dropped =
      '<template>1</template><iframe>2</iframe><object>3</object><canvas>4</canvas><svg><text>5</text></svg>' +
      '<input value="6"><select><option>7</select><button>8</button><textarea>9</textarea>';
    expect(markdown(`${dropped}<form><label>kept</label></form>`)).toBe('kept\n');
  });

  test('policy: what a browser does not show is dropped too', () => {
    expect(markdown('<dialog>1</dialog><video>2</video><audio>3</audio><dialog open>kept</dialog>')).toBe(
      'kept\n',
    );
  });
});

describe('root', () => {
  const page = (...fragments: string[]) => `<body>outside${fragments.join('')}</body>`;
  const main = '<main>main</main>';
  const article = '<article>article</article>';
  const role = '<div role="main">role</div>';
  const id = '<div id="CONTENT">id</div>';
  const className = '<div class="x Content">class</div>';

  test.each([
    ['main', [className, id, role, article, main]],
    ['article', [className, id, role, article]],
    ['role', [className, id, role]],
    ['id', [className, id]],
    ['class', [className]],
  ])('FR-WF-EXT-ROOT-01 %s comes first', (expected, fragments) => {
    expect(markdown(page(...fragments))).toBe(`${expected}\n`);
  });

  test('FR-WF-EXT-ROOT-01 else the body', () => {
    expect(markdown(page('<div class="contents">x</div>'))).toBe('outside\n\nx\n');
  });

  test('ruling D3 a root without text and without an image with alt is passed over', () => {
    expect(markdown(`<main><hr><img src="x"><p>&nbsp;\u200b</p></main>${article}`)).toBe('article\n');
    expect(markdown(`<main><nav>gone</nav></main>${role}`)).toBe('role\n');
    expect(markdown(`<main><img src="/x.png" alt="pic"></main>${article}`)).toBe(
      '![pic](https://example.com/x.png)\n',
    );
  });

  test('ruling D3 an empty page is an empty document', () => {
    expect(markdown('')).toBe('');
    expect(markdown('<body><hr><nav>x</nav></body>')).toBe('');
  });
});

describe('title and language', () => {
  test('T-WF-EXT-04 the title is that of <title>, white space collapsed', () => {
    expect(extract('<title> A \n &amp; B </title><h1>H</h1>').title).toBe('A & B');
  });

  test('T-WF-EXT-04 else that of the first h1 with text, be it boilerplate', () => {
    expect(extract('<title> </title><h1> </h1><header><h1>The <em>real</em>\none</h1></header>').title).toBe(
      'The real one',
    );
  });

  test('FR-WF-13e no title at all', () => {
    expect(extract('<p>x')).toEqual({markdown: 'x\n'});
  });

  // The template is for the other of the two parsers.
  test.each(['', '<template></template>'])(
    'regression: <text> is an unknown element, not a text: %s',
    more => {
      const html = `<p>a <text>b</text> <document>c</document> <none>d</none> <foreign>e</foreign></p>${more}`;
      expect(markdown(html)).toBe('a b c d e\n');
    },
  );

  test('ruling D4 the title of an SVG is none', () => {
    expect(extract('<svg><title>icon</title></svg><h1>page</h1>').title).toBe('page');
  });

  test('FR-WF-13f language is <html lang> as it is', () => {
    expect(extract('<html lang="de-CH-1996">x').language).toBe('de-CH-1996');
    expect(extract('<html lang=" ">x')).not.toHaveProperty('language');
    expect(extract('<p lang="de">x')).not.toHaveProperty('language');
  });
});

describe('trees', () => {
  test('ruling D1 depth is capped at 512 without losing text', () => {
    const deep = Array.from({length: 2000}, (_, index) => `<div>${index} `).join('');
    expect(markdown(deep).split('\n\n')).toHaveLength(2000);
  });

  test('ruling D1 misnested and unclosed markup is read as browsers read it', () => {
    expect(markdown('<p>a <b>b <i>c</b> d</i> e')).toBe('a **b *c*** *d* e\n');
    expect(markdown('<table>foster<tr><td>cell')).toBe('foster\n\n| cell |\n|---|\n');
    expect(markdown('a<!-- b -->c<p')).toBe('ac\n');
  });
});
