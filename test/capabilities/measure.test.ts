import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { computeRateSummary } from '../../src/capabilities/measure.js';
import { startEmbedder } from '../harness/embedder.js';
import { ollama } from '../harness/ollama.js';
import { startWire } from '../harness/wire.js';
import { type CapabilityStage, startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** The model of the catalogue that Ollama calls as the one that is measured. */
const ENTRY = 'gguf:qwen3-0.6b:';

/** A model for vectors of the catalogue, as Ollama calls it. */
const EMBEDDER = 'nomic-embed-text:137m-v1.5-fp16';

interface FitRow {
  tokensPerSecond: { unit: string; measured: { median: number } | null };
}

describe('the speed of several runs', () => {
  it('is their median, with the spread from the slowest to the fastest', () => {
    expect(computeRateSummary([40, 10, 20, 22, 18])).to.equal({ median: 20, spread: 1.5 });
    expect(computeRateSummary([30, 30, 30, 30, 30])).to.equal({ median: 30, spread: 0 });
    // One run that was slow beside another program moves no median.
    expect(computeRateSummary([50, 51, 5, 52, 49]).median).to.equal(50);
    expect(computeRateSummary([10, 20])).to.equal({ median: 15, spread: 0.6667 });
  });
});

describe('a model that is measured', () => {
  let stage: CapabilityStage;
  let server: Awaited<ReturnType<typeof startWire>>;
  before(async () => {
    const said = { text: 'one two three four five six', usage: { input: 20, output: 64 } };
    server = await startWire(
      '',
      Array.from({ length: 20 }, () => ollama.says(said)),
    );
    stage = await startCapabilities({});
    const model = { provider: 'ollama', modelId: 'qwen3:0.6b-q4_K_M', baseUrl: server.baseUrl };
    await stage.ask('POST', '/api/models', { name: 'tiny', ...model });
  });
  after(async () => {
    await stage.stop();
    await server.stop();
  });

  const measure = async (model: string) => {
    const { status, body } = await stage.ask('POST', '/api/capabilities/measure', { model });
    return status === 202 ? stage.ended(body.id) : body;
  };

  it('writes six times, and its speed is kept', async () => {
    const operation = await measure('tiny');
    expect([operation.status, operation.error]).to.equal(['completed', null]);
    expect(server.asked.length).to.equal(6);
    const { unit, median } = operation.result.tokensPerSecond;
    expect([unit, median > 0]).to.equal(['written', true]);
    expect(operation.progress.note).to.match(/^[\d.]+ tokens written per second, ± /);
    const { fit } = (await stage.ask('GET', '/api/capabilities/hardware')).body;
    const rows = fit.filter(({ model }: { model: string }) => model.startsWith(ENTRY));
    const speeds = rows.map((row: FitRow) => row.tokensPerSecond.measured);
    expect([
      speeds.length > 0,
      new Set(speeds.map((speed: FitRow['tokensPerSecond']['measured']) => speed?.median)),
    ]).to.equal([true, new Set([median])]);
  });

  it('reads texts six times if it makes vectors, none of them twice', async () => {
    const embedder = await startEmbedder('ollama', 4);
    embedder.become('works', 20);
    const model = { provider: 'ollama', modelId: EMBEDDER, baseUrl: embedder.baseUrl };
    const embedding = { dimensions: 4, maxInputTokens: 100 };
    await stage.ask('POST', '/api/models', { name: 'vectors', ...model, embedding });
    const operation = await measure('vectors');
    expect([operation.status, operation.error]).to.equal(['completed', null]);
    const runs = embedder.asked.map(({ body }) => body.input);
    expect(runs.map((texts) => texts.length)).to.equal([8, 8, 8, 8, 8, 8]);
    expect(new Set(runs.flat()).size).to.equal(48);
    // A token is estimated to have three bytes.
    expect(runs.flat().every((text) => text.length > 200 && text.length <= 300)).to.be.true();
    const { unit, median } = operation.result.tokensPerSecond;
    const words = Math.max(...runs.map((texts) => texts.join(' ').split(/\s+/).length));
    // Each run takes 20 ms at least; a timer may be early by one.
    expect([unit, median > 0, median <= words / 0.019]).to.equal(['read', true, true]);
    const { fit } = (await stage.ask('GET', '/api/capabilities/hardware?useCase=embedding')).body;
    const speeds = fit.map(({ tokensPerSecond }: FitRow) => [
      ...[tokensPerSecond.unit, tokensPerSecond.measured?.median ?? null],
    ]);
    expect(speeds).to.include([['read', median]]);
    expect(speeds.every(([each]: string[]) => each === 'read')).to.be.true();
    await embedder.stop();
  });

  it('is known by the name that Ollama has for it too', async () => {
    const { body } = await stage.ask('POST', '/api/capabilities/measure', {
      model: 'ollama:qwen3:0.6b-q4_K_M',
    });
    expect(body.resource).to.equal({ kind: 'model', id: 'tiny' });
    await stage.ended(body.id);
  });

  it('runs on this machine', async () => {
    const elsewhere = { provider: 'openai-compatible', modelId: 'x', baseUrl: server.baseUrl };
    await stage.ask('POST', '/api/models', { name: 'elsewhere', ...elsewhere });
    const away = { provider: 'ollama', modelId: 'x', baseUrl: 'http://192.0.2.2:11434' };
    await stage.ask('POST', '/api/models', { name: 'away', ...away });
    for (const [model, why] of [
      ['elsewhere', 'does not run on this machine: openai-compatible'],
      ['digest', 'does not run on this machine: digest'],
      ['away', 'does not run on this machine: ollama'],
      ['nothing', 'is not a registered model. Local models: away, tiny, vectors'],
      ['tini', 'is not a registered model. Did you mean tiny? Local models: away, tiny, vectors'],
    ] as const) {
      const { statusCode, details } = await measure(model);
      expect([statusCode, details]).to.equal([400, [{ path: 'model', message: why }]]);
    }
  });
});
