import type { DocumentState, IntakeResult } from '../documents/module.js';
import type { SpokenWords } from '../voice/module.js';
import type { FetchedFile } from './fetch.js';

interface DocumentOutcome {
  file: IntakeResult;
  state: DocumentState | null;
}

/** `spoken` is null if its transcription is gone. */
interface SpokenOutcome {
  file: Exclude<FetchedFile, IntakeResult>;
  spoken: SpokenWords | null;
}

export type FileOutcome = DocumentOutcome | SpokenOutcome;

const MAX_NAME_LENGTH = 255;
const MAX_REASON_LENGTH = 500;
const MAX_SHOWN = 1500;
/** Characters that break a line or hide text. */
const BREAKS = /[\p{C}\p{Zl}\p{Zp}]/gu;

export const transcriptsIn = (outcomes: FileOutcome[]): string[] =>
  outcomes.flatMap((outcome) => {
    const text = 'spoken' in outcome ? outcome.spoken?.text : null;
    return text ? [text] : [];
  });

export const withDocuments = (text: string, outcomes: FileOutcome[]): string => {
  const lines = outcomes.flatMap((outcome) =>
    'spoken' in outcome ? [] : [formatAttachedFile(outcome.file)],
  );
  return lines.length === 0 ? text : [text, '', ...lines].join('\n');
};

const formatAttachedFile = (file: IntakeResult): string =>
  'id' in file
    ? `[Attached file ${quoted(file.name)}, stored as ${file.id}]`
    : `[Attached file ${quoted(file.name)}, not stored]`;

export const formatFileReply = (
  outcomes: FileOutcome[],
  left: number,
  refusal: string | null,
): string => {
  const more =
    left > 0 ? [`${left} more files were not stored. Send at most 10 files at a time.`] : [];
  const sentences = outcomes.map((one) =>
    'spoken' in one ? formatTranscript(one) : formatDocument(one),
  );
  return [...sentences, ...more, ...(refusal === null ? [] : [refusal])].join('\n');
};

const formatTranscript = ({ file, spoken }: SpokenOutcome): string => {
  const name = quoted(file.name);
  if (!spoken) return `The transcription of ${name} was deleted.`;
  const { status, text, reason, error } = spoken;
  if (status === 'queued' || status === 'running') {
    return `${name} is still being transcribed, so it was not passed to the agents. Send fewer files at a time.`;
  }
  if (text) {
    const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)} …` : text;
    return `Transcript: “${shown.replace(BREAKS, ' ')}”`;
  }
  return `${name} could not be transcribed: ${oneLine(EMPTY[reason ?? ''] ?? error ?? status)}.`;
};

const EMPTY: Record<string, string> = {
  silence: 'it contains only silence',
  no_speech: 'it contains no speech',
  not_understood: 'its speech was not understood',
};

const formatDocument = ({ file, state }: DocumentOutcome): string => {
  const name = quoted(file.name);
  if ('reason' in file) return `${name} was not stored: it ${oneLine(file.reason)}.`;
  if (!state) return `${name} was deleted.`;
  const saved = `${name} ${file.isKnown ? 'was already stored' : 'is stored'}`;
  return `${saved}${formatIndexing(state)} Document: ${file.id}.`;
};

const formatIndexing = ({ status, pages, error }: DocumentState): string => {
  if (status === 'completed')
    return pages === 1 ? ' and indexed: 1 page.' : ` and indexed: ${pages} pages.`;
  if (status === 'queued' || status === 'processing') return ' and is still being processed.';
  return `, but its text could not be extracted: ${oneLine(error ?? status)}.`;
};

const quoted = (name: string): string =>
  `"${name.slice(0, MAX_NAME_LENGTH).replace(BREAKS, '').replaceAll('"', "'")}"`;

const oneLine = (text: string): string =>
  text
    .replace(BREAKS, ' ')
    .slice(0, MAX_REASON_LENGTH)
    .replace(/[.\s]+$/, '');
