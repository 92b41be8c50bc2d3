import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { convertPage } from '../../../src/providers/pages/convert.js';
import type { PageFormat, PageText } from '../../../src/providers/pages/page.js';

export const lab = Lab.script();
const { describe, it } = lab;

const URL = 'https://example.org/a/page';

const read = (
  body: string | Uint8Array,
  { type = 'text/html; charset=utf-8', format = 'text' as PageFormat, isWhole = true } = {},
): Promise<PageText> =>
  convertPage(
    { body: typeof body === 'string' ? Buffer.from(body) : body, contentType: type, url: URL },
    { format, isWhole, hasAddresses: false, most: 1_000_000 },
  );

/** The visible text of a page with these styles and this body. */
const seen = async (body: string, css = ''): Promise<string | null> =>
  (await read(`<style>${css}</style><body>${body}</body>`)).content;

/** Styles that hide the paragraph, and styles that do not. */
const HIDING = [
  '.one { display: none }',
  'p.one.two { display: none }',
  '#i { display: none }',
  '[data-n="1"] { display: none }',
  'body > p { display: none }',
  'p:not(.three) { display: none }',
  '.zero, .one { display: none }',
  '@media screen { .one { display: none } }',
  '@media (min-width: 800px) { .one { display: none } }',
  '@media print { .one { display: block } } .one { display: none }',
  '@supports (display: grid) { .one { display: none } }',
  '.one { display: block } .one { display: none }',
  '.one { display: none !important } #i { display: block }',
  ':root { --c: #fff } .one { color: var(--c) }',
  'body { .one { display: none } }',
  '.one { a://b; display: none }',
  '.zero { content: "/*" } .one { display: none } .zero { content: "*/" }',
  '<!-- .one { display: none } -->',
  '.one { display: none } .one:parent { display: block !important }',
  '.one { display: none } .one, :nonsense { display: block !important }',
  '.one:defined:not(:hover) { display: none }',
];
const SHOWING = [
  '.three { display: none }',
  '.one .two { display: none }',
  '.one { display: none } #i { display: block }',
  '.one { display: none } .one { display: block }',
  '@media print { .one { display: none } }',
  '@media (max-width: 600px) { .one { display: none } }',
  '@media (prefers-color-scheme: dark) { .one { display: none } }',
  '/* .one { display: none } */',
  '.one::before { display: none }',
  '.one:hover { display: none }',
  'p:nonsense( { display: none }',
];

const RSS = `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>
  <link>https://example.org/</link><item><title>One &amp; all</title>
  <link>https://example.org/1</link><pubDate>Tue, 03 Mar 2026 10:00:00 GMT</pubDate>
  <description>&lt;p&gt;Text &lt;span style="display:none"&gt;secret&lt;/span&gt;&lt;/p&gt;</description>
  </item></channel></rss>`;
const ATOM = `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>
  <link href="https://example.org/"/><entry><title>One &amp; all</title>
  <link href="https://example.org/1"/><updated>2026-03-03T10:00:00Z</updated>
  <summary>Text</summary></entry></feed>`;
const JSON_FEED = JSON.stringify({
  version: 'https://jsonfeed.org/version/1.1',
  title: 'News',
  home_page_url: 'https://example.org/',
  items: [
    {
      id: '1',
      title: 'One & all',
      url: 'https://example.org/1',
      date_published: '2026-03-03T10:00:00Z',
      content_html: '<p>Text</p>',
    },
  ],
});

