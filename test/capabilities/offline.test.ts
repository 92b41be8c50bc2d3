import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { placeCapability } from '../harness/capability.js';
import { type CapabilityStage, placeEngine, scriptedModel, startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const REQUESTS = 'undici:request:create';

describe('a machine without a network', () => {
  let folder: string;
  let stage: CapabilityStage;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'offline-'));
  });
  after(async () => {
    await stage.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('installs a model from the folder of another, and asks no other host', async () => {
    const content = await scriptedModel();
    const [online, home] = [join(folder, 'online'), join(folder, 'away')];
    await placeCapability(online, 'house', { content });
    await placeEngine(home);
    const capabilitySource = join(online, 'capabilities');
    stage = await startCapabilities({ home, config: { capabilitySource } });
    const hosts = new Set<string>();
    const note = (message: unknown) =>
      void hosts.add(new URL((message as { request: { origin: string } }).request.origin).hostname);
    subscribe(REQUESTS, note);
    const { error, result } = await stage.install({ id: 'gguf:house', useCase: 'chat' });
    unsubscribe(REQUESTS, note);
    expect([error, result]).to.equal([null, { id: 'house', model: 'house' }]);
    const installed = await readFile(join(home, 'capabilities/house/model.gguf'));
    expect(installed.equals(content)).to.be.true();
    const { models } = (await stage.ask('GET', '/api/models')).body;
    expect(models[0]).to.include({ name: 'house', provider: 'llama', isDefault: true });
    expect([...hosts]).to.equal(['127.0.0.1']);
  });
});
