import { stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { ApiError } from '../../src/client/errors.js';
import type { TranscriptionDetail } from '../../src/client/index.js';
import { type AudioFields, uploadAudio } from '../../src/client/upload.js';
import { type Context, command, switchFlag, textFlag } from '../command.js';
import { readFiles, readPipedFile } from '../documents/files.js';
import { Exit, failed, usageFault } from '../exit.js';
import { awaitOperationEnd, noWait } from '../operations/follow.js';
import { withProgress } from '../progress.js';
import { oneLine, safe } from '../text.js';
import { type CaptionForm, formatCaptions } from './captions.js';
import {
  captionFlags,
  captionForm,
  showTranscription,
  voiceColumns,
  voiceEndpoints,
} from './transcription.js';

interface TranscribeFlags extends AudioFields {
  srt?: boolean;
  vtt?: boolean;
  beside?: boolean;
  name?: string;
  noWait?: boolean;
}

export const transcribeCommand = command({
  name: 'transcribe',
  args: '<file...>',
  summary: 'Transcribe audio files',
  calls: [voiceEndpoints.transcribe, voiceEndpoints.get, 'operations get'],
  examples: [
    'memo.ogg',
    'talk.mp3 --srt > talk.srt',
    'monday.m4a tuesday.m4a --vtt --beside',
    'memo.ogg --language en --json',
    '- --name memo.wav < memo.wav',
  ],
  flags: {
    ...captionFlags,
    beside: switchFlag('Write each transcription next to the audio file, as .txt, .srt or .vtt'),
    language: textFlag('<code>', 'Language of the speech, such as en. Detected by default'),
    model: textFlag(
      '<name>',
      'Name of a registered model or an installed Whisper model, or whisper or pocketsphinx. No other engine is tried',
    ),
    prompt: textFlag('<text>', 'Names and terms in the audio, as a hint for the model'),
    name: textFlag('<name>', 'File name for the content of stdin, if the file argument is -'),
    noWait,
  },
  notes: [
    'If a file fails, the other files are still transcribed.',
    'Exit code 1: a file was not transcribed.',
  ],
  seeAlso: 'adjutant voice list, for earlier transcriptions',
  run: async (context, { args: { file: paths }, flags }) => {
    const form = captionForm(flags, context.out.format);
    refuseMisuse(paths, flags, form);
    const areSeveral = paths.length > 1;
    const transcriptions: TranscriptionDetail[] = [];
    for (const path of paths) {
      const done = await attempted(context, path, flags);
      if (done === null) {
        context.exitCode = Exit.failed;
        continue;
      }
      transcriptions.push(done);
      if (areSeveral && !flags.beside) nameFile(context, path);
      if (!(areSeveral && context.out.format === 'json'))
        await show(context, { path, done }, flags);
    }
    if (areSeveral && context.out.format === 'json') context.out.json({ transcriptions });
  },
});

/** Names the file of the text that follows; in a pipe in the style of `head`. */
const nameFile = ({ out }: Context, path: string): void => {
  if (out.format === 'table') out.note(`${safe(basename(path))}:`);
  else if (out.format === 'tsv') out.line(`==> ${safe(path)} <==`);
};

const refuseMisuse = (
  paths: string[],
  { beside, name, noWait: isLeft }: TranscribeFlags,
  form: CaptionForm | null,
): void => {
  if (paths.includes('-') !== (name !== undefined) || (name !== undefined && paths.length > 1)) {
    throw usageFault(
      '--name and - must be used together, without other paths.',
      'From standard input: adjutant voice transcribe - --name memo.wav',
    );
  }
  if (form !== null && paths.length > 1 && !beside) {
    throw usageFault(
      'Subtitles of several files require --beside, which writes a subtitle file next to each file.',
    );
  }
  if (beside && (isLeft || name !== undefined)) {
    throw usageFault(
      '--beside cannot be combined with --no-wait or standard input. Pass a file, and remove --no-wait.',
    );
  }
  if (beside) refuseSameTarget(paths, form);
};

/** Checks before the first transcription that no two texts go to the same file. */
const refuseSameTarget = (paths: string[], form: CaptionForm | null): void => {
  const taken = new Map<string, string>();
  for (const path of paths) {
    const to = getTranscriptPath(path, form);
    const other = taken.get(to);
    if (other !== undefined) {
      throw usageFault(
        `${safe(other)} and ${safe(path)} would both be written to ${safe(to)}. Rename one of the files.`,
      );
    }
    taken.set(to, path);
  }
};

const getTranscriptPath = (path: string, form: CaptionForm | null): string =>
  `${path.replace(/\.[^./\\]+$/, '')}.${form ?? 'txt'}`;

/** Returns null after it has printed an error. Only a lost daemon or login ends the command. */
const attempted = async (
  context: Context,
  path: string,
  flags: TranscribeFlags,
): Promise<TranscriptionDetail | null> => {
  try {
    return await transcribeFile(context, path, flags);
  } catch (error) {
    if (!(error instanceof ApiError) || error.statusCode === 401) throw error;
    context.out.warn(`${safe(basename(path))}: ${oneLine(error.message)}.`);
    return null;
  }
};

/** Returns null after it has printed an error. */
export const transcribeFile = async (
  context: Context,
  path: string,
  flags: TranscribeFlags,
): Promise<TranscriptionDetail | null> => {
  const { language, model, prompt } = flags;
  const fields = {
    ...(language !== undefined && { language }),
    ...(model !== undefined && { model }),
    ...(prompt !== undefined && { prompt }),
  };
  const file = await fileAt(context, path, flags.name);
  if (file === null) return null;
  const client = await context.client();
  const doing = `Sending ${file.filename}`;
  const { stderr } = context.streams;
  const begun = await withProgress(stderr, () => uploadAudio(client, file, fields), doing);
  if (flags.noWait) return begun;
  const ended = await awaited(context, begun);
  if (ended.status !== 'completed') {
    const why = oneLine(ended.error ?? `The transcription is ${ended.status}`);
    context.out.warn(`${safe(file.filename)}: ${why}.`);
    return null;
  }
  return ended;
};

/** Returns null after it has printed an error. */
const fileAt = async ({ streams, out }: Context, path: string, name: string | undefined) => {
  if (name !== undefined) {
    const [piped] = await readFiles([await readPipedFile(streams.stdin, name)]);
    return piped ?? null;
  }
  const found = await stat(path).catch(() => null);
  const [file] = found?.isFile() ? await readFiles([{ path, bytes: found.size }]) : [];
  if (!file) out.warn(`${safe(path)} is not a file or cannot be read.`);
  return file ?? null;
};

const awaited = async (
  context: Context,
  begun: TranscriptionDetail,
): Promise<TranscriptionDetail> => {
  const client = await context.listener();
  const isOpen = begun.status === 'queued' || begun.status === 'running';
  if (!isOpen) return begun;
  await awaitOperationEnd(context, await client.operations.get({ id: begun.operationId }), {
    doing: 'Transcribing',
  });
  return client.voice.get({ id: begun.id });
};

const show = async (
  context: Context,
  { path, done }: { path: string; done: TranscriptionDetail },
  flags: TranscribeFlags,
): Promise<void> => {
  const { out } = context;
  const form = captionForm(flags, context.out.format);
  if (flags.noWait) {
    const look = `Transcribing. Show it: adjutant voice get ${done.id.slice(-6)}`;
    out.done(look, { ...done, excerpt: null }, voiceColumns);
  } else if (flags.beside) out.note(`Saved: ${safe(await writeBeside(path, done, form))}`);
  else showTranscription(context, done, form);
};

/** Never overwrites a file. */
const writeBeside = async (
  path: string,
  done: TranscriptionDetail,
  form: CaptionForm | null,
): Promise<string> => {
  const to = getTranscriptPath(path, form);
  const text = form === null ? `${done.text ?? ''}\n` : formatCaptions(form, done);
  await writeFile(to, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw failed(
      `Cannot write ${safe(to)}: ${error.code}. Existing files are not overwritten.`,
      `Show the text: adjutant voice get ${done.id.slice(-6)}`,
    );
  });
  return to;
};
