import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { registerOwner } from '../harness/account.js';
import { until, untilMatches } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { withEngine } from '../harness/llamaengine.js';
import {
  endlessHeader,
  installCaller,
  installEngine,
  installFakeEngine,
  installScripted,
  modelFile,
  modelProcesses,
  notInstalled,
} from '../harness/llamahome.js';
import { type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const PARROT = { provider: 'llama' as const, modelId: 'parrot' };

describe('models of llama', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await startStage();
  });
  afterEach(() => stage.stop());

  const add = (name: string, more: object = {}) =>
    stage.add(name, { provider: 'llama', modelId: name, baseUrl: undefined, ...more });

  it('have a small context, tools and no price unless told otherwise', async () => {
    const model = await add('parrot');
    expect(model).to.include({ contextWindow: 8192, price: null, baseUrl: null, apiKeySet: false });
    expect(model.supports).to.equal({
      ...{ tools: true, vision: false, streaming: true, embeddings: false, transcription: false },
    });
  });

  it('are refused with what such a model cannot have', async () => {
    const { status, body } = await stage.ask('POST', '/api/models', {
      ...{ name: 'odd', provider: 'llama', modelId: '../parrot' },
      ...{ baseUrl: 'http://127.0.0.1:1', apiKey: 'sk-1', supports: { vision: true } },
    });
    expect(status).to.equal(400);
    expect(body.details).to.equal([
      {
        path: 'modelId',
        message: 'must be the name of an installed model, such as qwen3-4b-q4_k_m',
      },
      { path: 'baseUrl', message: 'is not supported for models of llama' },
      { path: 'apiKey', message: 'is not supported for models of llama' },
      { path: 'supports.vision', message: 'is not supported for models of llama' },
    ]);
  });

  it('say what is missing when they are tested', async () => {
    const test = async () => (await stage.ask('POST', '/api/models/test', PARROT)).body.error;
    expect(await test()).to.equal(`llama/parrot ${notInstalled('parrot')}`);
    await writeFile(modelFile(stage.home, 'parrot'), 'GGUF');
    expect(await test()).to.equal(
      'llama/parrot needs the engine llama (llama.cpp), which is not installed. Run: adjutant capabilities install llama',
    );
  });

  it('answer agents, and use their tools (needs node-llama-cpp)', withEngine, async () => {
    installEngine(stage.home);
    const given = { name: 'time_now', input: '{"timezone": "Europe/Oslo"}' };
    installCaller(stage.home, 'clock', given, ['It is', ' late.'], 65_536);
    await add('clock', { contextWindow: 65_536, supports: { tools: true } });
    const spawned = await stage.ask('POST', '/api/agents', { prompt: 'Late?', model: 'clock' });
    const { body } = await until(
      () => stage.ask('GET', `/api/agents/${spawned.body.id}`),
      (reply) => ['completed', 'failed'].includes(reply.body.status),
    );
    expect(body).to.include({ status: 'completed', result: 'It is late.', steps: 2 });
    const { body: page } = await stage.ask('GET', `/api/agents/${body.id}/events`);
    const results = page.events.filter(({ data }: { data: { phase?: string } }) => data.phase);
    expect(results.map(({ data }: { data: { phase: string } }) => data.phase)).to.equal([
      ...['call', 'result'],
    ]);
  });

  it('make vectors (needs node-llama-cpp)', withEngine, async () => {
    installEngine(stage.home);
    installScripted(stage.home, 'parrot', ['Hello']);
    await add('parrot', { embedding: { dimensions: 384 } });
    const { body } = await stage.ask('POST', '/api/models/parrot/test');
    expect(body).to.include({ ok: true, reply: '384 dimensions' });
  });

  it('fail alone, while the daemon answers (needs node-llama-cpp)', withEngine, async () => {
    installEngine(stage.home);
    await writeFile(modelFile(stage.home, 'hung'), endlessHeader());
    installScripted(stage.home, 'torn', ['Hello'], { extraTokens: ['Hello'] });
    await add('hung');
    await add('torn');
    const tested = (name: string) => stage.ask('POST', `/api/models/${name}/test`);
    let isOver = false;
    const ended = tested('torn')
      .then(async (torn) => [await tested('hung'), torn] as const)
      .finally(() => {
        isOver = true;
      });
    while (!isOver) expect((await stage.call('GET', '/health')).status).to.equal(200);
    const errors = (await ended).map(({ body }) => body.error);
    expect(errors[0]).to.equal(
      'hung was not loaded: The file declares 1099511627776 metadata keys, more than the file can contain. Verify an installed model: adjutant capabilities verify hung. Replace a file that you placed there yourself',
    );
    expect(errors[1]).to.match(
      /^torn was not loaded: Duplicate token "Hello" in the vocabulary\. /,
    );
    const { body } = await stage.ask('GET', '/api/models/health');
    const states = body.providers.map(({ model, lastError }: Record<string, string>) => [
      ...[model, lastError],
    ]);
    expect(states).to.equal([
      ['torn', errors[1]],
      ['hung', errors[0]],
      ['digest', null],
    ]);
  });
});

/** An engine whose code does not return, and which says that it is called. */
const NEVER_RETURNS = `
import { writeFileSync } from 'node:fs';
export const getLlama = () => {
  writeFileSync('begun', '');
  for (;;) {}
};`;

/** With the graphics card the process is not confined, and nobody but itself ends it. */
for (const [how, useGpu] of [
  ['confined', 'false'],
  ['unconfined', 'true'],
]) {
  describe(`the ${how} process of a model`, () => {
    it('does not outlive a daemon that is killed', async () => {
      const home = await mkdtemp(join(tmpdir(), 'adjutant-llama-'));
      installFakeEngine(home, NEVER_RETURNS);
      installScripted(home, 'hung', ['Hello']);
      const scratch = join(home, 'scratch');
      const daemon = await startDaemon({ home, env: { ADJUTANT_LLAMA_GPU: useGpu! } });
      const owner = await registerOwner(daemon.url);
      await owner.models.create({ body: { name: 'hung', provider: 'llama', modelId: 'hung' } });
      const asked = owner.models.check({ name: 'hung' }).catch(() => 'cut off');
      const counted = (count: number) =>
        untilMatches(async () => modelProcesses(home).length, count);
      await until(
        async () => existsSync(scratch) && readdirSync(scratch, { recursive: true }),
        (names) => String(names).includes('/begun'),
      );
      await daemon.end('SIGKILL');
      await counted(0);
      expect(await asked).to.equal('cut off');
      await rm(home, { recursive: true });
    });
  });
}
