import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { untilMatches } from '../harness/app.js';
import {
  HOLDING_ENGINE,
  installFakeEngine,
  installScripted,
  modelFile,
  modelProcesses,
  notInstalled,
  SCRIPT_MARK,
} from '../harness/llamahome.js';
import { sha256Of } from './mirror.js';
import { type CapabilityStage, startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** Writes the facts about what is installed into its folder. */
const describeIn = (folder: string, more: object): void =>
  writeFileSync(
    join(folder, 'capability.json'),
    JSON.stringify({
      ...{ id: 'gguf:house', kind: 'model', name: 'House', version: null, licence: null },
      ...{ source: 'https://example.org', useCases: ['chat'], files: [] },
      installedAt: '2026-11-01T00:00:00.000Z',
      ...more,
    }),
  );

describe('the process of a model', () => {
  let stage: CapabilityStage;
  beforeEach(async () => {
    stage = await startCapabilities({ config: { capabilitySource: null } });
    installFakeEngine(stage.home, HOLDING_ENGINE);
    describeIn(join(stage.home, 'capabilities/llama'), { id: 'llama', kind: 'engine' });
  });
  afterEach(() => stage.stop());

  /** Installs and registers a model that says a text. */
  const install = async (slug: string, text: string): Promise<void> => {
    const path = installScripted(stage.home, slug, ['Hello']);
    appendFileSync(path, `${SCRIPT_MARK}${text}`);
    const content = readFileSync(path);
    const files = [{ path: 'model.gguf', bytes: content.length, sha256: sha256Of(content) }];
    describeIn(dirname(path), { id: `gguf:${slug}`, files });
    await stage.ask('POST', '/api/models', { name: slug, provider: 'llama', modelId: slug });
  };
  const test = async (name: string) => (await stage.ask('POST', `/api/models/${name}/test`)).body;
  const running = (count: number) =>
    untilMatches(async () => modelProcesses(stage.home).length, count);

  it('ends with the model that is removed, while it loads too', async () => {
    await install('loaded', 'Hello');
    await install('loading', 'hold');
    expect(await test('loaded')).to.include({ ok: true, reply: 'Hello' });
    const failure = test('loading');
    await running(2);
    await stage.ask('DELETE', '/api/capabilities/loaded?force=true');
    await running(1);
    await stage.ask('DELETE', '/api/capabilities/loading?force=true');
    await running(0);
    expect((await failure).error).to.equal('loading was not loaded: it was removed or is damaged');
    expect((await test('loading')).error).to.equal(`loading ${notInstalled('loading')}`);
  });

  it('ends with the engine, though its model is registered no more', async () => {
    await install('loaded', 'Hello');
    await test('loaded');
    await stage.ask('DELETE', '/api/models/loaded');
    expect(modelProcesses(stage.home)).to.have.length(1);
    expect((await stage.ask('DELETE', '/api/capabilities/llama')).status).to.equal(204);
    await running(0);
  });

  const verify = async (slug: string) => {
    const { body } = await stage.ask('POST', `/api/capabilities/${slug}/verify`);
    return (await stage.ended(body.id)).status;
  };

  it('ends when its file is found damaged, and starts again once it is whole', async () => {
    await install('house', 'Hello');
    expect(await test('house')).to.include({ ok: true, reply: 'Hello' });
    const path = modelFile(stage.home, 'house');
    const whole = await readFile(path);
    await writeFile(path, 'Hallo');
    expect(await verify('house')).to.equal('failed');
    await running(0);
    expect((await test('house')).error).to.equal(
      'house was not loaded: its file is damaged. Reinstall it with: adjutant capabilities install house',
    );
    await writeFile(path, whole);
    expect(await verify('house')).to.equal('completed');
    expect(await test('house')).to.include({ ok: true, reply: 'Hello' });
  });

  it('ends when the engine is found damaged', async () => {
    await install('house', 'Hello');
    await test('house');
    const files = [{ path: 'lost.js', bytes: 1, sha256: sha256Of(Buffer.from('a')) }];
    describeIn(join(stage.home, 'capabilities/llama'), { id: 'llama', kind: 'engine', files });
    expect(await verify('llama')).to.equal('failed');
    await running(0);
    expect((await test('house')).error).to.equal(
      'house was not loaded: the files of llama are damaged. Reinstall it with: adjutant capabilities install llama',
    );
  });
});
