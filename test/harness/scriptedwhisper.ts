import { writeFileSync } from 'node:fs';

/** Words of a model, and their end times in seconds. */
export interface WhisperScript {
  words: string[];
  seconds: number;
}

/** Special tokens of a vocabulary of 99 languages, and the total number. */
const VOCABULARY = 51_865;
const END = 50_257;
/** Token of German. The token after the first one names the language. */
const GERMAN = 50_261;
const TIME_ZERO = 50_364;
const TICKS_PER_SECOND = 50;

const STATE = 64;
const LAYERS = 4;
const AUDIO_CONTEXT = 1500;
const TEXT_CONTEXT = 448;
const MELS = 80;
const FFT = 201;
const F32 = 0;
const F16 = 1;
/** 4 as a 16-bit float. */
const FOUR = 0x4400;
const FORCE = 1000;

/**
 * Writes a whisper.cpp model (ggml, as read by `whisper_model_load`) that outputs its script for
 * any input, in German. All weights are zero except one dimension per position, which selects the
 * token after it.
 */
export const writeScriptedWhisper = (path: string, { words, seconds }: WhisperScript): void => {
  const tokens = [TIME_ZERO, ...words.map((_, at) => at)];
  // The engine writes the first three tokens itself: start, language and task.
  const script = [GERMAN, null, ...tokens, TIME_ZERO + Math.round(seconds * TICKS_PER_SECOND), END];
  const embedding = Buffer.alloc(VOCABULARY * STATE * 2);
  const positions = new Float32Array(TEXT_CONTEXT * STATE);
  for (const [at, token] of script.entries()) {
    if (token === null) continue;
    embedding.writeUInt16LE(FOUR, (token * STATE + at) * 2);
    positions[at * STATE + at] = FORCE;
  }
  writeFileSync(
    path,
    Buffer.concat([
      Buffer.from('lmgg'),
      integers(VOCABULARY, AUDIO_CONTEXT, STATE, 1, LAYERS),
      integers(TEXT_CONTEXT, STATE, 1, LAYERS, MELS, F16),
      integers(MELS, FFT),
      Buffer.alloc(MELS * FFT * 4),
      integers(words.length + 1),
      // The engine looks up the token of a space.
      ...[...words, ' '].flatMap((word) => [integers(Buffer.byteLength(word)), Buffer.from(word)]),
      ...encoder(),
      tensor('decoder.positional_embedding', [STATE, TEXT_CONTEXT], F32, bytesOf(positions)),
      tensor('decoder.token_embedding.weight', [STATE, VOCABULARY], F16, embedding),
      ...norm('decoder.ln'),
      ...LAYER_NUMBERS.flatMap((at) => [
        ...block(`decoder.blocks.${at}`),
        ...attention(`decoder.blocks.${at}.cross_attn`),
      ]),
    ]),
  );
};

const LAYER_NUMBERS = Array.from({ length: LAYERS }, (_, at) => at);

const encoder = (): Buffer[] => [
  tensor('encoder.positional_embedding', [STATE, AUDIO_CONTEXT], F32),
  tensor('encoder.conv1.weight', [3, MELS, STATE], F16),
  tensor('encoder.conv1.bias', [1, STATE], F32),
  tensor('encoder.conv2.weight', [3, STATE, STATE], F16),
  tensor('encoder.conv2.bias', [1, STATE], F32),
  ...norm('encoder.ln_post'),
  ...LAYER_NUMBERS.flatMap((at) => block(`encoder.blocks.${at}`)),
];

const block = (name: string): Buffer[] => [
  ...norm(`${name}.mlp_ln`),
  tensor(`${name}.mlp.0.weight`, [STATE, 4 * STATE], F16),
  tensor(`${name}.mlp.0.bias`, [4 * STATE], F32),
  tensor(`${name}.mlp.2.weight`, [4 * STATE, STATE], F16),
  tensor(`${name}.mlp.2.bias`, [STATE], F32),
  ...attention(`${name}.attn`),
];

const attention = (name: string): Buffer[] => [
  ...norm(`${name}_ln`),
  ...['query', 'key', 'value', 'out'].flatMap((part) => [
    tensor(`${name}.${part}.weight`, [STATE, STATE], F16),
    ...(part === 'key' ? [] : [tensor(`${name}.${part}.bias`, [STATE], F32)]),
  ]),
];

const norm = (name: string): Buffer[] => [
  tensor(`${name}.weight`, [STATE], F32, bytesOf(new Float32Array(STATE).fill(1))),
  tensor(`${name}.bias`, [STATE], F32),
];

/** A tensor of zeros, unless bytes are given. */
const tensor = (name: string, sizes: number[], type: number, bytes?: Buffer): Buffer => {
  const count = sizes.reduce((all, each) => all * each, 1);
  return Buffer.concat([
    integers(sizes.length, name.length, type, ...sizes),
    Buffer.from(name),
    bytes ?? Buffer.alloc(count * (type === F16 ? 2 : 4)),
  ]);
};

const bytesOf = (numbers: Float32Array): Buffer => Buffer.from(numbers.buffer);

const integers = (...values: number[]): Buffer => {
  const all = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) all.writeInt32LE(value, 4 * at);
  return all;
};
