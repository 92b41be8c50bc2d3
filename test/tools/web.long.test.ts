import type { RequestListener } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp, type Http } from '../../src/kernel/http.js';
import {
  readPageInWorker as readPage,
  readPageInWorker,
} from '../../src/providers/pages/pageworker.js';
import { createWebSearch } from '../../src/providers/search/search.js';
import type { ToolContext } from '../../src/tools/tool.js';
import { webTools } from '../../src/tools/web.js';
import { type Listening, listen } from '../kernel/listen.js';
import { contextOf, failureOf } from './context.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HTML = `<!doctype html><html><head><title> A &amp; B </title>
<style>p { color: red }</style><script>if (a < b) steal('</p>')</script></head>
<body><!-- <p>not this</p> --><h1>Head&nbsp;line</h1><p>One
two <b>three</b> <a href="/next?a=1&amp;b=2">on</a>.</p>
<ul><li>first<li title="a > b">second &#x2014; &#8364; &unknown; &#xD800;</ul>
<a href="javascript:alert(1)">no</a> 1 < 2 &lt;b&gt;</body></html>`;

const ORDINARY = Buffer.from(
  `<title>T</title>${HTML.replace('Head', 'Gr\xfc\xdfe')}`.repeat(600),
  'latin1',
);
const MAX_BYTES = 5 * 1024 * 1024;
const packed = (html: string) => ({
  headers: { 'content-type': 'text/html', 'content-encoding': 'gzip' },
  body: gzipSync(html),
});
const LARGE = new Map([
  ['/links', packed('<a href=x>'.repeat(MAX_BYTES / 10))],
  ['/signs', packed('<'.repeat(MAX_BYTES))],
]);

const answer: RequestListener = (request, response) => {
  const type = (value: string) => response.setHeader('content-type', value);
  switch (new URL(request.url ?? '', 'http://x').pathname) {
    case '/page':
      type('text/html; charset=utf-8');
      return response.end(HTML);
    case '/brotli':
      type('text/html; charset=utf-8');
      response.setHeader('content-encoding', 'br');
      return response.end(brotliCompressSync(HTML));
    case '/led':
      return response.writeHead(302, { location: '/page?a=1' }).end('<p>moved');
    case '/title':
      type('text/html');
      return response.end(`<title>a${'🤑'.repeat(150)}secret</title><p>text`);
    case '/latin':
      type('text/html; charset=iso-8859-1');
      return response.end(Buffer.from('<p>Gr\xfc\xdfe', 'latin1'));
    case '/json':
      type('application/json');
      return response.end('{"a":1}');
    case '/image':
      type('image/png');
      return response.end('png');
    case '/ordinary':
      type('text/html; charset=iso-8859-1');
      return response.end(ORDINARY);
    case '/long':
      type('text/plain; charset=nonsense');
      return response.end('x'.repeat(200_000));
    case '/search': {
      const found = { title: 'T', url: 'https://example.org/', content: 'C', more: 1 };
      const results = [found, null, { url: 'javascript:x' }, { url: 'https://b.example/' }];
      return response.end(JSON.stringify({ query: request.url, results }));
    }
    default:
      response.statusCode = 404;
      return response.end('<p>gone');
  }
};

describe('web', () => {
  let http: Http;
  let server: Listening;
  before(async () => {
    server = await listen((request, response) => {
      const large = LARGE.get(request.url ?? '');
      if (large) response.writeHead(200, large.headers).end(large.body);
      else answer(request, response);
    });
    http = createHttp({ allow: [server.entry] });
  });
  after(async () => {
    await http.close();
    await server.close();
  });
  const searching = (searchUrl: string | null) =>
    createWebSearch({
      http,
      config: { searchProvider: null, searchUrl, searchKey: null },
      key: async () => null,
    });
  const run = async (
    name: string,
    args: Record<string, unknown>,
    searchUrl: string | null = null,
    context: Partial<ToolContext> = {},
  ) => {
    const search = searching(searchUrl);
    const tool = webTools({ http, search, readPage }).tools.find((one) => one.name === name);
    return Object(await tool?.run(args, contextOf(context)));
  };
  const at = (path: string): string => `${server.origin}${path}`;

  it('reads a page as a person would', async () => {
    expect(await run('read', { url: at('/page') })).to.equal({
      url: at('/page'),
      status: 200,
      title: 'A & B',
      text: [
        'Head line',
        `One two three on (${at('/next?a=1&b=2')}).`,
        'first',
        'second — € &unknown; \ufffd',
        'no 1 < 2 <b>',
      ].join('\n'),
    });
  });

  it('reads text as it is, in its own spelling, and says where it is cut', async () => {
    expect((await run('read', { url: at('/latin') })).text).to.equal('Grüße');
    expect((await run('read', { url: at('/json') })).text).to.equal('{"a":1}');
    const { text, truncated } = await run('read', { url: at('/long') });
    const missing = { missingChars: 68_928, nextOffset: 131_072 };
    expect([text.length, truncated]).to.equal([131_072, missing]);
    const rest = await run('read', { url: at('/long'), offset: truncated.nextOffset });
    expect([rest.text.length, rest.truncated]).to.equal([68_928, undefined]);
    const gone = await run('read', { url: at('/missing') });
    expect([gone.status, gone.text]).to.equal([404, 'gone']);
  });

  it('reads a page that comes in a content-encoding', async () => {
    const { title, text } = await run('read', { url: at('/brotli') });
    expect([title, text.split('\n')[0]]).to.equal(['A & B', 'Head line']);
  });

  it('cuts a long title between characters, and redacts it before', async () => {
    const cut = `a${'🤑'.repeat(149)}`;
    expect((await run('read', { url: at('/title') })).title).to.equal(cut);
    const redact = async (text: string) => text.replace('🤑secret', '').replace('🤑', 'b');
    const { title } = await run('read', { url: at('/title') }, null, { redact });
    expect(title).to.equal(`ab${'🤑'.repeat(148)}`);
  });

  it('reads a large page as it reads a small one', async () => {
    expect(ORDINARY.length).to.be.above(200 * 1024);
    const { title, text } = await run('read', { url: at('/ordinary') });
    const lines = text.split('\n');
    expect([title, lines[0], lines.length]).to.equal(['T', 'Gr\xfc\xdfe line', 600 * 5]);
  });

  it('reads a large page up to what is too complex', async () => {
    for (const [path, isRead] of [
      ['/links', /too complex|levels deep/],
      ['/signs', /^<{1000}/],
    ] as const) {
      const text = await run('read', { url: at(path) }).then(
        (result) => result.text,
        (error) => error.message,
      );
      expect(text, path).to.match(isRead);
    }
  });

  it('gives up a page that takes too long, and one that nobody waits for', async () => {
    const page = {
      contentType: 'text/html',
      body: Buffer.alloc(MAX_BYTES, '<p>'),
      url: at('/signs'),
    };
    const wish = { format: 'text', isWhole: true, hasAddresses: true, most: 1000 } as const;
    const read = (signal = new AbortController().signal, limitMs?: number) =>
      failureOf(readPageInWorker(page, wish, { userId: 'user_1', signal, limitMs }));
    expect(await read(undefined, 1)).to.equal({
      name: 'PageUnreadable',
      kind: null,
      message: 'is too complex to read',
    });
    const controller = new AbortController();
    // The second one waits for its turn.
    const reads = Promise.all([read(controller.signal), read(controller.signal)]);
    setImmediate(() => controller.abort(new Error('stopped')));
    expect((await reads).map(({ message }) => message)).to.equal(['stopped', 'stopped']);
    expect((await read(AbortSignal.abort(new Error('before')))).message).to.equal('before');
  });

  it('follows no redirect of a call by a grant', async () => {
    const read = async (context: Partial<ToolContext>) => {
      const reply = await run('read', { url: at('/led') }, null, context);
      return [reply.status, reply.url, reply.notFollowed];
    };
    const led = at('/page?a=1');
    expect(await read({ isApproved: true })).to.equal([200, led, undefined]);
    expect(await read({ isApproved: true, isByGrant: true })).to.equal([302, at('/led'), led]);
  });

  it('refuses what is no text and what may not be reached', async () => {
    expect((await failureOf(run('read', { url: at('/image') }))).message).to.equal(
      `${at('/image')} is not text. The content type is image/png. Use another page, or upload its content as a document`,
    );
    const refused = await failureOf(run('read', { url: 'http://169.254.169.254/' }));
    expect(refused.message).to.match(/^web\.read: url cannot be used: 169\.254\.169\.254/);
  });

  it('searches where there is an address for it, and says so elsewhere', async () => {
    const searchUrl = at('/search?lang=de');
    expect(await run('search', { query: 'a&b', count: 2 }, searchUrl)).to.equal({
      results: [
        { title: 'T', url: 'https://example.org/', snippet: 'C' },
        { title: '', url: 'https://b.example/', snippet: '' },
      ],
    });
    expect(server.got.at(-1)?.path).to.equal('/search?lang=de&q=a%26b&format=json');
    const wrong = await failureOf(run('search', { query: 'x' }, at('/json')));
    expect(wrong.message).to.equal(
      'The search provider returned status 200 without results. Check the search settings',
    );
    const [, search] = webTools({ http, search: searching(null), readPage }).tools;
    expect(search?.unavailable).to.match(/^Web search is not configured/);
    expect((await failureOf(run('search', { query: 'x' }))).name).to.equal('ToolRefused');
  });

  it('sends out and brings in from outside, without effects', () => {
    for (const tool of webTools({ http, search: searching(null), readPage }).tools) {
      const { sideEffects, sendsOut, outside } = tool;
      expect([sideEffects, sendsOut, outside]).to.equal([false, true, true]);
    }
  });
});
