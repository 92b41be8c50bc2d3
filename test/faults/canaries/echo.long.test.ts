import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ChannelKind } from '../../../src/store/tables/channels.js';
import { type Stage, startStage } from '../../agents/stage.js';
import { sign, until, untilAtLeast } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import { openTarget, type Target } from '../../harness/target.js';
import { crawl } from './crawl.js';
import { filesUnder, leaksIn, type Place } from './leaks.js';
import { Garden } from './plant.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** Says all that it got in each of the places where services say what went wrong. */
const complaint = (target: Target): string => {
  const { method, path, headers, body = '' } = target.received.at(-1) ?? {};
  const got = `${method} ${path} ${JSON.stringify(headers)} ${body}`;
  const error = { message: got, type: got, code: got, detail: got, error_data: { details: got } };
  const said = { ok: false, description: got, message: got, error, id: 'app.error' };
  return JSON.stringify(said).replace(
    '"error":{',
    `"needed":"${headers?.authorization}","error":{`,
  );
};

describe('a service that complains with what it was sent', () => {
  const garden = new Garden();
  let target: Target;
  let stage: Stage;

  before(async () => {
    target = await openTarget();
    stage = await startStage({ egressAllow: [target.address] });
  });
  after(async () => {
    await stage.stop();
    target.close();
  });

  const answers = (write: (response: ServerResponse) => void): void => {
    target.answer = (response) => write(response);
  };
  /** All that can be seen or read afterwards, with the log. */
  const everything = async (): Promise<Place[]> => [
    ...(await crawl(stage.url, stage.token)),
    ...(await filesUnder(stage.home)),
    { where: 'log', held: Buffer.from(JSON.stringify(stage.recent.after(0))) },
  ];
  const expectNone = async () => expect(leaksIn(await everything(), garden.canaries)).to.equal([]);

  const fields: [ChannelKind, Record<string, string>][] = [
    ['slack', { botToken: 'xoxb-' }],
    ['telegram', { botToken: '123456:' }],
    ['mattermost', { botToken: '' }],
    ['whatsapp', { accessToken: 'EAAJ' }],
    ['teams', { workflowUrl: 'flow' }],
  ];
  for (const [kind, secrets] of fields) {
    it(`is heard, and nothing of it kept: ${kind}`, async () => {
      const [[name = '', prefix = ''] = []] = Object.entries(secrets);
      const core = garden.plant(`${kind} ${name}`);
      const value =
        prefix === 'flow' ? `${target.url}/flow/${core}/x?sig=${core}` : `${prefix}${core}`;
      const more = kind === 'whatsapp' ? { phoneNumberId: '106540352242922' } : {};
      const set = await stage.ask('PUT', `/api/admin/platforms/${kind}`, {
        ...(kind !== 'teams' && { baseUrl: target.url }),
        fields: { [name]: value, ...more },
      });
      expect(set.status, set.text).to.equal(200);
      for (const status of [200, 400, 401]) {
        answers((response) => {
          const plain = complaint(target);
          const said =
            status === 200
              ? plain.replace(/"error":.*/, `"error":${JSON.stringify(value)}}`)
              : plain;
          response.writeHead(status, { 'content-type': 'application/json' }).end(said);
        });
        const { text } = await stage.ask('POST', `/api/admin/platforms/${kind}/test`);
        expect(text).to.not.contain(core);
      }
      const { id } = await linkChannel(stage, stage.userId, { kind, id: 'a:b', name: 'Ada' });
      await stage.ask('POST', `/api/channels/${id}/test`);
      await untilAtLeast(async () => target.received.length, 4);
      await expectNone();
    });
  }

  for (const status of [400, 401, 403, 404, 429, 500]) {
    it(`is heard, and nothing of it kept: a model, with ${status}`, async () => {
      const name = `m${status}`;
      const model = { provider: 'openai-compatible', modelId: 'one', baseUrl: `${target.url}/v1` };
      const apiKey = garden.plant(`model ${status}`);
      await stage.ask('POST', '/api/models', { ...model, name, apiKey });
      answers((response) =>
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(complaint(target).replace('"needed":', '"param":')),
      );
      const tested = await stage.ask('POST', `/api/models/${name}/test`);
      expect([tested.body.ok, tested.text.includes(apiKey)]).to.equal([false, false]);
      const agent = await stage.spawn({ prompt: 'Hello', model: name });
      await stage.reaches(agent.id);
      await expectNone();
    });
  }

  /** A forward and a tool that send a credential, on one path, and who is told of their ends. */
  const plantUsers = async (webhookSecret: string): Promise<void> => {
    const lent = { allowedTools: ['http'], allowedHosts: [target.address] };
    const given = { name: 'lent', value: garden.plant('lent'), ...lent };
    const { id: credentialId } = (await stage.ask('POST', '/api/vault', given)).body;
    const hook = { trigger: 'webhook', triggerConfig: { webhookPath: 'in', webhookSecret } };
    await stage.ask('POST', '/api/hooks', {
      ...{ ...hook, name: 'forward', action: 'webhook' },
      actionConfig: { webhookUrl: `${target.url}/forward`, credentialId },
    });
    const headers = { authorization: '$credential(lent)' };
    await stage.ask('POST', '/api/hooks', {
      ...{ ...hook, name: 'tool', action: 'execute_tool' },
      actionConfig: {
        ...{ toolId: 'http', toolAction: 'request' },
        toolParams: { method: 'GET', url: target.url, headers },
      },
    });
    const secret = garden.made('outgoing', `whsec_${randomBytes(32).toString('base64')}`);
    const out = { name: 'out', url: target.url, events: ['*'], secret };
    await stage.ask('POST', '/api/webhooks', out);
  };

  it('is heard, and nothing of it kept: a forward, a tool and an outgoing webhook', async () => {
    const secret = garden.plant('hook');
    await plantUsers(secret);
    target.received.length = 0;
    answers((response) => response.writeHead(410, 'Gone').end(complaint(target)));
    const unsigned = { 'webhook-id': '1', authorization: `Bearer ${secret}` };
    await stage.call('POST', '/api/webhooks/in', { body: '{}', headers: unsigned });
    const headers = { 'x-hub-signature-256': sign(secret, '{}') };
    await stage.call('POST', '/api/webhooks/in', { body: '{}', headers });
    await target.got(3);
    await until(
      async () => (await stage.ask('GET', '/api/webhooks')).body.webhooks[0].enabled,
      (isEnabled) => !isEnabled,
    );
    await expectNone();
  });
});
