import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { placeSpeechEngine } from '../harness/speech.js';
import { openTarget, type Target } from '../harness/target.js';
import { speak, startVoice, unlessSpeech, type VoiceStage, withSpeech } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const REPLY = {
  text: 'Hello, world.',
  language: 'english',
  segments: [{ id: 0, start: 0.1, end: 0.9, text: ' Hello, world.' }],
};

describe(`voice, by a model${unlessSpeech}`, { ...withSpeech }, () => {
  let stage: VoiceStage;
  let target: Target;
  let content: Buffer;
  before(async () => {
    if (withSpeech.skip) return;
    target = await openTarget();
    stage = await startVoice({ config: { voicePath: [placeSpeechEngine()] } });
    content = await speak('hello world');
    const models = [
      { name: 'scribe', modelId: 'whisper-1', supports: { transcription: true }, price: PRICE },
      { name: 'mute', modelId: 'gpt' },
    ];
    for (const model of models) {
      const body = { provider: 'openai-compatible', baseUrl: `${target.url}/v1`, ...model };
      const { status, text } = await stage.ask('POST', '/api/models', { ...body, apiKey: 'sk-1' });
      expect(status, text).to.equal(201);
    }
    await route('scribe');
  });
  beforeEach(() => {
    if (withSpeech.skip) return;
    target.received.length = 0;
    target.answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(REPLY));
    };
  });
  after(async () => {
    await stage?.stop();
    target?.close();
  });

  const route = (primary: string) =>
    stage.ask('PUT', '/api/models/routing', { topics: [{ topic: 'transcription', primary }] });
  const send = (fields = {}) => stage.send({ name: 'hello.wav', content }, fields);

  it('asks the model of the topic, and counts what a minute costs', async () => {
    const { body } = await send({ language: 'en', prompt: 'Ada' });
    expect(body).to.include({
      ...{ status: 'completed', text: 'Hello, world.', engine: 'model', model: 'scribe' },
      ...{ language: 'english', passedOver: [] },
      segments: [{ start: 0.1, end: 0.9, text: 'Hello, world.' }],
    });
    const [request] = target.received;
    expect(request).to.include({ method: 'POST', path: '/v1/audio/transcriptions' });
    expect(request?.headers.authorization).to.equal('Bearer sk-1');
    expect(request?.body).to.contain('whisper-1').and.contain('verbose_json').and.contain('Ada');
    const cost: number = body.costUsd;
    expect(cost).to.be.between((0.6 * 1.1) / 60, (0.6 * 1.4) / 60);
    const { total } = (await stage.ask('GET', '/api/models/usage')).body;
    expect([total.calls, Math.abs(total.costUsd - cost) < 1e-9]).to.equal([1, true]);
  });

  it('falls to the next engine where the model fails, and says which failed', async () => {
    target.answer = (response) => {
      response.writeHead(500);
      response.end('{}');
    };
    const { body } = await send();
    expect(body).to.include({ status: 'completed', text: 'hello world', engine: 'pocketsphinx' });
    expect(body.passedOver).to.equal([{ engine: 'scribe', because: 'scribe answered 500' }]);
    expect(body.costUsd).to.be.null();
    const named = await send({ model: 'scribe' });
    expect(named.body).to.include({ status: 'failed', code: 'no_engine', text: null });
    expect(named.body.error).to.match(
      /^Every speech engine failed \(scribe: scribe answered 500\)\. Upload the recording again, or add an engine: Run adjutant capabilities install /,
    );
  });

  it('takes a model by its name, and refuses what hears nothing', async () => {
    await stage.ask('PATCH', '/api/models/scribe', { contextWindow: 4096 });
    expect((await send({ model: 'scribe' })).body.text).to.equal('Hello, world.');
    expect((await send({ model: 'pocketsphinx' })).body.engine).to.equal('pocketsphinx');
    const mute = await send({ model: 'mute' });
    expect([mute.status, mute.body.code]).to.equal([503, 'no_engine']);
    expect(mute.body.message).to.contain('mute: it does not support transcription');
    const unknown = await send({ model: 'nobody' });
    expect([unknown.status, unknown.body.details[0].path]).to.equal([400, 'model']);
    const routed = await route('mute');
    expect([routed.status, routed.body.details[0].path]).to.equal([400, 'topics.0.primary']);
    const body = {
      name: 'x',
      provider: 'anthropic',
      modelId: 'y',
      supports: { transcription: true },
    };
    expect((await stage.ask('POST', '/api/models', body)).status).to.equal(400);
  });

  it('passes over a model where the day of its user has no room', async () => {
    const { body: me } = await stage.ask('GET', '/api/auth/me');
    const limits = { dailyCostUsd: 0.001 };
    const changed = await stage.ask('PATCH', `/api/admin/users/${me.id}`, { limits });
    expect(changed.status, changed.text).to.equal(200);
    const { body } = await send();
    expect(body.engine).to.equal('pocketsphinx');
    expect(body.passedOver[0].because).to.contain('USD is reached');
    expect(target.received.length).to.equal(0);
  });
});

const PRICE = { inputPerMTok: 0, outputPerMTok: 0, perMinuteUsd: 0.6 };
