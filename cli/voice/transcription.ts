import {
  contracts,
  type TranscriptionDetail,
  type TranscriptionView,
} from '../../src/client/index.js';
import { buildColumns, reasonColumn } from '../columns.js';
import { type Context, switchFlag } from '../command.js';
import { crud } from '../crud.js';
import { usageFault } from '../exit.js';
import type { Format } from '../output.js';
import { cutToWidth, safe, wrapText } from '../text.js';
import { type CaptionForm, formatCaptions } from './captions.js';

export const voiceEndpoints = await contracts.voice();

export const voiceColumns = buildColumns<TranscriptionView>(
  ['id:data', 'short=id:tail', 'status:state', 'engine'],
  reasonColumn(),
  ['text=excerpt'],
  ['filename', 'seconds=durationSeconds:data', 'model', 'language', 'error:data'],
  ['created=createdAt:ago'],
);

export const voiceCrud = crud({
  noun: 'transcription',
  rows: 'transcriptions',
  path: 'voice',
  endpoints: { list: voiceEndpoints.list, delete: voiceEndpoints.delete },
  columns: voiceColumns,
  named: ({ id, filename, excerpt }) => ({
    id,
    name: cutToWidth(filename ?? (excerpt || 'a transcription'), 60),
  }),
});

export const captionFlags = {
  srt: switchFlag('Print subtitles in SubRip format'),
  vtt: switchFlag('Print subtitles in WebVTT format'),
};

export const captionForm = (
  { srt, vtt, beside }: { srt?: boolean; vtt?: boolean; beside?: boolean },
  format: Format,
): CaptionForm | null => {
  if (srt && vtt) throw usageFault('--srt and --vtt cannot be combined. Remove one of them.');
  const form = srt ? 'srt' : vtt ? 'vtt' : null;
  const isOther = format === 'json' || format === 'id';
  if (form === null || beside || !isOther) return form;
  throw usageFault(
    `--${form} cannot be combined with ${format === 'json' ? '--json' : '--output id'}. Remove one of them.`,
  );
};

const EMPTY: Record<string, string> = {
  silence: 'The recording is silent.',
  no_speech: 'The recording contains no speech, only music or noise.',
  not_understood: 'The recording contains speech, but no word was recognized.',
};

export const showTranscription = (
  { out }: Context,
  transcription: TranscriptionDetail,
  form: CaptionForm | null,
): void => {
  const { text, reason } = transcription;
  if (out.format === 'json') out.json(transcription);
  else if (out.format === 'id') out.line(transcription.id);
  else if (form !== null) printLines(out, formatCaptions(form, transcription).split('\n'));
  else if (reason !== null) out.note(EMPTY[reason] ?? reason);
  else if (out.format !== 'table') printLines(out, [text ?? '']);
  else showText(out, transcription);
};

const showText = (out: Context['out'], transcription: TranscriptionDetail): void => {
  for (const line of wrapText(safe(transcription.text ?? ''), out.width)) out.line(line);
  out.note(formatTranscriptionSource(transcription));
};

const printLines = (out: Context['out'], lines: string[]): void => {
  for (const line of lines) out.line(out.isTerminal ? safe(line) : line);
};

const formatTranscriptionSource = ({ engine, model, passedOver }: TranscriptionDetail): string => {
  const by = safe(engine === 'model' ? (model ?? '') : `${engine} (${model})`);
  const others = passedOver.map((each) => `${each.engine} was not used: ${each.because}`);
  return [`Transcribed by ${by}.`, ...others.map(safe)].join(' ');
};
