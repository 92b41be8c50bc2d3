import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';
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
    const body = { url: `${server.origin}/feed`, wait: 30 };
    const { kind, content, note } = (await app.call('POST', '/api/reader/read', { token, body }))
      .body;
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

  it('say that they have no items', async () => {
    const empty = '<rss version="2.0"><channel><title>Birds</title></channel></rss>';
    expect(await read('application/rss+xml', empty)).to.equal({
      kind: 'feed',
      content: '# Birds',
      note: 'The feed has no items',
    });
  });
});
