import { rm } from 'node:fs/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { placeCapability } from '../harness/capability.js';
import { type CapabilityStage, startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the doctor', () => {
  let stage: CapabilityStage;
  before(async () => {
    stage = await startCapabilities({});
  });
  after(() => stage.stop());

  const findings = async () => {
    const { body } = await stage.ask('GET', '/api/admin/doctor');
    return body.findings
      .filter(({ name }: { name: string }) => name === 'capabilities')
      .map(({ status, detail }: { status: string; detail: string }) => [status, detail]);
  };

  it('has nothing to say of capabilities where none is needed', async () => {
    expect(await findings()).to.equal([]);
  });

  it('names models that lack what they need, and files that are damaged', async () => {
    const model = { name: 'house', provider: 'llama', modelId: 'house-q8_0' };
    expect((await stage.ask('POST', '/api/models', model)).status).to.equal(201);
    await placeCapability(stage.home, 'torn', { content: Buffer.from('whole') });
    await placeCapability(stage.home, 'llama', { kind: 'engine' });
    await rm(`${stage.home}/capabilities/torn/model.gguf`);
    expect(await findings()).to.equal([
      ['warn', 'models/house: it needs house-q8_0, which is not installed'],
      ['warn', 'torn: model.gguf is missing: remove it and install it again'],
    ]);
    await stage.ask('PATCH', '/api/models/house', { enabled: false });
    expect((await findings()).length).to.equal(1);
  });
});
