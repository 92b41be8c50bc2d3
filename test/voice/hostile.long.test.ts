import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { convert, speak, startVoice, unlessSpeech, type VoiceStage, withSpeech } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SENTENCE = 'hello world';
const FAILED = ['completed', 'failed'];

/** A WAV file whose header promises that, before a second of noise. */
const wavWith = (facts: { channels?: number; rate?: number; bits?: number; length?: number }) => {
  const { channels = 1, rate = 16_000, bits = 16, length = 32_000 } = facts;
  const head = Buffer.from(
    'UklGRgAAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=',
    'base64',
  );
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt16LE(bits, 34);
  head.writeUInt32LE(length, 40);
  return Buffer.concat([head, Buffer.alloc(32_000, 'noise')]);
};

describe(`voice, hostile files${unlessSpeech}`, { ...withSpeech }, () => {
  let stage: VoiceStage;
  let spoken: Buffer;
  before(async () => {
    if (withSpeech.skip) return;
    stage = await startVoice();
    spoken = await speak(SENTENCE);
  });
  after(() => stage?.stop());

  it('survives WAV files that lie about themselves', async () => {
    for (const [facts, code] of [
      [{ channels: 0 }, 'damaged'],
      [{ channels: 65_535 }, 'damaged'],
      [{ rate: 0 }, 'damaged'],
      [{ rate: 4_294_967_295 }, 'damaged'],
      [{ bits: 0 }, 'damaged'],
      [{ length: 4_294_967_295 }, null],
    ] as const) {
      const { body } = await stage.send({ name: 'lie.wav', content: wavWith(facts) });
      expect(body.code, JSON.stringify(facts)).to.equal(code);
    }
  });

  it('survives compressed files that are cut, overwritten, or repeated in part', async () => {
    for (const name of ['a.mp3', 'a.ogg', 'a.flac', 'a.webm', 'a.m4a']) {
      const whole = await convert(spoken, name, name === 'a.ogg' ? ['-c:a', 'libopus'] : []);
      const noise = Buffer.from(whole);
      for (let at = 60; at < noise.length; at += 7) noise[at] = (at * 31) % 256;
      const cut = whole.subarray(0, Math.floor(whole.length / 2));
      for (const content of [cut, noise, Buffer.concat([cut, whole])]) {
        const { status, body } = await stage.send({ name, content });
        expect([200, 415], body.message).to.include(status);
        if (status === 200) expect(FAILED).to.include(body.status);
      }
    }
    const { body } = await stage.send({ name: 'fine.wav', content: spoken });
    expect(body.text).to.equal(SENTENCE);
  });

  it('ends audio of more than two hours as too long, and takes two hours of silence', async () => {
    const silence = (seconds: number) =>
      convert(spoken, 'long.flac', ['-af', `apad=whole_dur=${seconds}`, '-ar', '16000']);
    const ended = async (content: Buffer) =>
      (await stage.send({ name: 'long.flac', content })).body;
    expect(await ended(await silence(7300))).to.include({ status: 'failed', code: 'too_long' });
    const body = await ended(await silence(7190));
    expect(body).to.include({ status: 'completed', text: SENTENCE });
    const seconds: number = body.durationSeconds;
    expect(seconds).to.be.between(7189, 7191);
  });
});
