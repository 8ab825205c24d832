import {describe, expect, test} from 'vitest';
import {extractHtml, hasSpaIndicators} from './extract-html.ts';

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

  test.each([
    'display:none;display:bogus',
    'display:none!important;display:block',
    'display:none;display:',
    'display:none;}display:block',
    'display:none;display:inline none',
    'display:none;display:inline-block block',
    'display:var(--unset,none)',
    '--x:none;display:var(--x)',
    'visibility:hidden;visibility:nonsense',
    'visibility:hidden!important;visibility:visible',
    'visibility:collapse',
  ])('red team F8: style="%s" hides, as in a browser', style => {
    expect(markdown(`<p style="${style}">gone</p><p>kept</p>`)).toBe('kept\n');
  });

  test.each([
    "--x:';display:none;'",
    '--x:(;display:none)',
    'color:url(;display:none)',
    'display:no/**/ne',
    'display:\\20none',
    'display:none none',
    'display:none;display:inline flex',
    'display:none;display:revert',
    'opacity:0;opacity:1',
    'font-size:0;font:12px serif',
    'color:rgb(0, 0, 0)',
    'color:rgb(0 0 0 / 1)',
    'color:#100',
    '-display:none;x:opacity:0',
  ])('red team F8: style="%s" does not hide, as in a browser', style => {
    expect(markdown(`<p style="${style}">kept</p>`)).toBe('kept\n');
  });

  test.each([
    'style="opacity:0"',
    'style="opacity:-1;opacity:bogus"',
    'style="font-size:0"',
    'style="font:0/0 a"',
    'style="position:absolute;left:-9999px"',
    'style="text-indent:-9999px"',
    'style="position:absolute;clip:rect(0,0,0,0)"',
    'style="clip-path:inset(100%)"',
    'style="color:transparent"',
    'style="color:rgba(0, 0, 0, 0)"',
    'style="content-visibility:hidden"',
    'popover',
  ])('red team F9: what %s hides is left out', attribute => {
    expect(markdown(`<p ${attribute}>gone</p><p>kept</p>`)).toBe('kept\n');
  });

  test.each([
    '<p style="font-size:0"><span style="font-size:16px">kept</span></p>',
    '<p style="color:transparent;background-clip:text">kept</p>',
    '<p style="left:-9999px">kept</p>',
  ])('red team F9: %s is shown', html => {
    expect(markdown(html)).toBe('kept\n');
  });

  test('red team F9: a picture has no text that a colour could hide', () => {
    expect(markdown('<img style="color:transparent" src="https://e.com/a.png" alt="a">')).toContain('a.png');
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

test.each([
  '<script type="module">',
  '<SCRIPT TYPE="Module">',
  '<div id="__next">',
  '<div ID="App">',
  '<div class="x" id="root">',
  'window.__NUXT__={}',
  'WINDOW.__initial_state__ = 1',
  '<div id=app>',
  '<div id=root></div><script type=module src=/x.js></script>',
  '<div id=__next class=x>',
  '<main id=root/>',
  "<div id='root'>",
  '<script type=module>',
])('FR-WF-12c.2 %s', html => {
  expect(hasSpaIndicators(`<html><body>${html}</body>`)).toBe(true);
});

test.each([
  '<div id=apple>',
  '<div id=root-2>',
  '<div id="apple">',
  `<div id='root">`,
  '<script type="module" src="x">',
  'window.__NUXT',
  '',
])('FR-WF-12c.2 %s is none: the comparison is literal', html => {
  expect(hasSpaIndicators(html)).toBe(false);
});

test('FR-WF-12c.2 takes linear time', () => {
  const start = performance.now();
  expect(hasSpaIndicators('<script type="id="window.__'.repeat(200_000))).toBe(false);
  expect(performance.now() - start).toBeLessThan(1000);
});

describe('revised rulings', () => {
  const extract = (html: string) => extractHtml(html, {baseUrl: 'https://a.example/', honorBaseHref: false});
  const markdown = (html: string) => extract(html).markdown;

  describe('D2: the button of a heading', () => {
    test.each([
      '<h2><button>Shipping</button></h2>',
      '<h2 class="accordion-header">\n <span><button aria-expanded="false">Shipping<svg><title>arrow</title></svg></button></span></h2>',
    ])('D2: is its text where it is all of it: %s', html => {
      expect(markdown(`${html}<p>Text.`)).toBe('## Shipping\n\nText.\n');
    });

    test.each([
      ['<h2>Title <button>Copy link</button></h2>', '## Title\n'],
      ['<h2><button>One</button><button>Two</button></h2><p>x', 'x\n'],
      ['<h2><button hidden>One</button></h2><p>x', 'x\n'],
      ['<h2><img src="/i" alt="Logo"><button>One</button></h2>', '## ![Logo](https://a.example/i)\n'],
      ['<p><button>One</button></p><p>x', 'x\n'],
    ])('D2: is left out elsewhere: %s', (html, expected) => {
      expect(markdown(html)).toBe(expected);
    });
  });

  describe('D5: the language of a fence', () => {
    test.each([
      ['<pre><code class="language-ts">x</code></pre>', 'ts'],
      ['<pre class="lang-ts"><code>x</code></pre>', 'ts'],
      ['<div class="highlight highlight-source-js"><pre>x</pre></div>', 'js'],
      ['<div class="language-ruby"><pre><code>x</code></pre></div>', 'ruby'],
      // The nearest one counts.
      ['<div class="language-a"><pre class="language-b"><code class="language-c">x</code></pre></div>', 'c'],
      ['<div class="language-a"><pre class="language-b">x</pre></div>', 'b'],
      ['<section class="language-a"><div><pre>x</pre></div></section>', ''],
      ['<div class="highlight-source"><pre>x</pre></div>', ''],
    ])('D5: %s', (html, language) => {
      expect(markdown(html)).toBe(`\`\`\`${language}\nx\n\`\`\`\n`);
    });
  });

  describe('D9: a table of one column', () => {
    test('D9: whose cells hold blocks is layout', () => {
      const html =
        '<table><tr><td><h2>Head</h2><p>One.</p></td></tr><tr><td><ul><li>two</ul></td></tr></table><p>After.';
      expect(markdown(html)).toBe('## Head\n\nOne.\n\n- two\n\nAfter.\n');
    });

    test.each(
      // biome-ignore format: a case is a line
      [
        ['text alone', '<table><tr><td>a</td></tr><tr><td>b</td></tr></table>', '| a |\n|---|\n| b |\n'],
        ['two columns', '<table><tr><td><p>a</p></td><td>b</td></tr></table>', '| a | b |\n|---|---|\n'],
        ['a wider row further down', '<table><tr><td><p>a</p></td></tr><tr><td>b</td><td>c</td></tr></table>', '| a | |\n|---|---|\n| b | c |\n'],
        ['a block in its caption', '<table><caption><p>Cap</p></caption><tr><td>a</td></tr></table>', 'Cap\n\n| a |\n|---|\n'],
      ],
    )('D9: is a table with %s', (_, html, expected) => {
      expect(markdown(html)).toBe(expected);
    });
  });

  describe('review R18: what a page calls itself has a bound', () => {
    test('review R18: a title of megabytes is cut between characters', () => {
      const {title = ''} = extract(`<title>${'\u{1f600}'.repeat(1_000_000)}</title><p>x`);
      expect(title).toBe(`${'\u{1f600}'.repeat(999)}…`);
      expect(extract(`<title>${'x'.repeat(1000)}</title>`).title).toBe('x'.repeat(1000));
      expect(extract(`<h1>${'x'.repeat(1001)}</h1>`).title).toBe(`${'x'.repeat(999)}…`);
    });
  });
});
