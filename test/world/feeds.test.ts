import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';
import { readPage } from '../harness/reader.js';
import { type Listening, listen } from '../kernel/listen.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const LONG = 'Swallows gather on the wires in late August, before they leave for the south.';
const SHORT = 'Swallows gather.';
const LINK = 'https://example.org/swallows';
const NAMESPACES = [
  'xmlns:content="http://purl.org/rss/1.0/modules/content/"',
  'xmlns:media="http://search.yahoo.com/mrss/"',
  'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"',
  'xmlns:dc="http://purl.org/dc/elements/1.1/"',
].join(' ');

const rss = (item: string, link = `<link>${LINK}</link>`): string =>
  `<rss version="2.0" ${NAMESPACES}><channel><title>Birds</title><item><title>Leaving</title>${link}${item}</item></channel></rss>`;
const atom = (entry: string): string =>
  `<feed xmlns="http://www.w3.org/2005/Atom" ${NAMESPACES}><title>Birds</title><entry><title>Leaving</title><link href="${LINK}"/>${entry}</entry></feed>`;
const json = (item: object): string =>
  JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: 'Birds',
    items: [{ id: '1', title: 'Leaving', url: LINK, ...item }],
  });

const WHOLE = `# Birds\n\n-   [Leaving](${LINK})\n    \n    ${LONG}`;