describe('convertPage: hidden text', () => {
  it('leaves out what attributes and elements hide', async () => {
    const hidden = [
      '<p hidden>x</p>',
      '<!-- x -->',
      '<template><p>x</p></template>',
      '<noscript>x</noscript>',
      '<script>x</script>',
      '<dialog>x</dialog>',
      '<svg><text>x</text></svg>',
      '<textarea>x</textarea>',
      '<select><option>x</select>',
      '<iframe>x</iframe>',
      '<input value="x">',
    ];
    for (const each of hidden) expect(await seen(`a ${each} b`), each).to.equal('a b');
  });

  it('leaves out what an inline style hides', async () => {
    const styles = [
      'display:none',
      'DISPLAY : none !important',
      'visibility:hidden',
      'visibility: collapse',
      'opacity:0',
      'opacity:0.0',
      'opacity:1%',
      'font-size:0',
      'font-size:1.5px',
      'font-size:0.1em',
      'font:1px serif',
      'position:absolute;left:-9999px',
      'position:fixed;top:-200vh',
      'text-indent:-9999px',
      'transform:translateX(-9999px)',
      'transform:scale(0)',
      'margin-left:-9999px',
      'position:absolute;clip:rect(0,0,0,0)',
      'clip-path:inset(100%)',
      'height:0;overflow:hidden',
      'color:#fff',
      'color:rgb(250, 250, 255)',
      'color:transparent',
      'color:hsla(0, 0%, 0%, 0)',
      'color:#123;background:#123',
      'color:black;background-color:#010101',
      'dis\\70lay:none',
      'display:/**/none',
      'content:";";display:none',
    ];
    for (const style of styles) {
      expect(await seen(`a <span style='${style}'>x</span> b`), style).to.equal('a b');
    }
  });

  it('keeps what is seen', async () => {
    const styles = [
      'display:block',
      'visibility:visible',
      'opacity:.9',
      'font-size:8px',
      'position:absolute;left:10px',
      'color:#777',
      'color:#fff;background:#000',
      'color:#fff;background:url(dark.png)',
      'color:#fff;background:linear-gradient(red, blue)',
      'color:var(--unknown)',
      'overflow:hidden;height:20px',
      'transform:translateX(10px) scale(1.0)',
    ];
    for (const style of styles) {
      expect(await seen(`a <span style='${style}'>x</span> b`), style).to.equal('a x b');
    }
  });

  it('applies rules by their cascade', async () => {
    const page = 'a <p class="one two" id=i data-n=1>x</p> b';
    for (const css of HIDING)
      expect((await seen(page, css))?.replace(/\s+/g, ' '), css).to.equal('a b');
    for (const css of SHOWING) expect(await seen(page, css), css).to.equal('a\nx\nb');
  });

  it('shows what is made visible again, and no more', async () => {
    const inherited = '<div style="visibility:hidden">x <b style="visibility:visible">y</b></div>';
    expect(await seen(inherited)).to.equal('y');
    const smaller = '<ul style="font-size:0">x<li style="font-size:14px">y</li></ul>';
    expect(await seen(smaller)).to.equal('y');
    expect(
      await seen('<div style="display:none">x <b style="display:block">x</b></div>y'),
    ).to.equal('y');
    expect(await seen('y', 'body { visibility: hidden; opacity: 0 }')).to.equal('y');
    expect(await seen('<p hidden style="display:block">y</p>')).to.equal('y');
  });

  it('takes chat-template tokens and unseen characters out', async () => {
    const texts = [
      ['a<|im_start|>b', 'ab'],
      ['a&lt;|im_end|&gt;b', 'ab'],
      ['a<|im_<|im_start|>start|>b', 'ab'],
      ['a[INST]b[/INST]c', 'abc'],
      ['a&lt;&lt;SYS>>b&lt;&lt;/SYS>>c', 'abc'],
      ['a<b>&lt;|im_</b><i>start|></i>b', 'ab'],
      ['a<|im\u200b_start|>b', 'ab'],
      ['a\u200bb\u2060c\u{e0041}d\u202ee', 'abcde'],
      ['&lt;start_of_turn>user', 'user'],
      ['👩\u200d🔬 می\u200cخواهم', '👩\u200d🔬 می\u200cخواهم'],
      ['a\u200db', 'ab'],
      [`${'&lt;'.repeat(500)}${'|a|>'.repeat(500)}b`, `${'a'.repeat(450)}b`],
      ['[INSTALL] <|> a | b', '[INSTALL] <|> a | b'],
    ];
    for (const [text = '', left = ''] of texts) expect(await seen(text), text).to.equal(left);
    const link = await read('<a href="/x">INST</a>', { format: 'markdown' });
    expect(link.content).not.to.contain('[INST]');
    const { title } = await read('<title>a&lt;|im_start|>b</title>x');
    expect(title).to.equal('ab');
    const json = await read('{"a":"<|im_start|>"}', { type: 'application/json' });
    expect([json.kind, json.content]).to.equal(['json', '{"a":""}']);
  });
});

