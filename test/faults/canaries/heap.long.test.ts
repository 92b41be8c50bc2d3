import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../../src/client/client.js';
import { sign, until } from '../../harness/app.js';
import { type Daemon, startDaemon } from '../../harness/daemon.js';
import { openTarget, type Target } from '../../harness/target.js';
import { leaksIn } from './leaks.js';
import { Garden } from './plant.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const PASSWORD = 'correct horse battery';
const CONTROL = 'control-that-is-no-secret';

describe('the memory of a daemon that has used its secrets', () => {
  const garden = new Garden();
  let home: string;
  let daemon: Daemon;
  let target: Target;
  let token: string;

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-heap-'));
    target = await openTarget();
    const env = {
      NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${home}`,
      ADJUTANT_EGRESS_ALLOW: '127.0.0.1',
    };
    daemon = await startDaemon({ home, env });
    const account = { username: 'owner', password: PASSWORD };
    ({ token } = await createClient({ url: daemon.url }).auth.register({ body: account }));
  });
  after(async () => {
    await daemon.end('SIGKILL');
    target.close();
    await rm(home, { recursive: true });
  });

  const ask = async (method: string, path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const init = { method, headers, body: JSON.stringify(body) };
    const response = await fetch(`${daemon.url}${path}`, init);
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${path}: ${text}`);
    return JSON.parse(text);
  };
  const store = async (name: string, more: object = {}): Promise<string> => {
    const value = garden.plant(`vault ${name}`);
    return (await ask('POST', '/api/vault', { name, value, ...more })).id;
  };
  const hook = (path: string, triggerConfig: object) =>
    ask('POST', '/api/hooks', {
      ...{ name: `${CONTROL} ${path}`, trigger: 'webhook', action: 'notify' },
      triggerConfig: { webhookPath: path, ...triggerConfig },
      actionConfig: { notifyMessage: 'It came' },
    });
  const deliver = (path: string, secret: string) =>
    fetch(`${daemon.url}/api/webhooks/${path}`, {
      ...{ method: 'POST', body: '{}' },
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(secret, '{}') },
    });

  /** What is reachable: the collector runs before it is written. */
  const snapshot = async (): Promise<Buffer> => {
    process.kill(daemon.pid, 'SIGUSR2');
    const name = await until(
      async () => {
        const found = (await readdir(home)).find((one) => one.endsWith('.heapsnapshot'));
        // The daemon answers again once it is written.
        await fetch(`${daemon.url}/health`);
        return found ?? '';
      },
      (found) => found !== '',
    );
    return readFile(join(home, name));
  };

  it('holds none of them as text', async () => {
    await store('unused', { description: 'not used' });
    const lent = { allowedTools: ['http'], allowedHosts: [target.address] };
    await store('tool', lent);
    const revealed = await store('revealed');
    await ask('POST', `/api/vault/${revealed}/reveal`, { password: PASSWORD });
    await ask('POST', `/api/vault/${revealed}/rotate`, { value: garden.plant('rotated') });
    await ask('POST', '/api/skills/http/tools/request/execute', {
      arguments: { method: 'GET', url: target.url, headers: { a: '$credential(tool)' } },
    });
    const own = garden.plant('hook');
    await hook('own', { webhookSecret: own });
    await hook('lent', { webhookCredentialId: await store('hook') });
    await deliver('own', own);
    const model = { provider: 'openai-compatible', modelId: 'x', baseUrl: `${target.url}/v1` };
    await ask('POST', '/api/models', { ...model, name: 'own', apiKey: garden.plant('model') });
    await ask('POST', '/api/models', { ...model, name: 'lent', credentialId: await store('key') });
    for (const name of ['own', 'lent']) await ask('POST', `/api/models/${name}/test`, {});
    await store('slack');
    const fields = { botToken: garden.plant('slack'), signingSecret: '$credential(slack)' };
    await ask('PUT', '/api/admin/platforms/slack', { baseUrl: target.url, fields });
    await ask('POST', '/api/admin/platforms/slack/test', {});
    const out = { url: target.url, events: ['*'] };
    const signs = await store('signs', { type: 'webhook_secret' });
    const { id } = await ask('POST', '/api/webhooks', { ...out, name: 'w', credentialId: signs });
    await ask('POST', `/api/webhooks/${id}/test`, {});
    expect(target.received.length).to.be.above(4);

    const held = await snapshot();
    expect(held.includes(CONTROL)).to.be.true();
    expect(leaksIn([{ where: 'heap', held }], garden.canaries)).to.equal([]);
  });
});
