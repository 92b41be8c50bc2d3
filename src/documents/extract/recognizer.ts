import { mkdtemp, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Worker } from 'tesseract.js';
import { systemClock } from '../../kernel/clock.js';
import { errorReason } from '../../kernel/failure.js';
import type { ExtractJob, RecognizedText } from './job.js';
import { languageFolder } from './languages.js';

export interface Recognizer {
  recognize(picture: Buffer): Promise<{ result: RecognizedText | null; failure: string | null }>;
}

const require = createRequire(import.meta.url);
/** Below this confidence, the page may be rotated. */
const SUFFICIENT_CONFIDENCE = 70;
/** A rotated page must be recognized with this much more confidence. */
const MIN_IMPROVEMENT = 10;
/** A page with less text counts as empty. */
const MIN_CHARS = 8;
const QUARTER_TURNS = [2, 1, 3];

/**
 * Uses tesseract.js. Its worker starts with the first image. All data comes from installed
 * packages, and nothing is downloaded.
 */
export const openRecognizer = ({ languages, addedLanguages, limits }: ExtractJob): Recognizer => {
  let worker: Promise<Worker> | null = null;

  const ask = async (picture: Buffer): Promise<RecognizedText | null> => {
    worker ??= startWorker(languages, addedLanguages);
    const current = worker;
    const recognition = current.then(async (at) => {
      const { data } = await at.recognize(picture);
      return { text: withoutGaps(data.text), confidence: data.confidence };
    });
    recognition.catch(() => undefined);
    const answer = await withinMs(recognition, limits.ocrMs);
    if (answer !== null) return answer;
    // A terminated worker never settles its pending calls.
    worker = null;
    current.then((at) => at.terminate()).catch(() => undefined);
    return null;
  };

  return {
    recognize: async (picture) => {
      try {
        const upright = await ask(picture);
        if (upright === null) return { result: null, failure: TIMEOUT_NOTE };
        if (upright.confidence >= SUFFICIENT_CONFIDENCE || upright.text.trim().length < MIN_CHARS)
          return { result: upright, failure: null };
        return { result: await bestTurn(picture, upright, ask), failure: null };
      } catch (error) {
        worker = null;
        const failure = `Text recognition of an image failed: ${errorReason(error)}.`;
        return { result: null, failure };
      }
    },
  };
};

const UNSPACED =
  '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}ー\\u3001-\\u303f\\uff01-\\uff65]';
const GAP = new RegExp(`(?<=${UNSPACED}) +(?=${UNSPACED})`, 'gu');

/** Removes spaces that Tesseract inserts in scripts without spaces. */
const withoutGaps = (text: string): string => text.replace(GAP, '');

const TIMEOUT_NOTE = 'Text recognition of a page timed out. The page has no text.';

const bestTurn = async (
  picture: Buffer,
  upright: RecognizedText,
  ask: (picture: Buffer) => Promise<RecognizedText | null>,
): Promise<RecognizedText> => {
  let best = upright;
  for (const turns of QUARTER_TURNS) {
    const answer = await ask(await turned(picture, turns));
    if (answer && answer.confidence > best.confidence + MIN_IMPROVEMENT) best = answer;
    if (best.confidence >= SUFFICIENT_CONFIDENCE) break;
  }
  return best;
};

const turned = async (picture: Buffer, quarterTurns: number): Promise<Buffer> => {
  const { createCanvas, loadImage } = await import('@napi-rs/canvas');
  const image = await loadImage(picture);
  const isOnSide = quarterTurns % 2 === 1;
  const width = isOnSide ? image.height : image.width;
  const height = isOnSide ? image.width : image.height;
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  context.translate(width / 2, height / 2);
  context.rotate((quarterTurns * Math.PI) / 2);
  context.drawImage(image, -image.width / 2, -image.height / 2);
  return canvas.encode('png');
};

const startWorker = async (languages: string[], added: string | undefined): Promise<Worker> => {
  const { createWorker, OEM } = await import('tesseract.js');
  // tesseract.js reads the data of all languages from one folder.
  const folder = await mkdtemp(join(tmpdir(), 'languages-'));
  for (const code of languages) {
    await symlink(dataFile(code, added), join(folder, `${code}.traineddata.gz`));
  }
  return createWorker(languages, OEM.LSTM_ONLY, {
    langPath: folder,
    gzip: true,
    cacheMethod: 'none',
    corePath: dirname(require.resolve('tesseract.js-core')),
    // Without a handler, an error in the worker thread would end the process.
    errorHandler: () => undefined,
  });
};

const dataFile = (code: string, added: string | undefined): string =>
  join(languageFolder(code, added), '4.0.0_best_int', `${code}.traineddata.gz`);

/** Resolves to null after a timeout. */
const withinMs = async <T>(recognition: Promise<T>, ms: number): Promise<T | null> => {
  let cancel = (): void => {};
  const late = new Promise<null>((resolve) => {
    cancel = systemClock.after(ms, () => resolve(null));
  });
  try {
    return await Promise.race([recognition, late]);
  } finally {
    cancel();
  }
};
