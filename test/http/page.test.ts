import { gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Reply, startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'"],
  ...["connect-src 'self'", "manifest-src 'self'", "worker-src 'self'", "base-uri 'none'"],
  ...["form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"],
  'trusted-types adjutant',
];
/** The most bytes, compressed, that the first view takes on its way. */
const MAX_BYTES = 150_000;

describe('the document of the page', () => {
  let app: TestApp;
  let html: Reply;
  /** The script that the document names, and those that it imports before it runs, by their paths. */
  let scripts: Map<string, Reply>;

  const get = (path: string): Promise<Reply> =>
    app.call('GET', path, { headers: { 'accept-encoding': 'gzip' } });
  const load = async (path: string): Promise<void> => {
    if (scripts.has(path)) return;
    const script = await get(path);
    scripts.set(path, script);
    for (const [, name] of script.text.matchAll(/(?:\bfrom|\bimport)\s*["'`]\.\/([\w.-]+)["'`]/g)) {
      await load(`/page/${name}`);
    }
  };

  before(async () => {
    app = await startApp();
    html = await get('/');
    scripts = new Map();
    for (const tag of tagsOf(html.text, 'script')) await load(attribute(tag, 'src') ?? '');
  });

  after(() => app.stop());

  it('has a policy that lets nothing in but files of this daemon', () => {
    expect(html.status).to.equal(200);
    expect(html.headers['content-security-policy']?.split('; ')).to.equal(POLICY);
  });

  it('has no script, style or handler in itself, and names files of this daemon alone', () => {
    const found = tagsOf(html.text, 'script');
    expect(found.length).to.be.at.least(1);
    expect(found.filter((tag) => attribute(tag, 'src') === null)).to.equal([]);
    expect(html.text).to.not.match(/<style|\sstyle\s*=|\son\w+\s*=/i);
    const paths = [...html.text.matchAll(/\s(?:src|href)="([^"]*)"/g)].map(([, path]) => path);
    expect(paths.length).to.be.at.least(4);
    expect(paths.filter((path) => !/^\/(?!\/)/.test(path ?? ''))).to.equal([]);
  });

  it('takes less than 150,000 bytes on its way with its style and its scripts', async () => {
    const [style = ''] = tagsOf(html.text, 'link').filter((tag) => tag.includes('stylesheet'));
    const parts = [html, await get(attribute(style, 'href') ?? ''), ...scripts.values()];
    expect(parts.map(({ status }) => status)).to.equal(parts.map(() => 200));
    // The entry imports what it shares with the views.
    expect(scripts.size).to.be.at.least(2);
    const bytes = parts.reduce((sum, { text }) => sum + gzipSync(text).length, 0);
    expect(bytes).to.be.between(10_000, MAX_BYTES);
  });

  it('has its scripts compressed', () => {
    const large = [...scripts].filter(([, { text }]) => text.length > 1024);
    expect(large.length).to.be.at.least(1);
    expect(large.filter(([, { headers }]) => headers['content-encoding'] !== 'gzip')).to.equal([]);
  });
});

const tagsOf = (html: string, name: string): string[] =>
  html.match(new RegExp(`<${name}\\b[^>]*>`, 'g')) ?? [];

const attribute = (tag: string, name: string): string | null =>
  new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? null;
