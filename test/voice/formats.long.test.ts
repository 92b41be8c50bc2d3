import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { placeSpeechEngine } from '../harness/speech.js';
import { convert, speak, startVoice, unlessSpeech, type VoiceStage, withSpeech } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SENTENCE = 'hello world';

/** The names of files, the media types that are told, and how ffmpeg makes them. */
const OWN: [name: string, mediaType: string, args: string[]][] = [
  ['pcm8.wav', 'audio/wav', ['-c:a', 'pcm_u8']],
  ['pcm24.wav', 'audio/wav', ['-c:a', 'pcm_s24le', '-ar', '48000', '-ac', '2']],
  ['float.wav', 'audio/wav', ['-c:a', 'pcm_f32le', '-ar', '44100']],
  ['mulaw.wav', 'audio/wav', ['-c:a', 'pcm_mulaw']],
  ['alaw.wav', 'audio/wav', ['-c:a', 'pcm_alaw']],
  ['stereo.mp3', 'audio/mpeg', ['-ar', '44100', '-ac', '2', '-b:a', '96k']],
  ['low.mp3', 'audio/mpeg', ['-ar', '16000', '-b:a', '32k']],
  ['voice.ogg', 'audio/ogg; codecs=opus', ['-c:a', 'libopus', '-b:a', '24k']],
  ['voice.opus', 'audio/ogg; codecs=opus', ['-ac', '2']],
  ['music.ogg', 'audio/ogg; codecs=vorbis', ['-c:a', 'libvorbis', '-ar', '44100', '-ac', '2']],
  ['loss.flac', 'audio/flac', ['-ar', '44100', '-ac', '2']],
  ['loss.ogg', 'audio/ogg; codecs=flac', ['-c:a', 'flac']],
];
const BY_FFMPEG: typeof OWN = [
  ['page.webm', 'video/webm', ['-c:a', 'libopus']],
  ['phone.m4a', 'audio/x-m4a', ['-c:a', 'aac', '-b:a', '64k']],
  ['film.mp4', 'video/mp4', ['-c:a', 'aac', '-b:a', '64k']],
  ['raw.aac', 'audio/aac', ['-c:a', 'aac', '-b:a', '64k']],
  ['apple.caf', 'audio/x-caf', []],
  ['windows.wma', 'audio/x-ms-asf', []],
  ['apple.aiff', 'audio/aiff', []],
  ['sun.au', 'audio/basic', []],
  ['film.mkv', 'video/matroska', ['-c:a', 'libopus']],
  // At the rate of the speech its four bits a sample are heard as other words.
  ['adpcm.wav', 'audio/wav', ['-ar', '44100', '-c:a', 'adpcm_ms']],
];

describe(`voice, kinds of files${unlessSpeech}`, { ...withSpeech }, () => {
  let stage: VoiceStage;
  let spoken: Buffer;
  before(async () => {
    if (withSpeech.skip) return;
    stage = await startVoice();
    spoken = await speak(SENTENCE);
  });
  after(() => stage?.stop());

  for (const [name, mediaType, args] of [...OWN, ...BY_FFMPEG]) {
    it(`transcribes ${name}`, async () => {
      const content = await convert(spoken, name, args);
      // The name tells nothing.
      const { body } = await stage.send({ name: 'audio.bin', content });
      expect(body).to.include({ status: 'completed', mediaType, text: SENTENCE });
      const seconds: number = body.durationSeconds;
      expect(seconds).to.be.between(1.15, 1.5);
    });
  }

  it('needs no ffmpeg for what it decodes by itself, and says what needs it', async () => {
    await stage.restart({ voicePath: [placeSpeechEngine()] });
    for (const [name, mediaType, args] of OWN.filter(([each]) => /opus|stereo/.test(each))) {
      const content = await convert(spoken, name, args);
      const { body } = await stage.send({ name, content });
      expect(body).to.include({ status: 'completed', mediaType });
    }
    const adpcm = await convert(spoken, 'adpcm.wav', ['-c:a', 'adpcm_ms']);
    const { body } = await stage.send({ name: 'adpcm.wav', content: adpcm });
    expect(body).to.include({ status: 'failed', code: 'unsupported' });
    expect(body.error).to.contain('requires ffmpeg');
  });
});
