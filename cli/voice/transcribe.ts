import { stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { ApiError } from '../../src/client/errors.js';
import type { TranscriptionDetail } from '../../src/client/index.js';
import { type AudioFields, uploadAudio } from '../../src/client/upload.js';
import { type Context, command, on, textFlag } from '../command.js';
import { filePiped, readFiles } from '../documents/files.js';
import { Exit, failed, usageFault } from '../exit.js';
import { noWait, untilOver } from '../operations/follow.js';
import { withProgress } from '../progress.js';
import { oneLine, safe } from '../text.js';
import { type CaptionForm, captionsOf } from './captions.js';
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

/** The command that transcribes files, one after the other. */
export const transcribeCommand = command({
  name: 'transcribe',
  args: '<file...>',
  summary: 'Transcribe files of audio into text',
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
    beside: on('Write each text beside its file, as .txt, .srt or .vtt'),
    language: textFlag(
      '<code>',
      'The language that is spoken, as en; told by the engine unless given',
    ),
    model: textFlag('<name>', 'A registered model, whisper or pocketsphinx, and no other'),
    prompt: textFlag('<text>', 'Names and words that are spoken, for models'),
    name: textFlag('<name>', 'The file name of what - reads from standard input'),
    noWait,
  },
  notes: [
    'Of several files each is transcribed, whatever becomes of the others.',
    'Exit 1 where a file was not transcribed.',
  ],
  seeAlso: 'adjutant voice list, for those of before',
  run: async (context, { args: { file: paths }, flags }) => {
    const form = captionForm(flags);
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

/** Says which file the text is of that follows. In a pipe it says so as `head` does. */
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
      '--name and - belong together, and stand alone.',
      'From standard input: adjutant voice transcribe - --name memo.wav',
    );
  }
  if (form !== null && paths.length > 1 && !beside) {
    throw usageFault('Subtitles of several files need --beside, which writes one beside each.');
  }
  if (beside && (isLeft || name !== undefined)) {
    throw usageFault('--beside needs a file, and waits for its text.');
  }
  if (beside) refuseSameTarget(paths, form);
};

/** Refuses files whose texts would be written into the same file, before one is transcribed. */
const refuseSameTarget = (paths: string[], form: CaptionForm | null): void => {
  const taken = new Map<string, string>();
  for (const path of paths) {
    const to = besideOf(path, form);
    const other = taken.get(to);
    if (other !== undefined) {
      throw usageFault(`${safe(other)} and ${safe(path)} would both be written as ${safe(to)}.`);
    }
    taken.set(to, path);
  }
};

/** Returns the path of the text beside a file. */
const besideOf = (path: string, form: CaptionForm | null): string =>
  `${path.replace(/\.[^./\\]+$/, '')}.${form ?? 'txt'}`;

/** Transcribes one file; null if that failed, which is said. Only a lost daemon ends all. */
const attempted = async (
  context: Context,
  path: string,
  flags: TranscribeFlags,
): Promise<TranscriptionDetail | null> => {
  try {
    return await transcribed(context, path, flags);
  } catch (error) {
    if (!(error instanceof ApiError) || error.statusCode === 401) throw error;
    context.out.warn(`${safe(basename(path))}: ${oneLine(error.message)}.`);
    return null;
  }
};

/** Transcribes one file; null if that failed, which is said. */
export const transcribed = async (
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
    const why = oneLine(ended.error ?? `It is ${ended.status}`);
    context.out.warn(`${safe(file.filename)}: ${why}.`);
    return null;
  }
  return ended;
};

/** Reads a file; null if there is none, which is said. */
const fileAt = async ({ streams, out }: Context, path: string, name: string | undefined) => {
  if (name !== undefined) {
    const [piped] = await readFiles([await filePiped(streams.stdin, name)]);
    return piped ?? null;
  }
  const found = await stat(path).catch(() => null);
  const [file] = found?.isFile() ? await readFiles([{ path, bytes: found.size }]) : [];
  if (!file) out.warn(`${safe(path)} is no file, or cannot be read.`);
  return file ?? null;
};

/** Waits for the end of a transcription, with a line on the terminal that says how far it is. */
const awaited = async (
  context: Context,
  begun: TranscriptionDetail,
): Promise<TranscriptionDetail> => {
  const client = await context.listener();
  const isOpen = begun.status === 'queued' || begun.status === 'running';
  if (!isOpen) return begun;
  await untilOver(context, await client.operations.get({ id: begun.operationId }), {
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
  const form = captionForm(flags);
  if (flags.noWait) {
    const look = `It is transcribed. Look: adjutant voice get ${done.id.slice(-6)}`;
    out.done(look, { ...done, excerpt: null }, voiceColumns);
  } else if (flags.beside) out.note(`Written: ${safe(await writeBeside(path, done, form))}`);
  else showTranscription(context, done, form);
};

/** Writes the text, or subtitles, into a file beside the audio; one that is there stays. */
const writeBeside = async (
  path: string,
  done: TranscriptionDetail,
  form: CaptionForm | null,
): Promise<string> => {
  const to = besideOf(path, form);
  const text = form === null ? `${done.text ?? ''}\n` : captionsOf(form, done);
  await writeFile(to, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw failed(`${safe(to)} cannot be written: ${error.code}.`);
  });
  return to;
};