describe('convertPage: forms', () => {
  it('writes Markdown in which text makes no elements', async () => {
    const { content } = await read(
      `<h2>H</h2><p>1 &lt; 2 &lt;img src=x onerror=alert(1)&gt; *x* <del>old</del></p>
      <table><tr><th>A<th>B</tr><tr><td>1<td>2 | 3<br>4</tr></table>
      <pre>a\n  b</pre><pre><code>c\n</code></pre><ol><li>one<li>two</ol>
      <img src="/i.png" alt="I"><img src="data:image/png;base64,AA"><a href="javascript:x">js</a>`,
      { format: 'markdown' },
    );
    expect(content).to.equal(
      [
        '## H',
        '1 < 2 \\<img src=x onerror=alert(1)> \\*x\\* ~~old~~',
        '| A | B |\n| --- | --- |\n| 1 | 2 \\| 3 4 |',
        '```\na\n  b\n```',
        '```\nc\n```',
        '1.  one\n2.  two',
        '![I](https://example.org/i.png)js',
      ].join('\n\n'),
    );
  });

  it('writes HTML that runs nothing', async () => {
    const { content } = await read(
      `<p onclick="x()" style="color:red" class=c>a <b>&lt;script></b></p><form action=/x>f</form>
      <a href="javascript:x" target=_blank>js</a><a href="https://u:p@example.org/">l</a>
      <a href=" JAVASCRIPT:x">js</a><img src=x onerror=x><object data=x>o</object><base href="//evil">`,
      { format: 'html' },
    );
    expect(content?.replace(/\s*\n\s*/g, '')).to.equal(
      '<p>a <b>&lt;script&gt;</b></p>f<a>js</a> <a>l</a><a>js</a><img src="https://evil/x" alt="">',
    );
  });

  it('lists the links of a page, each once, and only those that lead somewhere', async () => {
    const { links } = await read(
      `<a href="/b">B</a><a href="/b">again</a><a href="#x">x</a><a href="mailto:a@b.c">m</a>
      <a href="data:text/html,x">d</a><a href="//c.example/">C</a>`,
    );
    expect(links).to.equal([
      { text: 'B', url: 'https://example.org/b' },
      { text: 'm', url: 'mailto:a@b.c' },
      { text: 'C', url: 'https://c.example/' },
    ]);
  });

  it('counts words, also of scripts without spaces', async () => {
    expect((await read("it's 3.5 km to the e-mail")).words).to.equal(6);
    expect((await read('私は学生です')).words).to.be.within(3, 6);
  });
});

