import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { findConfinement } from '../../../src/providers/confine/find.js';
import { type Stage, startStage } from '../../agents/stage.js';
import { frozenClock } from '../../harness/app.js';
import { limited } from '../../harness/clitools/claude.js';
import { type Bench, openBench, VERSION } from '../../harness/clitools/fake.js';
import { answers, begins, refuses } from '../../harness/clitools/speech.js';
import { says } from '../../harness/openai.js';

// Awaited first: a script that waits after Lab.script() is run by lab before it has tests.
const found = await findConfinement({ allowUnconfined: false });
const confined = { skip: found?.kind !== 'bubblewrap' };

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const UNTOLD = { used: null, limit: null, resetsAt: null, exhausted: null, source: null };
const ABSENT = { available: false, version: null, path: null, loggedIn: false };

describe('command-line tools', () => {
  const clock = frozenClock();
  let bench: Bench;
  let stage: Stage;
  before(async () => {
    bench = await openBench();
    await bench.logIn('claude');
    stage = await startStage({ cliPath: [bench.path] }, clock, bench.home);
  });
  after(async () => {
    await stage.stop();
    await bench.clear();
  });
  beforeEach(() => {
    stage.model.asked.length = 0;
  });

  const register = (more: object = {}) =>
    stage.ask('POST', '/api/models', {
      ...{ name: 'mine', provider: 'cli', modelId: 'claude' },
      ...more,
    });

  it('tells nothing of them without a token', async () => {
    for (const path of ['/api/models/cli/status', '/api/models/cli/quota']) {
      expect((await stage.call('GET', path)).status).to.equal(401);
    }
  });

  it('says how they stand (needs bubblewrap)', confined, async () => {
    await bench.lay('claude', ...answers('claude', 'It is a hat.'));
    const { body } = await stage.ask('GET', '/api/models/cli/status');
    const path = `${bench.path}/claude`;
    const claude = { name: 'claude', available: true, version: VERSION, path, loggedIn: true };
    const others = ['codex', 'gemini', 'opencode'].map((name) => ({ name, ...ABSENT }));
    expect(body).to.equal({ tools: [claude, ...others] });
  });

  it('names every field that a tool cannot have', async () => {
    const { status, body } = await register({
      modelId: 'claude:--dangerously',
      baseUrl: 'http://127.0.0.1:9',
      apiKey: 'a key',
      credentialId: 'credential_1',
      supports: { tools: true },
    });
    expect(status).to.equal(400);
    const paths = body.details.map(({ path }: { path: string }) => path);
    expect(paths).to.equal(['modelId', 'baseUrl', 'apiKey', 'credentialId', 'supports.tools']);
  });

  it(
    'is a model without tools, which is tried and answers (needs bubblewrap)',
    confined,
    async () => {
      await bench.lay('claude', ...answers('claude', 'It is ', 'a hat.'));
      const { status, body } = await register({ modelId: 'claude:opus' });
      expect([status, body.provider, body.modelId]).to.equal([201, 'cli', 'claude:opus']);
      expect([body.baseUrl, body.apiKeySet, body.price]).to.equal([null, false, null]);
      const able = {
        tools: false,
        vision: false,
        streaming: true,
        embeddings: false,
        transcription: false,
      };
      expect(body.supports).to.equal(able);
      const wrong = { supports: { vision: true } };
      expect((await stage.ask('PATCH', '/api/models/mine', wrong)).status).to.equal(400);
      const probe = await stage.ask('POST', '/api/models/mine/test');
      expect(probe.body).to.include({ ok: true, reply: 'It is a hat.' });
      const tried = { provider: 'cli', modelId: 'codex' };
      expect((await stage.ask('POST', '/api/models/test', tried)).body).to.include({
        ok: false,
        error: 'cli/codex cannot run: codex is not installed',
      });
      const agent = await stage.reaches((await stage.spawn({ prompt: 'What?', model: 'mine' })).id);
      expect([agent.status, agent.result]).to.equal(['completed', 'It is a hat.']);
      expect(agent.usage).to.equal({ inputTokens: 11, outputTokens: 5, costUsd: 0 });
      expect(stage.model.asked).to.equal([]);
    },
  );

  it(
    'hands over to the next model when its quota is used up (needs bubblewrap)',
    confined,
    async () => {
      const before = await stage.ask('GET', '/api/models/cli/quota');
      const names = ['claude', 'codex', 'gemini', 'opencode'];
      expect(before.body).to.equal({ quotas: names.map((name) => ({ name, ...UNTOLD })) });
      const resetsAt = Math.floor(clock.now() / 1000) + 3600;
      const event = { print: limited(resetsAt) };
      await bench.lay('claude', ...begins('claude'), event, ...refuses('claude', 'quota'));
      stage.model.script(says({ text: 'A hat, says the other.' }));
      const { id } = await stage.spawn({ prompt: 'What?', model: 'mine' });
      expect((await stage.reaches(id)).result).to.equal('A hat, says the other.');
      const [said] = (await stage.events(id)).filter(({ type }) => type === 'agent.message');
      const because = 'mine has used up its quota or rate limit (rate_limit)';
      expect([said?.data.model, said?.data.passedOver]).to.equal([
        'fake',
        [{ model: 'mine', because }],
      ]);
      const at = new Date(resetsAt * 1000).toISOString();
      const told = { used: 1, limit: 1, resetsAt: at, exhausted: true };
      const source = 'rate_limit_event five_hour';
      expect((await stage.ask('GET', '/api/models/cli/quota')).body.quotas[0]).to.equal({
        ...{ name: 'claude', ...told, source },
      });
      const { health } = (await stage.ask('GET', '/api/models/mine')).body;
      expect([health.status, health.retryAt]).to.equal(['cooling', at]);
      clock.forward(3_600_000);
      const later = await stage.ask('GET', '/api/models/cli/quota');
      expect(later.body.quotas[0]).to.equal({ name: 'claude', ...UNTOLD });
    },
  );
});
