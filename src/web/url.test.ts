import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {WebUrl} from './page.ts';
import {parseUrl, redactUrl, resolveUrl} from './url.ts';

function canonical(input: string): string {
  const result = parseUrl(input);
  return result.ok ? result.value.canonical : result.error.code;
}

describe('Appendix A', () => {
  test.each([
    ['HTTPS://Example.COM/Page#section', 'https://example.com/Page'],
    ['http://example.com:80/', 'http://example.com/'],
    ['https://example.com:443/a/../b', 'https://example.com/b'],
    ['http://EXAMPLE.com:8080/', 'http://example.com:8080/'],
    ['https://example.com/path?b=2&a=1', 'https://example.com/path?b=2&a=1'],
  ])('T-WF-DET-02 A.3: %s', (input, expected) => {
    expect(canonical(input)).toBe(expected);
  });

  test.each([
    ['http://münchen.example/', 'http://xn--mnchen-3ya.example/'],
    ['http://日本語.jp/', 'http://xn--wgv71a119e.jp/'],
    ['http://例え.jp/', 'http://xn--r8jz45g.jp/'],
    ['http://mu\u0308nchen.example/', 'http://xn--mnchen-3ya.example/'],
    ['http://EXAMPLE.COM/', 'http://example.com/'],
    ['https://münich.example/', 'https://xn--mnich-kva.example/'],
    ['https://faß.example/', 'https://xn--fa-hia.example/'],
    ['https://EXAMPLE。com/', 'https://example.com/'],
  ])('FR-WF-NORM-07 %s', (input, expected) => {
    expect(canonical(input)).toBe(expected);
  });

  test.each([
    ['/%7euser', '/~user'],
    ['/a%2fb', '/a%2Fb'],
    ['/%41%5a%61%7A%30%39%2D%5f', '/AZaz09-_'],
    ['/%2e%2E/x', '/x'],
    ['/a/.%2e/b', '/b'],
    ['/a/%2e/b', '/a/b'],
    ['/%25%34%31', '/%2541'],
    ['/100%', '/100%'],
    ['/%zz%4', '/%zz%4'],
    ['/%c3%a9é', '/%C3%A9%C3%A9'],
    ['/a b', '/a%20b'],
    ['/a//b/', '/a//b/'],
    ['\\a\\..\\b', '/b'],
    ['/a%5cb', '/a%5Cb'],
    ['?q=%7e%2f+%20', '/?q=~%2F+%20'],
    ['?', '/?'],
    ['?#f', '/?'],
    ['?b&a=&b=1', '/?b&a=&b=1'],
    ['?a=/../b', '/?a=/../b'],
  ])('FR-WF-NORM-06 http://example.com%s', (rest, expected) => {
    expect(canonical(`http://example.com${rest}`)).toBe(`http://example.com${expected}`);
  });

  test.each([
    ['/%4%31', '/%4%31'],
    ['/%%34%31', '/%%341'],
    ['/%%32%66', '/%%32f'],
    ['/%2%65', '/%2%65'],
    ['/%a%2D', '/%a-'],
  ])('FR-WF-NORM-06 decoding makes no new triplet: %s', (path, expected) => {
    expect(canonical(`http://example.com${path}`)).toBe(`http://example.com${expected}`);
  });

  const piece = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        '%',
        '%2',
        '%2e',
        '%2E',
        '.',
        '/',
        '\\',
        '%25',
        '?',
        '#',
        '%4',
        '1',
        'e',
        '%34',
      ),
    },
    {weight: 1, arbitrary: fc.string({unit: 'grapheme', maxLength: 4})},
  );
  const rest = fc.array(piece, {maxLength: 12}).map(pieces => `/${pieces.join('')}`);

  test('T-WF-DET-02 property: canonical form of the canonical form is itself', () => {
    fc.assert(
      fc.property(rest, text => {
        const once = canonical(`HTTP://Example.com:80${text}`);
        expect(canonical(once)).toBe(once);
        expect(once).not.toContain('#');
        // WHATWG has nothing left to change in it.
        expect(new URL(once).href).toBe(once);
      }),
      {numRuns: 2000},
    );
  });

  test('T-WF-DET-02 property: scheme, host case, default port, fragment and blanks do not matter', () => {
    fc.assert(
      fc.property(rest, fc.constantFrom('http', 'https'), (text, scheme) => {
        // Blanks at the end of an address do not matter, those before its fragment do.
        const clean = text.replaceAll('#', '').replace(/[\0- ]+$/, '');
        const port = scheme === 'http' ? 80 : 443;
        const plain = canonical(`${scheme}://example.com${clean}`);
        expect(canonical(` ${scheme.toUpperCase()}:/\\EXAMPLE.com:${port}${clean}#x\n`)).toBe(
          canonical(`${scheme}://example.com${clean}#x`),
        );
        expect(canonical(`${scheme}:example.com${clean}#`)).toBe(canonical(plain));
      }),
    );
  });

  test('a megabyte of triplets takes no time to speak of', () => {
    const started = performance.now();
    canonical(`http://example.com/${'%41%%34'.repeat(150_000)}`);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

function parsed(input: string): WebUrl {
  const result = parseUrl(input);
  if (!result.ok) throw new Error(`${input}: ${result.error.message}`);
  return result.value;
}

/** Code and details, in one value that compares well. */
function refusal(input: string, base?: WebUrl): unknown {
  const result = base === undefined ? parseUrl(input) : resolveUrl(input, base);
  return result.ok ? 'accepted' : {code: result.error.code, ...result.error.details};
}

test.each([
  ['ftp://user:pw@example.com/a?q', 'The scheme "ftp" cannot be fetched. Use an http or https URL.'],
  [
    'https://user:pw@example.com/a?q',
    '"https://example.com/a" carries a user name or password. Pass the URL without them.',
  ],
  ['http://127.1/a?q', 'The host "127.1" is an odd spelling of 127.0.0.1. Write 127.0.0.1.'],
  ['http://[fe80::1%25lo0]/a?q', '"http://[fe80::1%25lo0]/a" has an IPv6 zone. Pass the address without it.'],
  ['example.com/a?q', '"example.com/a" is not a valid URL. Pass an absolute http or https URL.'],
])('policy: the refusal of %s says what, with which value, and what to do', (input, message) => {
  expect(parseUrl(input)).toMatchObject({ok: false, error: {message}});
});

describe('schemes', () => {
  test.each([
    ['ftp://example.com/', 'ftp'],
    ['file:///etc/passwd', 'file'],
    ['javascript:alert(1)', 'javascript'],
    ['JavaScript:alert(1)', 'javascript'],
    [' \tjava\nscript:alert(1)', 'javascript'],
    ['data:text/html,hello', 'data'],
    ['ws://example.com/', 'ws'],
    ['gopher://127.0.0.1:70/', 'gopher'],
    ['view-source:http://example.com/', 'view-source'],
    ['blob:http://example.com/1', 'blob'],
  ])('T-WF-SSRF-01 rejects %j', (input, scheme) => {
    expect(refusal(input)).toEqual({code: 'invalid_scheme', scheme});
  });

  test('ruling A1 an unparsable URL is invalid_url whatever its scheme, and the scheme comes before userinfo', () => {
    expect(refusal('ftp://[::1%25eth0]/')).toMatchObject({code: 'invalid_url'});
    expect(refusal('ftp://user:pass@example.com/')).toMatchObject({code: 'invalid_scheme'});
  });
});

describe('userinfo', () => {
  test.each([
    'https://user:pass@example.com/',
    'https://user@example.com/',
    'https://:pass@example.com/',
    'https://@example.com/',
    'https://:@example.com/',
    'https:\\\\user@example.com\\',
    'https:///user@example.com/',
    'https:user@example.com/',
    ' https://us\ner@example.com/',
    'https://a@b@example.com/',
    'https://user@127.1/',
    'https://user@0x7f000001/',
  ])('T-WF-SSRF-15 rejects %j before the host is looked at', input => {
    expect(refusal(input)).toMatchObject({code: 'invalid_url', reason: 'credentials'});
  });

  test('T-WF-SSRF-15 an @ after the authority is no userinfo', () => {
    expect(parsed('https://example.com/@user?a@b#c@d').pathAndQuery).toBe('/@user?a@b');
    expect(parsed('https://example.com?x@y').host).toBe('example.com');
  });

  test('ruling A2 credentials and query appear neither in message nor in details', () => {
    const result = parseUrl('https://alice:s3cret@example.com/path?token=t0ken#frag');
    const text = JSON.stringify(result);
    expect(text).toContain('https://example.com/path');
    for (const secret of ['alice', 's3cret', 't0ken', 'frag']) expect(text).not.toContain(secret);
  });
});

describe('numeric hosts', () => {
  test.each([
    ['http://2130706433/', '2130706433'],
    ['http://0x7f000001/', '0x7f000001'],
    ['http://0177.0.0.1/', '0177.0.0.1'],
    ['http://0x7f.0.0.1/', '0x7f.0.0.1'],
    ['http://017700000001/', '017700000001'],
    ['http://0/', '0'],
    ['http://127.1/', '127.1'],
    ['http://8.8.2056/', '8.8.2056'],
    ['http://0X8.8.8.8/', '0X8.8.8.8'],
    ['http://134744072:80/', '134744072'],
  ])('T-WF-SSRF-06 rejects %s', (input, host) => {
    expect(refusal(input)).toMatchObject({code: 'invalid_host', host});
  });

  test.each([
    ['http:\\\\127.1\\', '127.1'],
    ['http:2130706433', '2130706433'],
    ['http:////0x7f.1/', '0x7f.1'],
    ['ht\ntp://12\t7.1/', '127.1'],
    ['  http://127.1  ', '127.1'],
    ['http://127.0.0.1./', '127.0.0.1.'],
    ['http://%31%32%37.0.0.1/', '%31%32%37.0.0.1'],
    ['http://１２７.0.0.1/', '１２７.0.0.1'],
    ['http://①②⑦.0.0.1/', '①②⑦.0.0.1'],
    ['http://127。0。0。1/', '127。0。0。1'],
    ['http://127.0.0.1%2E/', '127.0.0.1%2E'],
    ['http://0x7f.1?@', '0x7f.1'],
    ['http://0x7f.1#[', '0x7f.1'],
    ['http://1\u00ad27.0.0.1/', '1\\u{ad}27.0.0.1'],
    ['http://127\u{e0100}.0.0.1/', '127\\u{e0100}.0.0.1'],
  ])('T-WF-SSRF-14 checks the raw host of %j', (input, host) => {
    expect(refusal(input)).toMatchObject({code: 'invalid_host', host});
  });

  test.each([
    'http://127.0.0.01/',
    'http://010.0.0.1/',
    'http://8.8.8.08/',
    'http://08.8.8.8/',
    'http://00.0.0.0/',
    'http://192.168.001.1/',
  ])('T-WF-SSRF-16 rejects %s, whose octets have leading zeros', input => {
    // WHATWG itself refuses the octets that are no octal numbers (ruling A3).
    const code = /\b0+[0-7]*[89]/.test(input) ? 'invalid_url' : 'invalid_host';
    expect(refusal(input)).toMatchObject({code});
  });

  test('ruling A3 a canonical address passes this check, a host that WHATWG refuses is invalid_url', () => {
    expect(parsed('http://127.0.0.1/').address).toBe('127.0.0.1');
    expect(parsed('http://0.0.0.0:80/').address).toBe('0.0.0.0');
    expect(parsed('http://1.2.3.4.example/').address).toBeUndefined();
    for (const input of ['http://256.1.1.1/', 'http://192.168.08.1/', 'http://1.2.3.4.5/']) {
      expect(refusal(input)).toMatchObject({code: 'invalid_url', reason: 'unparsable'});
    }
  });

  test('property: every spelling of an IPv4 address but one is invalid_host', () => {
    const spell = fc.constantFrom(
      (n: number) => `0x${n.toString(16)}`,
      (n: number) => `0${n.toString(8)}`,
      (n: number) => String(n),
      (n: number) => [...String(n)].map(digit => `%3${digit}`).join(''),
    );
    const octet = fc.tuple(fc.integer({min: 0, max: 255}), spell);
    fc.assert(
      fc.property(fc.array(octet, {minLength: 4, maxLength: 4}), octets => {
        const canonical = octets.map(([value]) => value).join('.');
        const host = octets.map(([value, write]) => write(value)).join('.');
        const expected = host === canonical ? 'accepted' : {code: 'invalid_host', host, canonical};
        expect(refusal(`http://${host}/`)).toEqual(expected);
      }),
    );
  });
});

describe('invalid URLs', () => {
  test.each([
    '',
    '   ',
    '\t\n',
    'example.com',
    '/path',
    'http://',
    'http:///',
    'https://exa mple.com/',
    'http://a:65536/',
    'http://[::1/',
    'http://%00/',
    'http://./',
  ])('FR-WF-04a rejects %j', input => {
    expect(refusal(input)).toMatchObject({code: 'invalid_url', reason: 'unparsable'});
  });

  test.each(['http://[fe80::1%25lo0]/', 'http://[fe80::1%lo0]/', 'http:\\\\[fe80::1%25]/'])(
    'FR-WF-IPV6-ZONE-01 rejects %j',
    input => {
      expect(refusal(input)).toMatchObject({code: 'invalid_url', reason: 'ipv6_zone'});
    },
  );

  test.each(['example.com?[fe80::1%25lo0]', 'example.com#[fe80::1%25lo0]'])(
    'FR-WF-IPV6-ZONE-01 %j has no zone in its host',
    input => {
      expect(refusal(input)).toMatchObject({code: 'invalid_url', reason: 'unparsable'});
    },
  );
});

describe('the parsed URL', () => {
  test('FR-WF-05f implicit and explicit default ports are the same', () => {
    expect(parsed('http://example.com').port).toBe(80);
    expect(parsed('https://example.com:443/').port).toBe(443);
    expect(parsed('https://example.com:443/').origin).toBe('https://example.com');
    expect(parsed('https://example.com:8443/a').origin).toBe('https://example.com:8443');
    expect(parsed('http://example.com:0/').port).toBe(0);
  });

  test('ruling A4 a trailing dot stays in host and URL and goes from the name', () => {
    expect(parsed('https://Example.com./x')).toMatchObject({
      host: 'example.com.',
      name: 'example.com',
      canonical: 'https://example.com./x',
    });
    expect(parsed('https://example.com/').name).toBe('example.com');
  });

  test('IPv6 literals lose their brackets and are canonical', () => {
    expect(parsed('http://[2001:DB8:0:0::1]:80/')).toMatchObject({
      host: '[2001:db8::1]',
      name: '2001:db8::1',
      address: '2001:db8::1',
    });
    expect(parsed('http://[::ffff:127.0.0.1]/').address).toBe('::ffff:7f00:1');
  });

  test('path and query', () => {
    expect(parsed('http://example.com?q=1#f')).toMatchObject({path: '/', pathAndQuery: '/?q=1'});
    expect(parsed('http://example.com/a?').pathAndQuery).toBe('/a?');
  });
});

test('what a failure names of a URL is short, and nothing hides in it', () => {
  const hidden = [...'obey'].map(letter => String.fromCodePoint(0xe0100 + letter.charCodeAt(0))).join('');
  const odd = parseUrl(`http://127.0.0.1${hidden}${'\u200b'.repeat(1000)}/`);
  expect(odd).toMatchObject({error: {code: 'invalid_host', details: {canonical: '127.0.0.1'}}});
  const scheme = parseUrl(`${'ignore-all-previous-instructions-'.repeat(100)}:x`);
  for (const result of [odd, scheme]) {
    const told = JSON.stringify(result);
    expect(told).not.toMatch(/\p{Default_Ignorable_Code_Point}/u);
    expect(told.length).toBeLessThan(2000);
  }
});

describe('resolveUrl', () => {
  const base = parsed('https://example.com/a/b?c');

  test('a Location whose bytes are UTF-8 is read as UTF-8, as the browser mode reads it', () => {
    const received = (text: string): string => Buffer.from(text).toString('latin1');
    expect(resolveUrl(received('/é?ü'), base)).toMatchObject({
      value: {canonical: 'https://example.com/%C3%A9?%C3%BC'},
    });
    expect(resolveUrl(received('//１２７.0.0.1/'), base)).toMatchObject({error: {code: 'invalid_host'}});
    expect(resolveUrl(received('//bücher.example/'), base)).toMatchObject({
      value: {name: 'xn--bcher-kva.example'},
    });
    // Latin-1 that is no UTF-8 stays what it is.
    expect(resolveUrl('/\xe9', base)).toMatchObject({value: {canonical: 'https://example.com/%C3%A9'}});
  });

  test.each([
    ['/x', 'https://example.com/x'],
    ['x?y#z', 'https://example.com/a/x?y'],
    ['../..', 'https://example.com/'],
    ['?q', 'https://example.com/a/b?q'],
    ['', 'https://example.com/a/b?c'],
    ['//other.example/x', 'https://other.example/x'],
    ['\\\\other.example\\x', 'https://other.example/x'],
    ['https:rel', 'https://example.com/a/rel'],
    ['https:/abs', 'https://example.com/abs'],
    ['http:other.example', 'http://other.example/'],
    ['/@x', 'https://example.com/@x'],
    ['//example.com/127.1', 'https://example.com/127.1'],
    ['https:u@h', 'https://example.com/a/u@h'],
  ])('FR-WF-07b %j', (reference, expected) => {
    const result = resolveUrl(reference, base);
    expect(result).toMatchObject({ok: true, value: {canonical: expected}});
  });

  test.each([
    ['//u@other.example/', 'invalid_url'],
    ['/\\u@other.example/', 'invalid_url'],
    ['https:\\\\u@other.example/', 'invalid_url'],
    ['http:u@other.example/', 'invalid_url'],
    ['//127.1/', 'invalid_host'],
    ['///127.1/', 'invalid_host'],
    ['\t/\n/0x7f.1', 'invalid_host'],
    ['http:127.1', 'invalid_host'],
    ['https:/\\127.1', 'invalid_host'],
    ['javascript:alert(1)', 'invalid_scheme'],
    ['//[::1%25x]/', 'invalid_url'],
    ['//example.com:99999/', 'invalid_url'],
  ])('ruling C1 a Location %j is refused by the same checks', (reference, code) => {
    expect(refusal(reference, base)).toMatchObject({code});
  });

  test('a reference without a host inherits an address that has been checked', () => {
    const literal = parsed('http://93.184.216.34/a');
    expect(resolveUrl('b', literal)).toMatchObject({ok: true, value: {canonical: 'http://93.184.216.34/b'}});
    // A colon in the path makes no scheme of what stands before it.
    expect(resolveUrl('/b:c', literal)).toMatchObject({
      ok: true,
      value: {canonical: 'http://93.184.216.34/b:c'},
    });
  });
});

test.each([
  ['https://user:pass@example.com:8443/a/b?token=1#x', 'https://example.com:8443/a/b'],
  ['HTTP://EXAMPLE.com', 'http://example.com/'],
  ['file:///etc/passwd?x', 'file:///etc/passwd'],
  ['javascript:alert("secret")', 'javascript:…'],
  ['data:text/html,secret', 'data:…'],
  ['mailto:someone@example.com', 'mailto:…'],
  ['user:pass', 'user:…'],
])('FR-WF-19b scheme, host and path of %s', (input, expected) => {
  expect(redactUrl(input)).toBe(expected);
});

test.each([
  ['not a url?secret=1', 'not a url'],
  ['example.com/page#x', 'example.com/page'],
  ['http://a:99999/p?secret', 'http://a:99999/p'],
  ['http://[fe80::1%25lo0]/p?secret', 'http://[fe80::1%25lo0]/p'],
  ['http://user:pa#ss@exa mple/', 'http:…'],
  ['http://user:pa/ss@exa mple/', 'http:…'],
  ['http://user:pass%40exa mple/', 'http:…'],
  ['http://user:pass＠example.com/', 'http:…'],
  ['http://user:pass/x', 'http:…'],
  ['//user:pass@host/', '…'],
  ['http://us er:[abc]/', 'http:…'],
  ['http://exa mple:80', 'http://exa mple:80'],
  ['\u001b[31mred', '[31mred'],
  ['  not a url ?secret', 'not a url '],
  ['  not a url  ', 'not a url'],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), `${'x'.repeat(200)}…`],
  ['', ''],
])('ruling A2 of the unparsable %j it shows nothing secret', (input, expected) => {
  expect(redactUrl(input)).toBe(expected);
});

