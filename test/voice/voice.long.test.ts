import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  convert,
  MELODY,
  sendAudio,
  speak,
  startVoice,
  synthesize,
  unlessSpeech,
  type VoiceStage,
  withSpeech,
} from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const HELLO = 'hello world';
type Segment = { start: number; end: number; text: string };
const REMIND = 'remind me to send the report on friday';

describe(`voice${unlessSpeech}`, { ...withSpeech }, () => {
  let stage: VoiceStage;
  let hello: Buffer;
  before(async () => {
    if (withSpeech.skip) return;
    stage = await startVoice();
    hello = await speak(HELLO);
  });
  after(() => stage?.stop());

  const left = () => readdir(join(stage.home, 'voice'));

  it('transcribes a sentence word for word, with its times, and keeps no audio', async () => {
    const { status, body } = await stage.send({ name: 'hello.wav', content: hello });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.include({
      status: 'completed',
      filename: 'hello.wav',
      mediaType: 'audio/wav',
      text: HELLO,
      language: 'en',
      engine: 'pocketsphinx',
      model: 'en-us',
      reason: null,
      error: null,
      code: null,
    });
    const seconds: number = body.durationSeconds;
    expect(seconds).to.be.between(1, 1.5);
    const [{ start, end, text }, ...others]: [Segment, ...Segment[]] = body.segments;
    expect([text, others]).to.equal([HELLO, []]);
    expect(start).to.be.between(0, 0.4);
    expect(end).to.be.between(0.9, 1.3);
    expect(await left()).to.equal([]);
  });

  it('takes the same as base64 in JSON', async () => {
    const content = await speak(REMIND, 'rms');
    const body = { audio: content.toString('base64'), format: 'wav', language: 'en' };
    const sent = await stage.ask('POST', '/api/voice/transcribe', body);
    expect([sent.status, sent.body.text, sent.body.filename]).to.equal([200, REMIND, null]);
  });

  it('lists what was transcribed, shows it, and forgets it', async () => {
    const { body } = await stage.send({ name: 'once.wav', content: hello });
    const path = `/api/voice/transcriptions/${body.id}`;
    const { text, segments, ...facts } = body;
    const listed = await stage.ask('GET', '/api/voice/transcriptions?limit=1&status=completed');
    expect(listed.body.transcriptions).to.equal([{ ...facts, excerpt: HELLO }]);
    expect((await stage.ask('GET', path)).body).to.equal({ ...facts, text, segments });
    expect((await stage.ask('POST', `${path}/cancel`)).status).to.equal(409);
    expect((await stage.ask('DELETE', path)).status).to.equal(204);
    expect((await stage.ask('GET', path)).status).to.equal(404);
  });

  it('answers 202 where it takes longer than is waited for', async () => {
    const body = { audio: hello.toString('base64') };
    const sent = await stage.ask('POST', '/api/voice/transcribe?wait=0', body);
    expect([sent.status, sent.body.text]).to.equal([202, null]);
    const ended = await stage.ended(sent.body.id);
    expect([ended.status, ended.text]).to.equal(['completed', HELLO]);
    const operation = await stage.ask('GET', `/api/operations/${sent.body.operationId}`);
    expect(operation.body).to.include({ kind: 'voice.transcribe', status: 'completed' });
  });

  it('invents no words for silence, and none for music', async () => {
    const silence = await synthesize('anullsrc=r=16000:d=4');
    const music = await synthesize(MELODY(8));
    const noise = await synthesize('anoisesrc=d=4:c=pink:r=16000:a=0.3');
    for (const [content, reason] of [
      [silence, 'silence'],
      [music, 'no_speech'],
      [noise, 'no_speech'],
    ] as const) {
      const { body } = await stage.send({ name: 'quiet.wav', content });
      expect(body).to.include({ status: 'completed', text: '', segments: [], reason });
    }
  });

  it('transcribes what is said between music', async () => {
    const music = await synthesize(MELODY(3));
    const whole = Buffer.concat([
      await samplesOf(music),
      Buffer.alloc(64_000),
      await samplesOf(hello),
      Buffer.alloc(64_000),
      await samplesOf(music),
    ]);
    const content = wavOf(whole);
    const { body } = await stage.send({ name: 'show.wav', content });
    expect([body.text, body.segments.length]).to.equal([HELLO, 1]);
    const start: number = body.segments[0].start;
    expect(start).to.be.between(4.8, 5.6);
  });

  it('refuses a text that is named as audio, and names the field', async () => {
    const content = Buffer.from('This is no music at all.\n'.repeat(50));
    const form = await stage.send({ name: 'song.mp3', content });
    const [{ path, message }] = form.body.details;
    expect([form.status, path]).to.equal([415, 'audio']);
    expect(message).to.match(/^is not a supported audio format\. Supported: WAV, /);
    expect(form.body.message).to.equal(`Invalid request: audio ${message}`);
    const body = { audio: content.toString('base64'), format: 'mp3' };
    const json = await stage.ask('POST', '/api/voice/transcribe', body);
    expect([json.status, json.body.details]).to.equal([415, form.body.details]);
    expect(await left()).to.equal([]);
  });

  it('refuses what is no base64, empty, or too large', async () => {
    const post = (body: object) => stage.ask('POST', '/api/voice/transcribe', body);
    expect((await post({ audio: 'no*base64' })).body.details[0].path).to.equal('audio');
    expect((await post({ audio: '' })).status).to.equal(400);
    expect((await post({})).body.details[0].path).to.equal('audio');
    expect((await post({ audio: 'AAAA', volume: 3 })).status).to.equal(400);
    expect((await post({ audio: 'AAAA', language: 'English, please' })).status).to.equal(400);
    const large = Buffer.concat([hello, Buffer.alloc(25 * 1024 * 1024)]);
    expect((await stage.send({ name: 'large.wav', content: large })).status).to.equal(413);
    expect((await post({ audio: large.toString('base64') })).status).to.equal(413);
    expect(await left()).to.equal([]);
  });

  it('ends a damaged file as failed, and lives on', async () => {
    const mp3 = await convert(hello, 'hello.mp3');
    const damaged = Buffer.concat([mp3.subarray(0, 200), Buffer.alloc(5000, 0x55)]);
    const { status, body } = await stage.send({ name: 'broken.mp3', content: damaged });
    expect(status).to.equal(200);
    expect(['failed', 'completed']).to.include(body.status);
    const wav = await stage.send({ name: 'broken.wav', content: hello.subarray(0, 40) });
    expect(wav.body).to.include({ status: 'failed', code: 'damaged', text: null });
    expect(wav.body.error).to.contain('damaged');
    expect((await stage.send({ name: 'hello.wav', content: hello })).body.text).to.equal(HELLO);
  });

  it('hides transcriptions from others', async () => {
    const { body } = await stage.send({ name: 'mine.wav', content: hello });
    const { token } = await stage.register('stranger');
    const path = `/api/voice/transcriptions/${body.id}`;
    for (const method of ['GET', 'DELETE']) {
      expect((await stage.call(method, path, { token })).status).to.equal(404);
    }
    const own = await sendAudio(stage, token, { name: 'own.wav', content: hello });
    expect(own.body.text).to.equal(HELLO);
  });

  it('says what to do where there is no engine, and where none suits', async () => {
    const german = await stage.send({ name: 'hallo.wav', content: hello }, { language: 'de' });
    expect([german.status, german.body.code]).to.equal([503, 'no_engine']);
    expect(german.body.message).to.contain('pocketsphinx: it supports only English');
    await stage.restart({ voicePath: ['/nowhere'] });
    const none = await stage.send({ name: 'hello.wav', content: hello });
    expect([none.status, none.body.code]).to.equal([503, 'no_engine']);
    expect(none.body.message).to.contain('install pocketsphinx');
    const webm = await convert(hello, 'hello.webm');
    const unread = await stage.send({ name: 'hello.webm', content: webm });
    expect(unread.status).to.equal(415);
    expect(`${unread.body.message}`).to.startWith(
      'Invalid request: audio is video/webm, which requires ffmpeg on the machine of the daemon. Install',
    );
    await stage.restart({ voicePath: ['/usr/bin'] });
  });
});

/** The samples of audio, with 16,000 of 16 bits a second. */
const samplesOf = async (audio: Buffer): Promise<Buffer> =>
  convert(audio, 'samples.raw', ['-f', 's16le', '-ar', '16000', '-ac', '1']);

const wavOf = (samples: Buffer): Buffer => {
  const head = Buffer.from(
    'UklGRgAAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=',
    'base64',
  );
  head.writeUInt32LE(samples.length + 36, 4);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
};
