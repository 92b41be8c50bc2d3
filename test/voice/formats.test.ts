import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WorkerFailed, WorkerSilent } from '../../src/operations/module.js';
import { readPacked } from '../../src/voice/decode/codecs.js';
import { SAMPLE_RATE, type SampleBlock } from '../../src/voice/decode/job.js';
import { detectAudioKind } from '../../src/voice/decode/kinds.js';
import { mono16k } from '../../src/voice/decode/resample.js';
import { readWav } from '../../src/voice/decode/wav.js';
import { decodeInProcess } from '../../src/voice/decoder.js';
import { addEngineText } from '../../src/voice/engines/choice.js';
import { placeSpeechEngine } from '../harness/speech.js';
import { openForSuite } from '../harness/suite.js';
import { speechPath, speechSample } from './samples.js';
import { startVoice, unlessSpeech, withSpeech } from './stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('a recording that fails', () => {
  const kind = { mediaType: 'audio/wav', decoder: null, format: 'wav' };
  const decode = (failure: Error) =>
    decodeInProcess(
      { run: () => Promise.reject(failure) },
      {
        userId: 'ada',
        job: { path: '/a', kind, ffmpeg: null, mostSeconds: 60 },
        signal: new AbortController().signal,
        decoded: () => undefined,
        keep: async () => undefined,
      },
    );

  it('is not called large because the machine is busy', async () => {
    const slow = await decode(new WorkerSilent()).catch((error) => error);
    expect(slow.code).to.equal('too_slow');
    expect(slow.message).to.equal(
      'Decoding made no progress for 60 seconds. The machine may be too busy. Upload the recording again later',
    );
    const large = await decode(new WorkerFailed('out of memory')).catch((error) => error);
    expect(large.code).to.equal('too_large');
  });

  it('names the engines to add, without those that ran', () => {
    const ran = (engine: string) => ({ engine, because: 'no' });
    const whisper = 'un adjutant capabilities install whisper:base';
    const model = 'ssign the topic transcription to a model that supports it';
    const sphinx = 'install pocketsphinx and pocketsphinx-en-us (English only)';
    expect(addEngineText()).to.equal(`R${whisper}, a${model}, or ${sphinx}`);
    expect(addEngineText([ran('pocketsphinx')])).to.equal(`R${whisper} or a${model}`);
    expect(addEngineText([ran('pocketsphinx'), ran('whisper')])).to.equal(`A${model}`);
  });
});

const HEADER_BYTES = 44;
const RATE = 8000;
const PCM = 1;
const FLOAT = 3;

