import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { normalizeUrl } from '../../src/kernel/contract/url.js';
import { startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('addresses as people paste them', () => {
  let app: TestApp;
  let token: string;
  before(async () => {
    app = await startApp({ config: { registration: 'open' } });
    ({ token } = await app.register('owner'));
  });
  after(() => app.stop());

  const post = async (path: string, body: object) =>
    (await app.call('POST', path, { token, body })).body;
  let count = 0;
  const webhook = (url: string) =>
    post('/api/webhooks', { name: `webhook ${++count}`, url, events: ['agent.completed'] });
  const forward = (webhookUrl: string) =>
    post('/api/hooks', {
      ...{ name: `hook ${++count}`, trigger: 'webhook', action: 'webhook' },
      ...{ triggerConfig: { webhookPath: `path-${count}` }, actionConfig: { webhookUrl } },
    });
  const model = (baseUrl: string) =>
    post('/api/models', {
      ...{ name: `model-${++count}`, provider: 'openai-compatible', modelId: 'x', baseUrl },
    });

  const PASTED: [pasted: string, url: string][] = [
    ['https://bücher.example/x', 'https://xn--bcher-kva.example/x'],
    [' HTTPS://Example.ORG:443/In ', 'https://example.org/In'],
    ['<https://example.org/in>', 'https://example.org/in'],
    ['<https://example.org/in|Our desk>', 'https://example.org/in'],
    ['[Our desk](https://example.org/in)', 'https://example.org/in'],
    ['`https://example.org/in`', 'https://example.org/in'],
    ['\u200bhttps://example.org/in\u200e\n', 'https://example.org/in'],
  ];

  it('are URLs with the host in ASCII, without blanks and brackets around', async () => {
    for (const [pasted, url] of PASTED) {
      expect((await webhook(pasted)).url, pasted).to.equal(url);
      expect((await forward(pasted)).actionConfig.webhookUrl, pasted).to.equal(url);
      expect((await model(pasted)).baseUrl, pasted).to.equal(url);
    }
    const templated = 'HTTPS://Bücher.example/{{webhook.body.id}}?q={{webhook.body.Q}}';
    expect((await forward(templated)).actionConfig.webhookUrl).to.equal(
      'https://xn--bcher-kva.example/{{webhook.body.id}}?q={{webhook.body.Q}}',
    );
  });

  it('keep all that is not their host', () => {
    for (const url of [
      'https://example.org',
      'https://example.org/a/../%7Eb?Q=<a>#C',
      'http://[::1]:8080/v1/',
      'https://user:secret@example.org/',
      'https://example.org/wiki/Apple_Inc.',
      'https://example.org/a).',
      'not a URL',
    ]) {
      expect(normalizeUrl(url)).to.equal(url);
    }
  });

  it('are refused with what is wrong', async () => {
    const faults: [string, string][] = [
      ['https://a..b/in', 'The URL has an invalid host: a..b'],
      ['https://example.org:0/in', 'The URL must not have the port 0'],
      [
        `https://${'a'.repeat(64)}.example/`,
        `The URL has an invalid host: ${'a'.repeat(64)}.example`,
      ],
    ];
    for (const [url, message] of faults) {
      expect((await webhook(url)).details, url).to.equal([{ path: 'url', message }]);
      expect((await forward(url)).details, url).to.equal([
        { path: 'actionConfig.webhookUrl', message },
      ]);
      expect((await model(url)).details, url).to.equal([{ path: 'baseUrl', message }]);
    }
  });

  it('of hosts are in ASCII, too', async () => {
    const credential = { name: 'key', type: 'api_key', value: 'v' };
    const hosts = [' API.Bücher.example ', 'api.github.com:8443'];
    const { allowedHosts } = await post('/api/vault', { ...credential, allowedHosts: hosts });
    expect(allowedHosts).to.equal(['api.xn--bcher-kva.example', 'api.github.com:8443']);
    const wrong = await post('/api/vault', { ...credential, allowedHosts: ['a..b'] });
    expect(wrong.details[0].path).to.equal('allowedHosts.0');
  });
});
