import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makePrivateFolder } from '../../kernel/private.js';
import { type Confinement, ConfinementFailed } from '../../providers/confine/confinement.js';
import { EngineFailed, type SpeechEngine, type SpeechSegment, type SpokenText } from './engine.js';

/** Version 0.8, as in Debian. */
export const POCKETSPHINX_PROGRAM = 'pocketsphinx_continuous';
/** Language of its packaged model. */
export const POCKETSPHINX_LANGUAGE = 'en';

interface PocketsphinxOptions {
  program: string;
  confinement: Confinement;
  folder: string;
  inTurn<T>(userId: string, work: () => Promise<T>): Promise<T>;
}

const MAX_S = 30;
/**
 * A piece takes about as long as its audio, and many times longer on a busy machine, since the
 * program has a low priority.
 */
const LIMIT_MINUTES = 15;
const OUTPUT_BYTES = 1024 * 1024;
const FILE = 'piece.wav';

/** One process per piece. English only. */
export const pocketsphinxEngine = (options: PocketsphinxOptions): SpeechEngine => ({
  name: 'pocketsphinx',
  engine: 'pocketsphinx',
  model: 'en-us',
  longestSeconds: MAX_S,
  transcribe: ({ wav }, { userId, signal }) =>
    options.inTurn(userId, async () => {
      signal.throwIfAborted();
      makePrivateFolder(options.folder);
      const own = await mkdtemp(join(options.folder, 'speech-'));
      try {
        await writeFile(join(own, FILE), wav, { mode: 0o600 });
        return parsePocketsphinxOutput(await outputIn(options, own, signal));
      } finally {
        await rm(own, { recursive: true, force: true });
      }
    }),
});

const outputIn = async (
  { program, confinement }: PocketsphinxOptions,
  folder: string,
  signal: AbortSignal,
): Promise<string> => {
  const options = ['-infile', FILE, '-time', 'yes', '-logfn', '/dev/null'];
  try {
    const { exitCode, stdout, timedOut, stderr } = await confinement.run({
      argv: ['nice', '-n', '10', program, ...options],
      folder,
      network: false,
      readable: [dirname(program)],
      timeoutMs: LIMIT_MINUTES * 60_000,
      maxOutputBytes: OUTPUT_BYTES,
      signal,
    });
    if (timedOut)
      throw new EngineFailed(
        `it took more than ${LIMIT_MINUTES} minutes. The machine may be too busy`,
      );
    if (exitCode === 0) return stdout;
    const remark = stderr.trim().split('\n').at(-1)?.slice(0, 200) || 'no error message';
    throw new EngineFailed(`PocketSphinx exited with code ${exitCode}: ${remark}`);
  } catch (error) {
    if (error instanceof ConfinementFailed) throw new EngineFailed(error.message);
    throw error;
  }
};

/** Word, times and probability: `hello(2) 0.160 0.590 1.000000`. */
const WORD = /^(\S+) (\d+\.\d+) (\d+\.\d+) \d+\.\d+$/;
/** Silence and noise. */
const FILLER = /^(<|\[|\+\+)/;

/** An utterance line, followed by the times of its words. */
const parsePocketsphinxOutput = (output: string): SpokenText => {
  const segments: SpeechSegment[] = [];
  for (const line of output.split('\n')) {
    const [, word = '', start, end] = WORD.exec(line) ?? [];
    const last = segments.at(-1);
    if (start === undefined) {
      if (line.trim() !== '') segments.push({ start: Number.NaN, end: 0, text: line.trim() });
    } else if (last && !FILLER.test(word)) {
      if (Number.isNaN(last.start)) last.start = Number(start);
      last.end = Number(end);
    }
  }
  const spoken = segments.filter(({ start }) => !Number.isNaN(start));
  return {
    text: spoken.map(({ text }) => text).join(' '),
    segments: spoken,
    language: POCKETSPHINX_LANGUAGE,
    costUsd: null,
  };
};
