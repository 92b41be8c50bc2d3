import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { type Stage, startStage } from '../agents/stage.js';
import { says } from '../harness/openai.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const ODD = 'sk-canary-of-a-key\nof two lines';
const FAULT =
  'must be one line of printable ASCII characters without leading or trailing blanks, because it is sent in a header';
const SPEC = { provider: 'openai-compatible', modelId: 'one', baseUrl: 'http://127.0.0.1:9/v1' };

describe('a key that no header can hold', () => {
  let stage: Stage;
  let good: string;
  let odd: string;
  before(async () => {
    stage = await startStage();
    good = (await stage.ask('POST', '/api/vault', { name: 'good', value: 'sk-good' })).body.id;
    odd = (await stage.ask('POST', '/api/vault', { name: 'odd', value: ODD })).body.id;
    expect((await add('kept', { credentialId: good })).status).to.equal(201);
  });
  after(() => stage.stop());

  const add = (name: string, more: object) =>
    stage.ask('POST', '/api/models', { ...SPEC, name, ...more });

  const cases: [string, string, () => string, () => object, string, string][] = [
    [
      'a new model',
      'POST',
      () => 'models',
      () => ({ ...SPEC, name: 'new', apiKey: ODD }),
      'apiKey',
      FAULT,
    ],
    ['a model', 'PATCH', () => 'models/kept', () => ({ apiKey: ODD }), 'apiKey', FAULT],
    ['a trial', 'POST', () => 'models/test', () => ({ ...SPEC, apiKey: ODD }), 'apiKey', FAULT],
    [
      'a model, by its credential',
      'POST',
      () => 'models',
      () => ({ ...SPEC, name: 'new', credentialId: odd }),
      'credentialId',
      `refers to a value that ${FAULT}`,
    ],
    [
      'a model’s credential',
      'POST',
      () => `vault/${good}/rotate`,
      () => ({ value: ODD }),
      'value',
      FAULT,
    ],
    [
      'a platform',
      'PUT',
      () => 'admin/platforms/mattermost',
      () => ({ values: { botToken: 'ünïcode-canary' } }),
      'values.botToken',
      FAULT,
    ],
    [
      'a platform, by its credential',
      'PUT',
      () => 'admin/platforms/mattermost',
      () => ({ values: { botToken: '$credential(odd)' } }),
      'values.botToken',
      `refers to a value that ${FAULT}`,
    ],
    [
      'a forward',
      'POST',
      () => 'hooks',
      () => ({
        name: 'f',
        trigger: 'webhook',
        triggerConfig: { webhookPath: 'f', webhookSecret: 's'.repeat(32) },
        action: 'webhook',
        actionConfig: { webhookUrl: 'https://example.com/', credentialId: odd },
      }),
      'actionConfig.credentialId',
      `has a value that ${FAULT}`,
    ],
    [
      'an MCP server',
      'POST',
      () => 'skills/mcp',
      () => ({ name: 'm', url: 'https://example.com/', headers: { Authorization: ODD } }),
      'headers.Authorization',
      FAULT,
    ],
  ];
  for (const [what, method, path, body, field, message] of cases) {
    it(`is refused when it is given: ${what}`, async () => {
      const { status, body: refusal, text } = await stage.ask(method, `/api/${path()}`, body());
      expect([status, refusal.details]).to.equal([400, [{ path: field, message }]]);
      expect(text).to.not.contain('canary');
    });
  }

  it('fails a test with a sentence where it was stored before, and the next model answers', async () => {
    const database = new Database(join(stage.home, 'adjutant.db'));
    database.prepare('UPDATE models SET credential_id = ? WHERE name = ?').run(odd, 'kept');
    database.close();
    await stage.ask('PATCH', '/api/models/kept', { fallbacks: ['fake'] });
    stage.model.script(says({ text: 'Hello.' }));
    const { status, body, text } = await stage.ask('POST', '/api/models/kept/test');
    expect([status, body.ok, body.error]).to.equal([
      200,
      false,
      'kept was not called: the API key of the model contains a character that is not allowed in an HTTP header. Set the API key again.',
    ]);
    const { id } = await stage.spawn({ prompt: 'Hello', model: 'kept' });
    const { status: end, error } = await stage.reaches(id);
    expect([end, error]).to.equal(['completed', null]);
    const events = await stage.events(id);
    const seen = `${text} ${JSON.stringify(events)} ${JSON.stringify(stage.recent.after(0))}`;
    expect(seen).to.not.contain('canary');
  });
});
