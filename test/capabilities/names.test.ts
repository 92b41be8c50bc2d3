import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { slugNamed } from '../../src/capabilities/resolve.js';
import { suggestInstall } from '../../src/capabilities/suggest.js';
import { catalogueModel, writeCatalogue } from '../harness/catalogue.js';
import { placeSpeechEngine } from '../harness/speech.js';
import { sha256Of, startMirror } from './mirror.js';
import { type CapabilityStage, placeEngine, scriptedModel, startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const FILE = await scriptedModel();

describe('a name that names nothing', () => {
  let stage: CapabilityStage;
  let mirror: Awaited<ReturnType<typeof startMirror>>;
  before(async () => {
    mirror = await startMirror(FILE);
    stage = await startCapabilities({});
    await placeEngine(stage.home);
    const catalogue = await writeCatalogue(stage.home, [
      catalogueModel({ id: 'qwen3-4b', ollama: 'qwen3:4b' }),
      catalogueModel({ id: 'whisper-base', kind: 'speech', useCases: ['speech'] }),
    ]);
    const voicePath = [placeSpeechEngine()];
    const egressAllow = [mirror.entry];
    await stage.restart({ egressAllow, capabilitySource: null, catalogue, voicePath });
    await stage.install(house);
  });
  after(async () => {
    await stage.stop();
    await mirror.close();
  });
  const house = {
    id: 'gguf:house',
    get url() {
      return mirror.url;
    },
    sha256: sha256Of(FILE),
  };
  const refusal = async (body: object) => {
    const reply = await stage.ask('POST', '/api/capabilities/install', body);
    return [reply.status, reply.body.details?.[0]?.path, reply.body.details?.[0]?.message];
  };
  const removal = async (slug: string) => {
    const { status, body } = await stage.ask('DELETE', `/api/capabilities/${slug}`);
    return [status, body.message];
  };

  it('has the one that may be meant beside it', async () => {
    const models = [
      { ...catalogueModel({ id: 'qwen3-4b', ollama: 'qwen3:4b' }), kind: 'chat' as const },
    ].map((model) => ({ ...model, useCases: [], files: [] }));
    const meant = (id: string) => suggestInstall(id, { models, held: [{ id: 'gguf:house' }] });
    const given = ['qwen3-4b', 'qwen3:4b', 'gguf:qwen3-4', 'tesseract:it', 'gguf:hous', 'lama'];
    expect(given.map(meant)).to.equal([
      'gguf:qwen3-4b',
      'ollama:qwen3:4b',
      'gguf:qwen3-4b',
      'tesseract:ita',
      'gguf:house',
      'llama',
    ]);
    expect([meant('gguf:something-else-entirely'), meant('')]).to.equal([null, null]);
  });

  it('is refused with that', async () => {
    expect(await refusal({ id: 'tesseract:it' })).to.equal([
      400,
      'id',
      'is not a Tesseract language: it. Did you mean tesseract:ita?',
    ]);
    const [, , message] = await refusal({ id: 'qwen3-4' });
    expect(message).to.match(
      /^is not an installable capability. Use .*. Did you mean gguf:qwen3-4b\?$/,
    );
  });

  it('of what is not there is not removed, and that of what ships neither', async () => {
    expect(await removal('hause')).to.equal([
      404,
      'No capability with that name is installed. Did you mean house?',
    ]);
    const rest = 'so Adjutant cannot verify or delete this capability';
    expect(await removal('node')).to.equal([409, `node is included with Adjutant, ${rest}`]);
    expect(await removal('tesseract-eng')).to.equal([
      409,
      `tesseract-eng is included with Adjutant, ${rest}`,
    ]);
    for (const beside of ['claude', 'ffmpeg']) {
      expect(await removal(beside)).to.equal([
        409,
        `${beside} was not installed by Adjutant, ${rest}`,
      ]);
    }
    const { status, body } = await stage.ask('POST', '/api/capabilities/install', {
      id: 'tesseract:eng',
    });
    expect([status, body.message]).to.equal([
      409,
      'tesseract-eng is included with Adjutant and needs no installation',
    ]);
  });

  it('of a use that nothing performs, or that the model is not for, is refused', async () => {
    const speech = 'is only supported for Whisper models: whisper:<size>';
    expect(await refusal({ ...house, id: 'gguf:other', useCase: 'speech' })).to.equal([
      400,
      'useCase',
      speech,
    ]);
    expect(await refusal({ id: 'whisper:base', useCase: 'chat' })).to.equal([
      400,
      'useCase',
      'is not supported by this model. Supported: speech',
    ]);
    const unsuited = await stage.install({ id: 'gguf:house', useCase: 'embedding' });
    expect(unsuited.status).to.equal('failed');
    expect(unsuited.error).to.match(
      /^useCase: house is installed but was not registered, because the model does not support the use case embedding. Supported use cases: chat/,
    );
    expect((await stage.ask('GET', '/api/models/house')).status).to.equal(404);
    const suited = await stage.install({ id: 'house', useCase: 'chat', contextWindow: 512 });
    expect(suited.result).to.equal({ id: 'house', model: 'house' });
    const { contextWindow } = (await stage.ask('GET', '/api/models/house')).body;
    expect(contextWindow).to.equal(512);
    expect(
      await refusal({ id: 'gguf:other', url: house.url, sha256: house.sha256, contextWindow }),
    ).to.equal([
      ...[
        400,
        'contextWindow',
        'requires useCase, because contextWindow applies to the registered model',
      ],
    ]);
  });

  it('of a program of the machine is listed, with what installs it', async () => {
    expect(await stage.listed('pocketsphinx')).to.include({
      ...{ kind: 'tool', status: 'available', reason: null },
      path: join(placeSpeechEngine(), 'pocketsphinx_continuous'),
    });
    expect(await stage.listed('ffmpeg')).to.include({
      ...{ kind: 'tool', status: 'missing', path: null },
      reason: 'It is not installed. Install it with: apt install ffmpeg',
    });
  });

  it('is the id, the slug or the registered model alike', async () => {
    await stage.ask('POST', '/api/models', { name: 'named', provider: 'ollama', modelId: 'a:1b' });
    for (const name of ['house', 'gguf:house']) {
      const path = `/api/capabilities/${encodeURIComponent(name)}/verify`;
      const { status, body } = await stage.ask('POST', path);
      expect([status, body.resource]).to.equal([202, { kind: 'capability', id: 'house' }]);
      expect((await stage.ended(body.id)).status).to.equal('completed');
    }
    const names = {
      installed: [{ id: 'gguf:clock:Q8_0', slug: 'clock-q8_0' }],
      models: [
        { name: 'kit', provider: 'llama' as const, modelId: 'clock-q8_0' },
        { name: 'pulled', provider: 'ollama' as const, modelId: 'qwen3:4b' },
      ],
    };
    const given = ['clock-q8_0', 'gguf:clock:Q8_0', 'gguf:clock', 'kit', 'pulled', 'none'];
    expect(given.map((name) => slugNamed(name, names))).to.equal([
      ...['clock-q8_0', 'clock-q8_0', 'clock-q8_0', 'clock-q8_0', 'ollama-qwen3-4b', 'none'],
    ]);
    expect((await removal('gguf:house'))[0]).to.equal(409);
  });
});
