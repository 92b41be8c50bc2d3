import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { anthropic } from '../harness/anthropic.js';
import { frozenClock } from '../harness/app.js';
import { google } from '../harness/google.js';
import { ollama } from '../harness/ollama.js';
import { openaiDialects, refuses } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { startDialect } from '../harness/wire.js';
import { at, ELSEWHERE, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

const KEY = 'sk-canary-1234567890';

describe('a test of a model', () => {
  const clock = frozenClock();
  const stage = openForSuite(lab, () => startStage({}, clock));

  for (const dialect of [...openaiDialects, anthropic, google, ollama]) {
    it(`sends ${dialect.provider} two tiny prompts and stores nothing`, async () => {
      const said = dialect.says({ text: `ok, and you sent ${KEY}` });
      const wire = await startDialect(dialect, said, said);
      const { provider } = dialect;
      const given = { provider, modelId: 'fake-1', baseUrl: wire.baseUrl, apiKey: KEY };
      const { status, body, text } = await stage.ask('POST', '/api/models/test', given);
      expect([status, body]).to.equal([
        200,
        {
          ...{ ok: true, latencyMs: body.latencyMs, reply: 'ok, and you sent [hidden]' },
          tested: ['reply', 'conversation'],
        },
      ]);
      expect(text).to.not.contain(KEY);
      expect(wire.asked.length).to.equal(2);
      expect(JSON.stringify(wire.asked[0]?.headers)).to.contain(KEY);
      expect(JSON.stringify(wire.asked[1]?.body).length).to.be.below(1200);
      const { body: list } = await stage.ask('GET', '/api/models');
      expect(list.models.length).to.equal(1);
      await wire.stop();
    });
  }

  it('says why a model does not answer', async () => {
    const given = { provider: 'openai-compatible', modelId: 'x', baseUrl: ELSEWHERE, apiKey: KEY };
    const { status, body } = await stage.ask('POST', '/api/models/test', given);
    expect(status).to.equal(200);
    expect(body).to.include({
      ok: false,
      error: 'openai-compatible/x at 127.0.0.1: the connection was refused',
    });
  });

  it('is refused as a model would be that cannot be', async () => {
    for (const [given, path] of [
      [{ provider: 'cli', modelId: 'claude', apiKey: 'k' }, 'apiKey'],
      [{ provider: 'digest', modelId: 'digest' }, 'provider'],
      [{ provider: 'openai-compatible', modelId: 'x' }, 'baseUrl'],
      [{ provider: 'ollama', modelId: 'x', baseUrl: 'http://169.254.169.254/' }, 'baseUrl'],
      [{ provider: 'ollama', modelId: 'x', credentialId: 'c' }, 'credentialId'],
      [{ provider: 'ollama' }, 'modelId'],
    ] as const) {
      const { status, body } = await stage.ask('POST', '/api/models/test', given);
      expect([status, body.details[0].path]).to.equal([400, path]);
    }
  });

  it('tells the health of one that is registered, each or all', async () => {
    const [dialect = ollama] = openaiDialects;
    const ok = dialect.says({ text: 'ok' });
    const wire = await startDialect(dialect, ok, ok, refuses(401));
    await stage.add('well', { baseUrl: wire.baseUrl });
    await stage.add('lost');
    await stage.add('off', { enabled: false });
    const { body } = await stage.ask('POST', `${at('well')}/test`);
    expect(body).to.include({ ok: true, reply: 'ok' });
    const { health } = (await stage.ask('GET', at('well'))).body;
    const checkedAt = new Date(clock.now()).toISOString();
    const well = { status: 'up', lastError: null, checkedAt, circuit: 'closed', retryAt: null };
    expect(health).to.equal({ ...well, latencyMs: health.latencyMs });
    expect(Number(health.latencyMs)).to.be.within(0, 5000);

    const all = await stage.ask('GET', '/api/models/health?check=true');
    expect(
      all.body.providers.map((each: Record<string, string>) => [each.model, each.status]),
    ).to.equal([
      ['off', 'unknown'],
      ['lost', 'down'],
      ['well', 'down'],
      ['digest', 'up'],
    ]);
    expect(all.body.providers[1].lastError).to.equal(
      'lost at 127.0.0.1: the connection was refused',
    );
    expect(all.body.providers[2]).to.include({
      provider: 'openai-compatible',
      lastError: 'well answered 401: its server refused the API key',
    });
    expect((await stage.ask('POST', `${at('nobody')}/test`)).status).to.equal(404);
    expect((await stage.ask('PATCH', at('well'), { enabled: true })).body.health.status).to.equal(
      'unknown',
    );
    await wire.stop();
  });
});
