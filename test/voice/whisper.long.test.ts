import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { EngineUnusable, engineProbe } from '../../src/capabilities/engine.js';
import { WHISPER_ENGINE, withWhisper } from '../harness/llamaengine.js';
import { writeScriptedWhisper } from '../harness/scriptedwhisper.js';
import { placeSpeechEngine } from '../harness/speech.js';
import { speak, startVoice, type VoiceStage, withSpeech } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const skip = withWhisper.skip || 'skip' in withSpeech;

const said = skip ? ' (skipped: it needs the engine, flite and ffmpeg)' : '';
const WORDS = [' The', ' report', ' is', ' done.'];

describe(`whisper.cpp${said}`, () => {
  let stage: VoiceStage;
  let spoken: Buffer;
  before(async () => {
    if (skip) return;
    stage = await startVoice({ config: { voicePath: [placeSpeechEngine()] } });
    spoken = await speak('hello world');
  });
  after(() => stage?.stop());

  const place = async (slug: string, words: string[]): Promise<string> => {
    const folder = join(stage.home, 'capabilities', slug);
    await mkdir(folder, { recursive: true });
    const path = join(folder, 'model.bin');
    writeScriptedWhisper(path, { words, seconds: 1.2 });
    return path;
  };
  const send = (fields: Record<string, string> = {}) =>
    stage.send({ name: 'spoken.wav', content: spoken }, fields);

  it('is tried by its installation', { skip }, async () => {
    const signal = AbortSignal.timeout(60_000);
    await engineProbe.probe(WHISPER_ENGINE, 'whisper', signal);
    await expect(engineProbe.probe(stage.home, 'whisper', signal)).to.reject(
      EngineUnusable,
      /does not run on this machine/,
    );
  });

  it('is passed over before it is installed, with the reason', { skip }, async () => {
    expect((await send()).body).to.include({ status: 'completed', engine: 'pocketsphinx' });
    const { status, body } = await send({ model: 'whisper' });
    expect([status, body.code]).to.equal([503, 'no_engine']);
    expect(body.message).to.contain('whisper: none of its models is installed');
    expect(body.message).to.contain('adjutant capabilities install whisper:base');
    await place('whisper-tiny-f16', WORDS);
    const without = await send({ model: 'whisper' });
    expect(without.body.message).to.contain('whisper: its engine is not installed');
  });

  it('transcribes before PocketSphinx, with times and the language', { skip }, async () => {
    const folder = join(stage.home, 'capabilities', 'whisper');
    await mkdir(folder, { recursive: true });
    await symlink(join(WHISPER_ENGINE, 'node_modules'), join(folder, 'node_modules'));
    const { body } = await send();
    expect(body).to.include({
      ...{ status: 'completed', text: 'The report is done.', language: 'de' },
      ...{ engine: 'whisper', model: 'whisper-tiny-f16', passedOver: [] },
    });
    expect(body.segments).to.equal([{ start: 0, end: 1.2, text: 'The report is done.' }]);
  });

  it('uses the largest model, or the one that is named', { skip }, async () => {
    const path = await place('whisper-base-f16', [' Larger', ' model']);
    await truncate(path, 20_000_000);
    // What lies behind the last tensor is no tensor: the file is damaged, and the next engine is asked.
    expect((await send()).body).to.include({ engine: 'pocketsphinx', text: 'hello world' });
    await place('whisper-base-f16', [' Larger', ' model', ' of', ' more', ' words']);
    expect((await send()).body).to.include({ text: 'Larger model of more words' });
    const named = await send({ model: 'whisper-tiny-f16' });
    expect(named.body).to.include({ model: 'whisper-tiny-f16', text: 'The report is done.' });
  });

  it('leaves out remarks on what is no speech', { skip }, async () => {
    await place('whisper-base-f16', [' [', 'BLANK', '_AUDIO', ']', '', '']);
    const { body } = await send({ model: 'whisper-base-f16' });
    expect(body).to.include({ text: '', reason: 'not_understood' });
  });

  it('ends hostile models as an engine that failed, and goes on with the next', {
    skip,
  }, async () => {
    const path = await place('whisper-base-f16', WORDS);
    for (const [content, why] of [
      [Buffer.alloc(1_000_000, 'no model'), /whisper\.cpp failed: /],
      [Buffer.alloc(0), /whisper\.cpp failed: /],
      [Buffer.concat([Buffer.from('lmgg'), Buffer.alloc(4000, 0x7f)]), /whisper\.cpp failed: /],
    ] as const) {
      await writeFile(path, content);
      const { body } = await send({ model: 'whisper-base-f16' });
      expect(body).to.include({ status: 'failed' });
      expect(body.error).to.match(why);
      expect((await stage.ask('GET', '/health')).status).to.equal(200);
    }
  });
});