test('property: no query, no fragment, no password, whatever surrounds them', () => {
  const noise = fc.string({maxLength: 6});
  fc.assert(
    fc.property(noise, noise, fc.constantFrom('http://', 'https:\\\\', '//', '', 'x:'), (a, b, scheme) => {
      expect(redactUrl(`${scheme}host/${a}?QUERY${b}`)).not.toContain('QUERY');
      const user = a.replace(/[/\\?#]/g, '');
      expect(redactUrl(`${scheme}${user}:PASSWORD@${b}`)).not.toContain('PASSWORD');
      expect(redactUrl(`${scheme}host${a}#FRAGMENT${b}`)).not.toContain('FRAGMENT');
    }),
    {numRuns: 1000},
  );
});

test.each([
  ['http://e.com/#', 'http://e.com/'],
  ['http://e.com/a#b#c', 'http://e.com/a'],
  ['http://e.com/?q#part?x', 'http://e.com/?q'],
  ['http://e.com#part', 'http://e.com/'],
])('FR-WF-NORM-01 the fragment of %s goes', (input, expected) => {
  expect(canonical(input)).toBe(expected);
});

test.each([
  ['HTTP://E.COM/', 'http://e.com/'],
  ['hTtPs://Sub.Example.CoM/Path?Query', 'https://sub.example.com/Path?Query'],
])('FR-WF-NORM-02 scheme and host of %s are in lower case, and nothing else', (input, expected) => {
  expect(canonical(input)).toBe(expected);
});

test.each([
  ['http://e.com:80/', 'http://e.com/'],
  ['https://e.com:443/', 'https://e.com/'],
  ['http://e.com:/', 'http://e.com/'],
  ['http://e.com:00080/', 'http://e.com/'],
  ['http://e.com:443/', 'http://e.com:443/'],
  ['https://e.com:80/', 'https://e.com:80/'],
  ['http://e.com:81/', 'http://e.com:81/'],
])('FR-WF-NORM-03 the port of %s is left out only where it is the default', (input, expected) => {
  expect(canonical(input)).toBe(expected);
});

test.each([
  ['http://e.com', 'http://e.com/'],
  ['http://e.com?q', 'http://e.com/?q'],
  ['http://e.com/a/./b', 'http://e.com/a/b'],
  ['http://e.com/a/../b', 'http://e.com/b'],
  ['http://e.com/../../b', 'http://e.com/b'],
  ['http://e.com/a/..', 'http://e.com/'],
  ['http://e.com/a/', 'http://e.com/a/'],
  ['http://e.com/a', 'http://e.com/a'],
])('FR-WF-NORM-04 the path of %s loses its dots and keeps its last slash', (input, expected) => {
  expect(canonical(input)).toBe(expected);
});

test.each(['?b=2&a=1', '?a=1&a=2&a=1', '?z&y&x', '?&&', '?a=1;b=2', '?=&='])(
  'FR-WF-NORM-05 the query %s keeps its order',
  query => {
    expect(canonical(`http://e.com/${query}`)).toBe(`http://e.com/${query}`);
  },
);
