import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { placeCapability } from '../harness/capability.js';
import { writeScriptedGguf } from '../harness/scriptedgguf.js';
import { openForSuite } from '../harness/suite.js';
import { startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

interface FitRow {
  model: string;
  useCases: string[];
  runsOn: string;
  recommended: boolean;
  recommendedFor: string[];
  totalBytes: number;
  weightsBytes: number;
  kvCacheBytes: number;
  bufferBytes: number;
  headroomBytes: number;
  tokensPerSecond: { estimated: number | null };
}

describe('the hardware', () => {
  const stage = openForSuite(lab, () => startCapabilities({ config: { capabilitySource: null } }));

  const look = async (query = '') =>
    (await stage.ask('GET', `/api/capabilities/hardware${query}`)).body;

  it('is this machine, with the source of each part', async () => {
    const { platform, cpu, memory, disk, sources, catalogue } = await look();
    expect([platform, cpu.arch]).to.equal([process.platform, process.arch]);
    expect(memory.bytesPerSecond >= 1e8).to.be.true();
    expect(disk.freeBytes >= 1).to.be.true();
    expect(sources.map(({ part }: { part: string }) => part)).to.equal([
      'cpu',
      'memory',
      'gpus',
      'disk',
    ]);
    expect(catalogue).to.include({ source: 'built in', fault: null });
  });

  it('shows the reason for a rejected catalogue to admins alone', async () => {
    const rejected = join(stage.home, 'rejected.json');
    await stage.restart({ capabilitySource: null, catalogue: rejected });
    const { token } = await stage.register('other');
    const other = await stage.call('GET', '/api/capabilities/hardware', { token });
    expect((await look()).catalogue).to.include({
      source: 'built in',
      fault: `${rejected}: is missing`,
    });
    expect(other.body.catalogue).to.include({ source: 'built in', fault: null });
    await stage.restart({ capabilitySource: null, catalogue: null });
  });

  it('has one first choice for each use, which fits', async () => {
    const { fit } = (await look()) as { fit: FitRow[] };
    for (const use of ['chat', 'tools', 'code', 'embedding', 'speech']) {
      const chosen = fit.filter(({ recommendedFor }) => recommendedFor.includes(use));
      expect([use, chosen.length]).to.equal([use, 1]);
      expect(chosen[0]?.useCases).to.include(use);
      expect(chosen[0]?.runsOn).to.not.equal('none');
    }
    expect(
      fit.filter(({ recommended }) => recommended).map(({ recommendedFor }) => recommendedFor[0]),
    ).to.equal(['chat']);
  });

  it('counts weights, cache and buffer, and the cache grows with the context', async () => {
    const rowOf = async (window: number): Promise<FitRow> => {
      const { fit } = await look(`?contextWindow=${window}`);
      return fit.find(({ model }: FitRow) => model === 'gguf:qwen3-4b:Q4_K_M');
    };
    const [short, long] = [await rowOf(4096), await rowOf(32_768)];
    for (const { totalBytes, weightsBytes, kvCacheBytes, bufferBytes } of [short, long]) {
      expect(weightsBytes + kvCacheBytes + bufferBytes).to.be.about(totalBytes, 2);
    }
    // 36 layers of 8 heads with 128 numbers for keys and as many for values, of 2 bytes each.
    expect(short.kvCacheBytes).to.equal(36 * 8 * (128 + 128) * 2 * 4096);
    expect(long.kvCacheBytes).to.equal(8 * short.kvCacheBytes);
    expect(long.headroomBytes < short.headroomBytes).to.be.true();
  });

  it('is asked for one use alone', async () => {
    const { fit } = (await look('?useCase=embedding')) as { fit: FitRow[] };
    expect(fit.every(({ useCases }) => useCases.includes('embedding'))).to.be.true();
    expect(fit.filter(({ recommended }) => recommended).length).to.equal(1);
    // They write no tokens.
    expect(fit.map(({ tokensPerSecond }) => tokensPerSecond.estimated)).to.equal(
      fit.map(() => null),
    );
    expect((await stage.ask('GET', '/api/capabilities/hardware?useCase=flying')).status).to.equal(
      400,
    );
  });

  it('fits what is installed by the header of its file, and says where that is broken', async () => {
    const { home } = stage;
    await placeCapability(home, 'broken', { content: Buffer.from(`GGUF${'x'.repeat(100)}`) });
    // Written before it is registered, since the daemon may read it at any moment from then on.
    const written = join(home, 'scripted.gguf');
    writeScriptedGguf(written, [' Hello', ' there.']);
    await placeCapability(home, 'scripted', { content: await readFile(written) });
    const { fit } = await look();
    const rowOf = (slug: string) => fit.find(({ model }: FitRow) => model === slug);
    expect(rowOf('scripted')).to.include({ installed: true, runsOn: 'cpu', useCases: ['chat'] });
    expect(rowOf('scripted').kvCacheBytes >= 1).to.be.true();
    expect(rowOf('broken').kvCacheBytes).to.be.null();
    expect(rowOf('broken').why).to.not.contain('needs');
  });
});