describe('convertPage: kinds', () => {
  it('finds the article of a page', async () => {
    const text = 'A sentence with several words, a comma, and an end. '.repeat(8);
    const page = `<nav>Menu</nav><article><h1>T</h1>${`<p>${text}</p>`.repeat(5)}</article>`;
    const article = await read(page, { isWhole: false });
    expect([article.kind, article.content?.includes('Menu')]).to.equal(['article', false]);
    const whole = await read(page);
    expect([whole.kind, whole.content?.startsWith('Menu')]).to.equal(['page', true]);
  });

  it('leaves what stands around the main part of a short page out', async () => {
    const around = (inner: string) =>
      `<header role="banner">Brand</header><nav>Menu</nav>${inner}<aside>More</aside>` +
      '<div role="contentinfo">Address</div><footer>Imprint</footer>';
    const short = async (body: string, isWhole = false) =>
      (await read(around(body), { isWhole })).content?.split(/\s+/);
    const main = '<article><p>Short</p><aside>Note</aside><footer>Ada</footer></article>';
    expect(await short(main)).to.equal(['Short', 'Note', 'Ada']);
    expect(await short('<main>One</main>')).to.equal(['One']);
    expect(await short('<div role="main">One</div>')).to.equal(['One']);
    const all = ['Brand', 'Menu', 'One', 'More', 'Address', 'Imprint'];
    expect(await short('<p>One</p>')).to.equal(all);
    expect(await short('<main> </main><p>One</p>')).to.equal(all);
    expect(await short('<main>One</main>', true)).to.equal(all);
    const inside = await read('<nav><article>Only</article></nav>', { isWhole: false });
    expect(inside.content).to.equal('Only');
  });

  it('keeps the parts of an article that link to themselves, and no list of links', async () => {
    const text = 'A sentence with several words, a comma, and an end. '.repeat(8);
    const part = (href: string) =>
      `<div><h3><a href="${href}">The third macro</a></h3><p><a href="${href}">A name of it</a> stands for a thing, a part, and a name</p></div>`;
    const page = (href: string) =>
      `<article>${`<p>${text}</p>`.repeat(5)}<div>${part(href).repeat(8)}</div></article>`;
    const own = await read(page('#third'), { isWhole: false });
    expect([own.kind, own.content?.includes('The third macro')]).to.equal(['article', true]);
    const others = await read(page('/third'), { isWhole: false });
    expect([others.kind, others.content?.includes('The third macro')]).to.equal(['article', false]);
  });

  it('reads feeds of every kind as lists', async () => {
    for (const [body, type] of [
      [RSS, 'application/rss+xml'],
      [RSS, 'text/xml'],
      [ATOM, 'application/atom+xml'],
      [JSON_FEED, 'application/feed+json'],
    ] as const) {
      const feed = await read(body, { type, format: 'markdown' });
      expect([feed.kind, feed.title, feed.canonicalUrl]).to.equal([
        'feed',
        'News',
        'https://example.org/',
      ]);
      expect(feed.content, type).to.equal(
        '# News\n\n-   [One & all](https://example.org/1) (2026-03-03)\n    \n    Text',
      );
    }
    const broken = await read('<rss', { type: 'application/rss+xml' }).catch(String);
    expect(broken).to.contain('is not a valid feed');
  });

  it('tells the kind by the first bytes where no type is named', async () => {
    const kindOf = async (body: string | Uint8Array, type = '') =>
      (await read(body, { type }).catch((error) => error)).kind;
    expect(await kindOf('<!doctype html><p>x')).to.equal('page');
    expect(await kindOf('<p>x')).to.equal('page');
    expect(await kindOf('plain')).to.equal('text');
    expect(await kindOf('%PDF-1.7', 'text/html')).to.equal('pdf');
    expect(await kindOf('<rss><channel><title>x</title></channel></rss>')).to.equal('feed');
    const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
    expect(await kindOf('PK', word)).to.equal('office');
    const noText = new Uint8Array(2000).map((_, at) => (at * 37) % 256);
    expect(await read(noText, { type: 'text/html' }).catch(String)).to.contain('is not text');
    const wide = Buffer.from('<p>wide', 'utf16le');
    expect(await kindOf(wide, 'text/html; charset=utf-16le')).to.equal('page');
    const zip = await read('PK\u0003\u0004', { type: 'application/zip' }).catch(String);
    expect(zip).to.contain('is not text. The content type is application/zip');
  });

  it('says of an image how large it is', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAADUlEQVR4nGNggAAAAAYAAWAQ/hYAAAAASUVORK5CYII=',
      'base64',
    );
    const image = await read(png, { type: 'image/png' });
    expect([image.kind, image.content, image.excerpt]).to.equal([
      'image',
      null,
      'Image (png), 3 × 2 pixels. Text in images is not read.',
    ]);
    const broken = await read(png.subarray(0, 10), { type: 'image/png' });
    expect(broken.excerpt).to.equal('Image (png). Text in images is not read.');
  });
});

describe('convertPage: charsets', () => {
  const german = 'Die Straße führt über die Brücke; größere Fässer dürfen nicht hinüber. ';
  const textOf = async (body: Uint8Array, type: string): Promise<string | null> =>
    (await read(body, { type })).content;

  it('takes that of the header, of the page, or of its mark', async () => {
    const latin = Buffer.from(`<p>${german}`, 'latin1');
    expect(await textOf(latin, 'text/html; charset=iso-8859-1')).to.equal(german.trim());
    const stated = Buffer.from(`<meta charset="windows-1252"><p>${german}`, 'latin1');
    expect(await textOf(stated, 'text/html')).to.equal(german.trim());
    const marked = Buffer.from(`\ufeff<p>${german}`, 'utf16le');
    expect(await textOf(marked, 'text/html; charset=iso-8859-1')).to.equal(german.trim());
  });

  it('guesses where none is named, or the named one is unknown or not true', async () => {
    const latin = Buffer.from(`<p>${german.repeat(5)}`, 'latin1');
    for (const type of ['text/html', 'text/html; charset=nonsense', 'text/html; charset=utf-8']) {
      expect(await textOf(latin, type), type).to.equal(german.repeat(5).trim());
    }
    const damaged = Buffer.concat([Buffer.from(`<p>${german.repeat(5)}`), Buffer.from([0xff])]);
    for (const type of ['text/html', 'text/html; charset=utf-8']) {
      expect(await textOf(damaged, type)).to.equal(`${german.repeat(5)}\ufffd`);
    }
    const japanese = Buffer.from('k/qWe4zqgs2TyI/rQpPgjnGCxY+ck9iQ5JFlg1eDXYN3g5ODQoFC', 'base64');
    expect(typeof (await textOf(japanese, 'text/plain'))).to.equal('string');
  });
});