/** A WAV file of the 16-bit sample with another width or channel count. */
const wavOf = (
  encoding: number,
  bits: number,
  write: (to: Buffer, sample: number, at: number) => unknown,
  channels = 1,
): Buffer => {
  const from = speechSample('pcm16.wav').subarray(HEADER_BYTES);
  const count = Math.floor(from.length / 2);
  const width = bits / 8;
  const samples = Buffer.alloc(count * channels * width);
  for (let n = 0; n < count * channels; n++) {
    write(samples, from.readInt16LE(2 * Math.floor(n / channels)) / 2 ** 15, n * width);
  }
  const head = Buffer.alloc(HEADER_BYTES);
  head.write('RIFF');
  head.writeUInt32LE(samples.length + HEADER_BYTES - 8, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(encoding, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE * channels * width, 28);
  head.writeUInt16LE(channels * width, 32);
  head.writeUInt16LE(bits, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
};

const pcm8 = (to: Buffer, sample: number, at: number) => to.writeUInt8(128 + sample * 127, at);
const pcm16 = (to: Buffer, sample: number, at: number) => to.writeInt16LE(sample * 32_767, at);
const pcm24 = (to: Buffer, sample: number, at: number) => to.writeIntLE(sample * 8_388_607, at, 3);
const pcm32 = (to: Buffer, sample: number, at: number) => to.writeInt32LE(sample * 2 ** 31, at);
const float32 = (to: Buffer, sample: number, at: number) => to.writeFloatLE(sample, at);
const float64 = (to: Buffer, sample: number, at: number) => to.writeDoubleLE(sample, at);

const WAV: [what: string, content: () => Buffer][] = [
  ['8 bits', () => wavOf(PCM, 8, pcm8)],
  ['two channels', () => wavOf(PCM, 16, pcm16, 2)],
  ['24 bits', () => wavOf(PCM, 24, pcm24)],
  ['32 bits', () => wavOf(PCM, 32, pcm32)],
  ['32-bit floats', () => wavOf(FLOAT, 32, float32)],
  ['64-bit floats', () => wavOf(FLOAT, 64, float64)],
  ['µ-law', () => speechSample('mulaw.wav')],
  ['A-law', () => speechSample('alaw.wav')],
];
const PACKED: [name: string, mediaType: string][] = [
  ['speech.mp3', 'audio/mpeg'],
  ['opus.ogg', 'audio/ogg; codecs=opus'],
  ['vorbis.ogg', 'audio/ogg; codecs=vorbis'],
  ['speech.flac', 'audio/flac'],
  ['flac.ogg', 'audio/ogg; codecs=flac'],
];
const BY_FFMPEG: [name: string, mediaType: string][] = [
  ['clip.webm', 'video/webm'],
  ['clip.m4a', 'audio/x-m4a'],
];

/** Loudness of each tenth of a second. */
const envelope = async (
  blocks: AsyncIterable<SampleBlock> | Iterable<SampleBlock>,
): Promise<number[]> => {
  const samples: number[] = [];
  for await (const block of mono16k(blocks)) for (const sample of block) samples.push(sample);
  const step = SAMPLE_RATE / 10;
  return Array.from(
    { length: Math.floor(samples.length / step) },
    (_, at) => Math.hypot(...samples.slice(at * step, (at + 1) * step)) / Math.sqrt(step),
  );
};

/** The reference is the sample with 16 bits. */
const expectSpeech = async (blocks: Parameters<typeof envelope>[0]): Promise<void> => {
  const heard = await envelope(blocks);
  const reference = await envelope(readWav(speechSample('pcm16.wav')) ?? []);
  expect(Math.abs(heard.length - reference.length)).to.be.most(1);
  expect(Math.max(...reference)).to.be.above(0.1);
  for (const [at, loudness] of reference.entries()) {
    expect(Math.abs((heard[at] ?? 0) - loudness), `${heard} for ${reference}`).to.be.below(0.05);
  }
};

describe('the decoder', () => {
  for (const [what, content] of WAV) {
    it(`decodes WAV with ${what}`, async () => {
      const file = content();
      expect(await detectAudioKind(file)).to.include({ mediaType: 'audio/wav', decoder: 'wav' });
      await expectSpeech(readWav(file) ?? []);
    });
  }

  for (const [name, mediaType] of PACKED) {
    it(`decodes ${name}`, async () => {
      const kind = await detectAudioKind(speechSample(name));
      expect(kind?.mediaType).to.equal(mediaType);
      const decoder = kind?.decoder;
      if (!decoder || decoder === 'wav') throw new Error(`No decoder for ${name}`);
      await expectSpeech(readPacked(decoder, speechPath(name)));
    });
  }
});

const silence = (): Buffer =>
  Buffer.concat([speechSample('pcm16.wav').subarray(0, HEADER_BYTES), Buffer.alloc(RATE)]);
/** A chord of three seconds. */
const music = (): Buffer => {
  const samples = Buffer.alloc(2 * 3 * RATE);
  for (let n = 0; n < 3 * RATE; n++) {
    const tones = [262, 330, 392].map((hertz) => Math.sin((2 * Math.PI * hertz * n) / RATE));
    const sum = tones.reduce((all, tone) => all + tone);
    samples.writeInt16LE(Math.round(6000 * sum), 2 * n);
  }
  const head = Buffer.from(speechSample('pcm16.wav').subarray(0, HEADER_BYTES));
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
};
const cut = (name: string, bytes: number) => () => speechSample(name).subarray(0, bytes);

/** Files without words: content, reply status, code and part of the reason. */
const WORDLESS: [string, () => Buffer, number, string | null, string][] = [
  ['a text named .mp3', () => Buffer.from('No song.\n'.repeat(99)), 415, null, 'not a supported'],
  ['an empty file', () => Buffer.alloc(0), 400, null, 'is empty'],
  ['a WAV header alone', cut('pcm16.wav', 40), 200, 'damaged', 'WAV file is damaged'],
  ['an Ogg file cut in its header', cut('opus.ogg', 60), 200, 'damaged', 'opus file is damaged'],
  ['a FLAC file cut in its header', cut('speech.flac', 42), 200, 'damaged', 'flac file is damaged'],
  ['an MP3 file without frames', cut('speech.mp3', 100), 200, 'damaged', 'mp3 file is damaged'],
  ['silence', silence, 200, null, 'silence'],
  ['music', music, 200, null, 'no_speech'],
];

const ffmpeg = existsSync('/usr/bin/ffmpeg');
const unlessFfmpeg = ffmpeg ? '' : ' (skipped: ffmpeg is not installed)';

describe('a recording', () => {
  const stage = openForSuite(lab, () =>
    startVoice({ config: { voicePath: [placeSpeechEngine()] } }),
  );

  const transcribed = async (content: Buffer) => {
    // The format is detected from the content.
    const { status, body } = await stage.send({ name: 'song.mp3', content });
    expect(await readdir(join(stage.home, 'voice'))).to.equal([]);
    return { ...body, httpStatus: status };
  };

  it('is transcribed without ffmpeg', async () => {
    const body = await transcribed(speechSample('speech.mp3'));
    expect(body, body.error ?? body.message).to.include({
      ...{ status: 'completed', mediaType: 'audio/mpeg', text: 'hello world' },
      ...{ reason: null, code: null, engine: 'pocketsphinx' },
    });
    const seconds: number = body.durationSeconds;
    expect(seconds).to.be.between(1.15, 1.4);
  });

  for (const [what, content, httpStatus, code, reason] of WORDLESS) {
    it(`is answered with the reason if it has no words: ${what}`, async () => {
      const body = await transcribed(content());
      expect(body.httpStatus, JSON.stringify(body)).to.equal(httpStatus);
      if (httpStatus !== 200) return expect(body.message).to.contain(reason);
      expect([body.text ?? '', body.code]).to.equal(['', code]);
      expect(code === null ? body.reason : body.error).to.contain(reason);
    });
  }

  it(`needs ffmpeg in other formats, and is transcribed with it${unlessFfmpeg}`, {
    skip: !ffmpeg,
  }, async () => {
    for (const [name, mediaType] of BY_FFMPEG) {
      const { httpStatus, message } = await transcribed(speechSample(name));
      expect(httpStatus).to.equal(415);
      expect(`${message}`).to.startWith(
        `Invalid request: audio is ${mediaType}, which requires ffmpeg on the machine of the daemon. Install`,
      );
    }
    await stage.restart({ voicePath: [placeSpeechEngine(), '/usr/bin'] });
    for (const [name, mediaType] of BY_FFMPEG) {
      const body = await transcribed(speechSample(name));
      expect(body).to.include({ status: 'completed', mediaType, text: 'hello world' });
    }
  });

  it(`of synthesized speech is recognized word for word${unlessSpeech}`, withSpeech, async () => {
    await stage.restart({ voicePath: ['/usr/bin'] });
    const { text, segments } = await transcribed(speechSample('opus.ogg'));
    expect([text, segments.length]).to.equal(['hello world', 1]);
  });
});
