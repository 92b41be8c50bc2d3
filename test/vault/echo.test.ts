import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';
import { openTarget, type Target } from '../harness/target.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const VALUE = 'ghp_canary/of+a "service" that <never> forgets';
const PEM =
  '-----BEGIN PRIVATE KEY-----\nMIIEcanaryIBADANBgkqhkiG9w0\nSecondLineOfTheCanary00\n-----END-----\n';
const CUT_AT = 256 * 1024;

describe('a service that was told a credential', () => {
  let app: TestApp;
  let target: Target;
  let token: string;

  before(async () => {
    target = await openTarget();
    app = await startApp({ config: { egressAllow: [target.address] } });
    ({ token } = await app.register('ada'));
    const lent = { allowedTools: ['http.request'], allowedHosts: [target.address] };
    await ask('POST', '/api/vault', { name: 'pat', value: VALUE, ...lent });
    await ask('POST', '/api/vault', { name: 'key', value: PEM, ...lent });
    await ask('POST', '/api/vault', { name: 'tiny', value: 'fi', ...lent });
  });
  after(async () => {
    await app.stop();
    target.close();
  });

  const ask = (method: string, path: string, body?: unknown) =>
    app.call(method, path, { token, ...(body !== undefined && { body }) });
  /** A call that names no credential; the text of what it brought. */
  const read = async (): Promise<string> => {
    const { status, text } = await ask('POST', '/api/skills/http/tools/request/execute', {
      arguments: { method: 'GET', url: target.url },
    });
    expect(status).to.equal(200);
    return text;
  };
  const body = async () => JSON.parse(await read()).result.body;

  it('tells it to no later call that names none', async () => {
    target.answer = (response) => response.end(`fine: ${VALUE}; ${PEM}`);
    expect(await body()).to.equal('fine: [secret]; [secret]');
  });

  it('tells neither of two values while a rotation overlaps', async () => {
    const { credentials } = (await ask('GET', '/api/vault')).body;
    const { id } = credentials.find(({ name }: { name: string }) => name === 'pat');
    await ask('POST', `/api/vault/${id}/rotate`, { value: 'another canary of it' });
    target.answer = (response) => response.end(`${VALUE} another canary of it`);
    expect(await body()).to.equal('[secret] [secret]');
    await ask('POST', `/api/vault/${id}/rotate`, { value: VALUE });
  });

  it('tells no beginning of it where its answer is cut off', async () => {
    for (const kept of [8, 20, VALUE.length - 1]) {
      target.answer = (response) => response.end('x'.repeat(CUT_AT - kept) + VALUE);
      expect((await body()).slice(-16)).to.match(/x\[secret\]$/);
    }
  });

  for (const [how, written] of [
    ['as HTML', VALUE.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')],
    ['as XML', VALUE.replaceAll('"', '&#34;').replaceAll('<', '&#60;').replaceAll('>', '&#62;')],
    ['with small percents', encodeURIComponent(VALUE).replace(/%../g, (it) => it.toLowerCase())],
    ['as JSON in JSON', JSON.stringify(JSON.stringify(VALUE))],
    ['with slashes escaped', JSON.stringify(VALUE).replaceAll('/', '\\/')],
    ['in base64, in lines', Buffer.from(PEM).toString('base64').replace(/.{64}/g, '$&\n')],
    ['line by line', PEM.replaceAll('\n', '\r\n  ')],
    ['as one line', PEM.replaceAll('\n', '')],
    ['as a key in quotes', JSON.stringify({ key: PEM.trim() })],
  ] as const) {
    it(`tells it not ${how}`, async () => {
      target.answer = (response) => response.end(`before ${written} after`);
      const text = await body();
      expect(text).to.contain('[secret]');
      expect(text).to.not.match(/canary|Y2FuYX|AntUy|jYW5hcn|Q2FuYX/i);
    });
  }

  it('tells it not where a call fails', async () => {
    target.answer = (response) => response.writeHead(200, VALUE.replace('"', '')).destroy();
    const { text } = await ask('POST', '/api/skills/http/tools/request/execute', {
      arguments: { method: 'GET', url: `${target.url}/${encodeURIComponent(VALUE)}` },
    });
    expect(text).to.not.contain('canary');
  });
});
