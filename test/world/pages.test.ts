import type { RequestListener } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';
import { readPage as readTask } from '../harness/reader.js';
import { type Listening, listen } from '../kernel/listen.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SENTENCE = 'The ferry crosses the sound at noon. ';
const ARTICLE = `<!doctype html><title>Ferry</title><article><p>${SENTENCE.repeat(20)}</p></article>`;
const MOVED = '<title>Moved</title><p>Moved.</p>';
const HTML = { 'content-type': 'text/html; charset=utf-8' };

describe('pages of ordinary sites', () => {
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

  /** Each server is a host of its own, so that no reading waits for the pace of another. */
  const serve = async (answer: RequestListener): Promise<Listening> => {
    const server = await listen(answer);
    servers.push(server);
    return server;
  };
  const pages = (bodies: Record<string, string>, headers: object = {}): RequestListener => {
    return ({ url = '' }, response) =>
      response
        .writeHead(url in bodies ? 200 : 404, { ...HTML, ...headers })
        .end(bodies[url] ?? 'no');
  };
  const read = (url: string, more: object = {}) => readTask(app, token, { url, ...more });
  const readPage = async (body: string, more: object = {}) => {
    const { origin } = await serve(pages({ '/': body }));
    return { url: `${origin}/`, task: await read(`${origin}/`, more) };
  };

  describe('without a text that is seen', () => {
    it('fail and say how much the styles hide', async () => {
      const hidden = `<main><div style="opacity:0"><p>${'x'.repeat(600)}</p></div></main>`;
      const { url, task } = await readPage(`<title>T</title>${hidden}`);
      expect([task.status, task.error]).to.equal([
        'failed',
        `${url} has no visible text: 600 characters are hidden by the styles of the page. Use another page, or upload its content as a document`,
      ]);
      const indexed = await readPage(`<title>T</title>${hidden}`, { index: true });
      expect([indexed.task.status, indexed.task.knowledgeId]).to.equal(['failed', null]);
    });

    it('say that a script would write it', async () => {
      const { url, task } = await readPage('<div id="root"></div><script src="/app.js"></script>');
      expect([task.status, task.error]).to.equal([
        'failed',
        `${url} has no visible text. The scripts of the page may create text, but scripts are not run. Use another page, or upload its content as a document`,
      ]);
    });

    it('are empty as text or JSON too', async () => {
      const { origin } = await serve((_request, response) => {
        response.setHeader('content-type', 'text/plain').end(' \n');
      });
      expect((await read(`${origin}/`)).error).to.equal(
        `${origin}/ is empty. Use another page, or upload its content as a document`,
      );
    });

    it('are completed with a note where most is hidden, or there are pictures alone', async () => {
      const most = `<h1>The bridge</h1><p style="visibility:hidden">${'y'.repeat(600)}</p>`;
      const { task } = await readPage(most);
      expect([task.status, task.content, task.note]).to.equal([
        'completed',
        '# The bridge',
        'Most of the text is left out: 600 characters are hidden by the styles of the page',
      ]);
      const picture = await readPage('<img src="/a.png" alt="">', { index: true });
      expect([picture.task.status, picture.task.words]).to.equal(['completed', 0]);
      expect(picture.task.note).to.equal('The page has images but no visible text');
    });

    it('have no note where little is hidden', async () => {
      const { task } = await readPage(
        `<p hidden>${'z'.repeat(300)}</p><p>${SENTENCE.repeat(20)}</p>`,
      );
      expect([task.status, task.note]).to.equal(['completed', null]);
    });
  });

  describe('that lead on', () => {
    const leading = async (meta: string) => {
      const { origin } = await serve(pages({ '/': `${meta}${MOVED}`, '/there': ARTICLE }));
      const { status, finalUrl, kind, error } = await read(`${origin}/`);
      return { status, to: String(finalUrl).replace(origin, ''), kind, error };
    };
    const there = { status: 'completed', to: '/there', kind: 'article', error: null };

    it('by a meta element, however it is written', async () => {
      for (const content of [
        '0; url=/there',
        "0;URL='/there'",
        '3, /there',
        '0.5 ;  url = there',
      ]) {
        expect(await leading(`<meta http-equiv="Refresh" content="${content}">`), content).to.equal(
          there,
        );
      }
    });

    it('by a header, and from the base of the page', async () => {
      const { origin } = await serve((request, response) => {
        if (request.url === '/there') return response.writeHead(200, HTML).end(ARTICLE);
        return response.writeHead(200, { ...HTML, refresh: '0; url=/there' }).end(MOVED);
      });
      expect((await read(`${origin}/`)).finalUrl).to.equal(`${origin}/there`);
      const base = '<base href="/x/"><meta http-equiv=refresh content="0;url=../there">';
      expect(await leading(base)).to.equal(there);
    });

    it('are read themselves where they lead on late, to themselves, or for scripts alone', async () => {
      for (const meta of [
        '<meta http-equiv=refresh content="60; url=/there">',
        '<meta http-equiv=refresh content="5">',
        '<meta http-equiv=refresh content="0; url=/">',
        '<meta http-equiv=refresh content="0; url=javascript:alert(1)">',
        '<noscript><meta http-equiv=refresh content="0; url=/there"></noscript>',
      ]) {
        expect(await leading(meta), meta).to.include({ status: 'completed', to: '/' });
      }
    });

    it('to a private address, or in a circle, are refused', async () => {
      const refused = await leading('<meta http-equiv=refresh content="0; url=http://10.0.0.1/">');
      expect(refused.status).to.equal('failed');
      expect(refused.error).to.match(/^10\.0\.0\.1 is refused: /);
      const { origin } = await serve(({ url }, response) => {
        const next = url === '/a' ? '/b' : '/a';
        response
          .writeHead(200, HTML)
          .end(`<meta http-equiv=refresh content="0; url=${next}">${MOVED}`);
      });
      expect((await read(`${origin}/a`)).error).to.equal(
        '127.0.0.1: the host redirects too many times',
      );
    });
  });

  describe('that want a cookie', () => {
    const walled =
      (ask: Record<string, string>, cookie = 'ok=1; Path=/; HttpOnly'): RequestListener =>
      ({ url = '', headers }, response) => {
        const go = (location: string, more: object = {}) =>
          response.writeHead(302, { location, ...more }).end();
        if (url === '/set') return go('/page', { 'set-cookie': ['a=2; Path=/other', cookie] });
        if (/(^|; )ok=1/.test(headers.cookie ?? ''))
          return response.writeHead(200, HTML).end(ARTICLE);
        return go(ask[url] ?? url, ask[url] ? {} : { 'set-cookie': cookie });
      };

    it('get it back, from a redirect to themselves or from another page', async () => {
      const own = await serve(walled({}));
      expect((await read(`${own.origin}/page`)).kind).to.equal('article');
      expect(own.got.map(({ headers }) => headers.cookie)).to.equal([undefined, 'ok=1']);
      const other = await serve(walled({ '/page': '/set' }));
      expect((await read(`${other.origin}/page`)).kind).to.equal('article');
      const expiring = 'ok=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Path=/';
      const dated = await serve(walled({}, expiring));
      expect((await read(`${dated.origin}/page`)).kind).to.equal('article');
    });

    it('get it for the one reading, and no other host does', async () => {
      const there = await serve(pages({ '/': ARTICLE }));
      const here = await serve((_request, response) => {
        const headers = { location: `${there.origin}/`, 'set-cookie': 'ok=1; Path=/' };
        response.writeHead(302, headers).end();
      });
      expect((await read(`${here.origin}/`)).status).to.equal('completed');
      expect((await read(`${here.origin}/`)).status).to.equal('completed');
      const got = [...here.got, ...there.got].map(({ headers }) => headers.cookie);
      expect(got).to.equal([undefined, undefined, undefined, undefined]);
    });

    it('say so where it cannot be kept', async () => {
      const { origin } = await serve(walled({}, 'ok=1; Domain=example.org'));
      const { status, error } = await read(`${origin}/page`);
      expect([status, error]).to.equal([
        'failed',
        '127.0.0.1: the host redirects too many times (it sets a cookie that is invalid for its host)',
      ]);
    });
  });

  it('keep neighbouring links and blocks apart', async () => {
    const blocks =
      '<p><span style="display:block">three</span><span style="display:block">four</span>';
    const page = `<main><a href="/a">one</a><a href="/b">two</a>${blocks}<details><summary>five</summary>six</details></main>`;
    const text = await readPage(page, { format: 'text' });
    expect(text.task.content?.split(/\s+/)).to.equal([
      'one',
      'two',
      'three',
      'four',
      'five',
      'six',
    ]);
    const { url, task } = await readPage(page, { format: 'markdown' });
    const links = `[one](${url}a) [two](${url}b)`;
    expect(task.content?.split(/\s+/).join(' ')).to.equal(`${links} three four five six`);
  });

  it('at addresses that are written in raw UTF-8', async () => {
    const { origin } = await serve((request, response) => {
      if (request.url === '/street') {
        const location = Buffer.from('/straße?q=größe').toString('latin1');
        return response.writeHead(301, { location }).end();
      }
      return response.end(decodeURI(request.url ?? ''));
    });
    const { content, finalUrl } = await read(`${origin}/street`);
    expect([content, finalUrl]).to.equal([
      '/straße?q=größe',
      `${origin}/stra%C3%9Fe?q=gr%C3%B6%C3%9Fe`,
    ]);
  });

  it('under a label that is not theirs', async () => {
    const labelled = async (type: string, body: string | Buffer) => {
      const { origin } = await serve((_request, response) => {
        response.setHeader('content-type', type).end(body);
      });
      return (await read(`${origin}/`)).kind;
    };
    const png = Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02', 'latin1'),
      Buffer.alloc(64),
    ]);
    expect(await labelled('text/html', '{"a": [1, 2]}')).to.equal('json');
    expect(await labelled('application/json', ARTICLE)).to.equal('article');
    expect(await labelled('application/x-tex', '\\section{One}')).to.equal('text');
    expect(await labelled('text/plain', ARTICLE)).to.equal('text');
    expect(await labelled('text/html', png)).to.equal('image');
  });
});
