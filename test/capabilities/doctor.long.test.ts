import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { TestOptions } from '../harness/app.js';
import { placeCapability } from '../harness/capability.js';
import { openForSuite } from '../harness/suite.js';
import { startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DAMAGED = 'Its file is damaged';

describe('the doctor', () => {
  const stage = openForSuite(lab, () => startCapabilities({}));

  const findings = async () => {
    const { body } = await stage.ask('GET', '/api/admin/doctor');
    return body.findings
      .filter(({ name }: { name: string }) => name.startsWith('capabilit'))
      .map(({ status, name, detail }: Record<string, string>) => [status, name, detail]);
  };

  /** Returns the findings that name one of these. */
  const about = async (...names: string[]) => {
    const { body } = await stage.ask('GET', '/api/admin/doctor');
    return body.findings.filter(({ name }: { name: string }) =>
      names.some((each) => name.includes(each)),
    );
  };

  it('has nothing to say of capabilities where none is needed', async () => {
    expect(await findings()).to.equal([]);
  });

  it('is told by the models whose file was removed, or found damaged', async () => {
    await placeCapability(stage.home, 'barn');
    await stage.ask('POST', '/api/models', { name: 'farm', provider: 'llama', modelId: 'barn' });
    const health = async () => (await stage.ask('GET', '/api/models/farm')).body.health;
    expect(await health()).to.include({ status: 'unknown', lastError: null });
    await writeFile(join(stage.home, 'capabilities/barn/damaged.txt'), 'model.gguf');
    const damaged = {
      status: 'down',
      lastError: `${DAMAGED}. Reinstall it with: adjutant capabilities install barn`,
    };
    expect(await health()).to.include(damaged);
    const remedy = 'adjutant capabilities install barn';
    const finding = { name: 'model farm', status: 'fail', detail: DAMAGED, remedy };
    expect(await about('farm', 'barn')).to.equal([finding]);
    expect((await stage.ask('DELETE', '/api/capabilities/barn?force=true')).status).to.equal(204);
    const gone = { status: 'down', lastError: 'The model file is missing: barn' };
    expect(await health()).to.include(gone);
    const [lost, ...others] = await about('farm', 'barn');
    expect([lost.detail, others]).to.equal(['The model file is missing: barn', []]);
    expect(lost.remedy).to.equal(
      'adjutant capabilities install barn   or: adjutant models delete farm',
    );
    await stage.ask('DELETE', '/api/models/farm');
  });

  it('names models that lack what they need once, and files that are damaged', async () => {
    const model = { name: 'house', provider: 'llama', modelId: 'house-q8_0' };
    expect((await stage.ask('POST', '/api/models', model)).status).to.equal(201);
    await placeCapability(stage.home, 'torn', { content: Buffer.from('whole') });
    await placeCapability(stage.home, 'llama', { kind: 'engine' });
    await rm(`${stage.home}/capabilities/torn/model.gguf`);
    expect(await findings()).to.equal([
      ['warn', 'capability torn', 'model.gguf is missing. Its file is damaged'],
    ]);
    const [lost, ...others] = await about('house');
    expect([lost.name, lost.detail, others]).to.equal([
      ...['model house', 'The model file is missing: house-q8_0', []],
    ]);
  });
});

describe('the settings of capabilities', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'settings-'));
  });
  after(() => rm(folder, { recursive: true }));

  /** Returns what doctor, health and the report of the start say of them. */
  const saidOf = async (config: TestOptions['config']) => {
    const stage = await startCapabilities({ config });
    const doctor = (await stage.ask('GET', '/api/admin/doctor')).body.findings;
    const health = (await stage.ask('GET', '/health/detailed')).body.parts;
    const isMeant = ({ name }: { name: string }) => name === 'capabilities';
    await stage.stop();
    return {
      doctor: doctor.filter(isMeant).map(({ detail }: { detail: string }) => detail),
      health: health.filter(isMeant).map(({ detail }: { detail: string }) => detail),
      start: stage.app.report.settingFaults,
    };
  };

  it('are said to be of no use where they name nothing', async () => {
    const catalogue = join(folder, 'catalogue.json');
    await writeFile(catalogue, '{"date":');
    const source = join(folder, 'usb');
    const faults = [
      `ADJUTANT_CATALOGUE is not used: ${catalogue}: the catalogue is not valid JSON`,
      `ADJUTANT_CAPABILITY_SOURCE: ${source} does not exist. No capability can be installed`,
    ];
    const text = faults.join('; ');
    expect(await saidOf({ catalogue, capabilitySource: source })).to.equal({
      ...{ doctor: [text], health: [text], start: faults },
    });
    await writeFile(source, '');
    expect((await saidOf({ capabilitySource: source })).start).to.equal([
      `ADJUTANT_CAPABILITY_SOURCE: ${source} is not a folder. No capability can be installed`,
    ]);
    expect(await saidOf({ capabilitySource: folder })).to.equal({
      ...{ doctor: [], health: [], start: [] },
    });
  });
});