describe('feeds as they are published', () => {
  let app: TestApp;
  let token: string;
  const servers: Listening[] = [];

  before(async () => {
    app = await startApp({ config: { registration: 'open', egressAllow: ['127.0.0.1'] } });
    ({ token } = await app.register('owner'));
  });
  after(async () => {
    await app.stop();
    await Promise.all(servers.map((server) => server.close()));
  });

  const read = async (type: string, feed: string) => {
    const server = await listen(({ url = '' }, response) => {
      if (url === '/robots.txt') return response.writeHead(404).end();
      return response.setHeader('content-type', type).end(feed);
    });
    servers.push(server);
    const url = `${server.origin}/feed`;
    const { kind, content, note } = await readPage(app, token, { url });
    return { kind, content, note };
  };

  it('give the fullest text of each item, under whatever name it has', async () => {
    const encoded = `<content:encoded><![CDATA[<p>${LONG}</p>]]></content:encoded>`;
    const feeds: [type: string, feed: string][] = [
      ['application/rss+xml', rss(encoded)],
      ['application/rss+xml', rss(`<description>${SHORT}</description>${encoded}`)],
      ['application/rss+xml', rss(`<description>${LONG}</description><content:encoded/>`)],
      ['application/rss+xml', rss(`<media:description>${LONG}</media:description>`)],
      ['application/rss+xml', rss(`<itunes:summary>${LONG}</itunes:summary>`)],
      ['application/rss+xml', rss(`<dc:description>${LONG}</dc:description>`)],
      [
        'application/atom+xml',
        atom(
          `<summary>${SHORT}</summary><content type="html">&lt;p&gt;${LONG}&lt;/p&gt;</content>`,
        ),
      ],
      [
        'application/atom+xml',
        atom(`<media:group><media:description>${LONG}</media:description></media:group>`),
      ],
      ['application/feed+json', json({ summary: SHORT, content_text: LONG })],
      ['application/feed+json', json({ summary: SHORT, content_html: `<p>${LONG}</p>` })],
    ];
    const contents = await Promise.all(feeds.map(([type, feed]) => read(type, feed)));
    expect(contents.map(({ content }) => content)).to.equal(feeds.map(() => WHOLE));
  });

  it('keep the marks of a text that is plain', async () => {
    const { content } = await read('application/feed+json', json({ content_text: 'a <b> & c' }));
    expect(content).to.contain('a \\<b> & c');
  });

  it('link each item, if need be by its id or its file', async () => {
    const feeds = [
      rss('', `<guid isPermaLink="true">${LINK}</guid>`),
      rss('', `<guid>${LINK}</guid>`),
      rss('', `<enclosure url="${LINK}" length="1" type="audio/mpeg"/>`),
      rss('', `<guid isPermaLink="false">https://example.org/no</guid><link>${LINK}</link>`),
    ];
    const linked = await Promise.all(feeds.map((feed) => read('application/rss+xml', feed)));
    expect(linked.map(({ content }) => content)).to.equal(
      feeds.map(() => `# Birds\n\n-   [Leaving](${LINK})`),
    );
    const bare = await read(
      'application/rss+xml',
      rss('', '<guid isPermaLink="false">tag:1</guid>'),
    );
    expect(bare.content).to.equal('# Birds\n\n-   Leaving');
  });

  it('are told by what they are, whatever they are labelled', async () => {
    const feed = rss(`<description>${LONG}</description>`);
    const declared = `\ufeff<?xml version="1.0"?>\n<!-- made by hand -->\n${feed}`;
    const labels: [type: string, feed: string][] = [
      ...['text/html', 'text/plain', 'application/rss', 'application/atom', 'text/xml'].map(
        (type): [string, string] => [type, feed],
      ),
      ['application/x-rss+xml', declared],
      ['text/html; charset=utf-8', declared],
      ['application/octet-stream', declared],
      ['application/json', json({ content_text: LONG })],
      ['text/html', json({ content_text: LONG })],
    ];
    const found = await Promise.all(labels.map(([type, text]) => read(type, text)));
    expect(found).to.equal(labels.map(() => ({ kind: 'feed', content: WHOLE, note: null })));
  });

  it('show titles as text, whether their markup is declared, escaped twice or literal', async () => {
    const items = (of: string[]): string =>
      of.map((title) => `<item><title>${title}</title></item>`).join('');
    const entries = (of: string[]): string => of.map((title) => `<entry>${title}</entry>`).join('');
    const { content } = await read(
      'application/rss+xml',
      `<rss version="2.0"><channel><title>Tom &amp;amp; Jerry</title>${items([
        ...['AT&amp;amp;T&amp;#8217;s', '<![CDATA[<b>Bold</b> &amp; x]]>', 'R&amp;D;', '1 &lt; 2'],
        ...['&amp;lt;b&amp;gt;', 'The &lt;b&gt; element', 'caf&eacute; &lt;em&gt;x&lt;/em&gt;'],
      ])}</channel></rss>`,
    );
    expect(content).to.equal(
      [
        '# Tom & Jerry\n\n-   AT&T’s',
        ...['Bold & x', 'R&D;', '1 < 2', '\\<b>', 'The \\<b> element', 'café x'],
      ].join('\n    \n-   '),
    );
    const typed = await read(
      'application/atom+xml',
      `<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">A &amp;amp; B</title>${entries([
        ...['<title type="html">&lt;b&gt;x&lt;/b&gt; &amp;lt;i&amp;gt;</title>'],
        ...['<title>&lt;b&gt;x&lt;/b&gt;</title>', '<title type="text">a &amp;amp; b</title>'],
        '<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><b>1</b> &lt; 2</div></title>',
      ])}</feed>`,
    );
    expect(typed.content).to.equal(
      ['# A & B\n\n-   x \\<i>', '\\<b>x\\</b>', 'a &amp; b', '1 < 2'].join('\n    \n-   '),
    );
    const plain = await read('application/feed+json', json({ title: 'a &amp; <b>b</b>' }));
    expect(plain.content).to.contain('[a &amp; \\<b>b\\</b>]');
  });

  it('resolve relative links by xml:base, and in RSS by the site', async () => {
    const xhtml = '<div xmlns="http://www.w3.org/1999/xhtml"><a href="../y">y</a></div>';
    const { content } = await read(
      'application/atom+xml',
      `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://e.example/blog/"><title>Birds</title>
      <entry><title>a</title><link href="a"/><content type="html">&lt;a href="x"&gt;x&lt;/a&gt;</content></entry>
      <entry xml:base="2024/"><title>b</title><link href="b"/><content type="html" xml:base="notes/">&lt;a href="x"&gt;x&lt;/a&gt;</content></entry>
      <entry xml:base="/2025/"><title>c</title><link href="c"/><content type="xhtml">${xhtml}</content></entry>
      </feed>`,
    );
    const blog = 'https://e.example/blog';
    expect(content?.match(/\(.*?\)/g)).to.equal([
      ...[`(${blog}/a)`, `(${blog}/x)`, `(${blog}/2024/b)`, `(${blog}/2024/notes/x)`],
      ...['(https://e.example/2025/c)', '(https://e.example/y)'],
    ]);
    const site = '<title>Birds</title><link>https://e.example/</link>';
    const item =
      '<item><title>a</title><link>/a</link><description>&lt;a href="/x"&gt;x&lt;/a&gt;</description></item>';
    const ofSite = await read(
      'application/rss+xml',
      `<rss version="2.0"><channel>${site}${item}</channel></rss>`,
    );
    expect(ofSite.content?.match(/\(.*?\)/g)).to.equal([
      '(https://e.example/a)',
      '(https://e.example/x)',
    ]);
  });

  it('may declare entities, of which external ones are not read', async () => {
    const external = '<!ENTITY file SYSTEM "file:///etc/hostname">';
    const subset = `[
      <!-- it's > ours ] -->
      <!ENTITY % latin PUBLIC "-//W3C//ENTITIES Latin 1 for XHTML//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml-lat1.ent">%latin;
      <!ENTITY nbsp "&#160;"><!ENTITY own 'Bird > Society'><!ENTITY long "&own;, Ltd">${external}
    ]`;
    const title = '<title>&long; caf&eacute; <![CDATA[&own;]]> &file;</title>';
    const of = (doctype: string): string =>
      `<?xml version="1.0"?>\n<!DOCTYPE rss ${doctype}>\n<rss version="2.0"><channel>${title}</channel></rss>`;
    const declared = '# Bird > Society, Ltd café &own; &file;';
    for (const type of ['application/rss+xml', 'text/xml']) {
      const { kind, content } = await read(type, of(subset));
      expect([kind, content]).to.equal(['feed', declared]);
    }
    const netscape =
      'PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd"';
    expect((await read('text/xml', of(netscape))).content).to.equal('# &long; café &own; &file;');
    const grows = Array.from(
      { length: 9 },
      (_, at) => `<!ENTITY e${at} "${`&e${at + 1};`.repeat(100)}">`,
    ).join('');
    const comments = '<!---->'.repeat(1000);
    expect((await read('text/xml', `${comments}${rss('')}`)).kind).to.equal('feed');
    expect((await read('text/xml', `${comments}<page/>`)).kind).to.equal('text');
    const bomb = of(`[${grows}]`).replace('&long;', '&e0;');
    expect(await read('text/xml', bomb)).to.contain({ content: null });
  });

  it('are read with prefixes, in capitals and after a style sheet', async () => {
    const feed = rss(`<description>${LONG}</description>`);
    const written = [
      feed.replace('<rss', '<?xml-stylesheet href="a>b.xsl"?><rss'),
      feed.replaceAll(/(?<=<\/?)(rss|channel|title|item)/g, (tag) => tag.toUpperCase()),
      atom(`<summary>${LONG}</summary>`)
        .replace('xmlns=', 'xmlns:a=')
        .replaceAll(/(?<=<\/?)(?=[a-z])/g, 'a:'),
    ];
    for (const text of written) expect((await read('text/xml', text)).content).to.equal(WHOLE);
  });

  it('are pages if the server sends HTML in their place', async () => {
    const page = '<!doctype html><html><body><p>Log in to read the feed.</p></body></html>';
    const { kind, content } = await read('application/rss+xml', page);
    expect([kind, content]).to.equal(['page', 'Log in to read the feed.']);
  });

  it('keep their complete entries if their end is missing', async () => {
    const entries = [
      `<item><title>Leaving</title><link>${LINK}</link><description>${LONG}</description></item>`,
      `<item><title>Late</title><description><![CDATA[<p>${SHORT}</p></item>]]></description></item>`,
    ].join('');
    const feed = `<rss version="2.0" ${NAMESPACES}><channel><title>Birds</title>${entries}</channel></rss>`;
    const note = 'The feed is incomplete. Entries at its end are missing';
    const cuts = ['<descr', '</title>', '<![CDATA[', SHORT, '</item>]]>', '</description>'];
    const second = feed.indexOf('<item>', feed.indexOf('</item>'));
    const upTo = (at: string): string => feed.slice(0, feed.indexOf(at, second) + at.length - 1);
    const cut = await Promise.all(cuts.map((at) => read('application/rss+xml', upTo(at))));
    expect(cut).to.equal(cuts.map(() => ({ kind: 'feed', content: WHOLE, note })));
    const late = await read('text/xml', feed.replace('</channel></rss>', ''));
    expect(late).to.equal({
      kind: 'feed',
      content: `${WHOLE}\n    \n-   Late\n    \n    ${SHORT}`,
      note,
    });
    const whole = atom(`<summary>${LONG}</summary>`);
    for (const end of ['<entry><title>Lat', '</fee', '']) {
      const found = await read('application/atom+xml', whole.replace('</feed>', end));
      expect(found).to.contain({ content: WHOLE, note });
    }
    expect((await read('application/atom+xml', `${whole}<script>`)).note).to.be.null();
  });

  it('say so too if their end is missing within the first entry', async () => {
    const rss = `<rss version="2.0"><channel><title>Birds</title><item><title>Leaving</title>`;
    const feed =
      '<feed xmlns="http://www.w3.org/2005/Atom"><title>Birds</title><entry><title>Leaving</title>';
    const rdf = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>Birds</title></channel><item><title>Leaving</title>`;
    const note = 'The feed is incomplete. Entries at its end are missing';
    for (const whole of [rss, feed, rdf]) {
      for (const cut of [
        whole,
        whole.slice(0, -3),
        whole.slice(0, whole.indexOf('Leaving') - 10),
      ]) {
        const found = await read('application/xml', cut);
        expect(found, cut).to.equal({ kind: 'feed', content: '# Birds', note });
      }
    }
  });

  it('say that they have no items', async () => {
    const empty = '<rss version="2.0"><channel><title>Birds</title></channel></rss>';
    expect(await read('application/rss+xml', empty)).to.equal({
      kind: 'feed',
      content: '# Birds',
      note: 'The feed has no items',
    });
  });
});
