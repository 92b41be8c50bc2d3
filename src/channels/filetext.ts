import type { DocumentOfFile, DocumentState } from '../documents/module.js';
import type { SpokenWords } from '../voice/module.js';
import type { FetchedFile } from './fetch.js';

/** A file of a message that was kept or refused, with the state of its document; null: there is none. */
interface DocumentOutcome {
  file: DocumentOfFile;
  state: DocumentState | null;
}

/** A voice message with its words; null if its transcription is gone. */
interface SpokenOutcome {
  file: Exclude<FetchedFile, DocumentOfFile>;
  spoken: SpokenWords | null;
}

export type FileOutcome = DocumentOutcome | SpokenOutcome;

const MAX_NAME_LENGTH = 255;
const MAX_REASON_LENGTH = 500;
/** Ours: the most characters of a transcript that are shown back to its sender. */
const MAX_SHOWN = 1500;
/** The signs that may not stand in one line. */
const BREAKS = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns the words of voice messages. */
export const wordsIn = (outcomes: FileOutcome[]): string[] =>
  outcomes.flatMap((outcome) => {
    const text = 'spoken' in outcome ? outcome.spoken?.text : null;
    return text ? [text] : [];
  });

/** Returns the words of a message for the agents, with a line about each of its files. */
export const withDocuments = (text: string, outcomes: FileOutcome[]): string => {
  const lines = outcomes.flatMap((outcome) => ('spoken' in outcome ? [] : [lineOf(outcome.file)]));
  return lines.length === 0 ? text : [text, '', ...lines].join('\n');
};

const lineOf = (file: DocumentOfFile): string =>
  'id' in file
    ? `[With this came the file ${quoted(file.name)}, kept as ${file.id}]`
    : `[With this came the file ${quoted(file.name)}, which is not kept]`;

/** Returns the answer to the sender of files: a sentence about each, and what else was refused. */
export const answerOf = (outcomes: FileOutcome[], left: number, refusal: string | null): string => {
  const more = left > 0 ? [`${left} more are not kept: send 10 files at most at once.`] : [];
  const sentences = outcomes.map((one) => ('spoken' in one ? heardIn(one) : sentenceOf(one)));
  return [...sentences, ...more, ...(refusal === null ? [] : [refusal])].join('\n');
};

/** Returns the words that were heard, as they were understood, or why there are none. */
const heardIn = ({ file, spoken }: SpokenOutcome): string => {
  const name = quoted(file.name);
  if (!spoken) return `The transcription of ${name} was deleted meanwhile.`;
  const { status, text, reason, error } = spoken;
  if (status === 'queued' || status === 'running') {
    return `${name} is still being transcribed, so it was not read: send less at once.`;
  }
  if (text) {
    const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)} …` : text;
    return `Heard: “${shown.replace(BREAKS, ' ')}”`;
  }
  return `${name} was not understood: ${oneLine(EMPTY[reason ?? ''] ?? error ?? status)}.`;
};

/** The reasons for which there are no words. */
const EMPTY: Record<string, string> = {
  silence: 'it is silent',
  no_speech: 'no speech is heard in it',
  not_understood: 'speech is heard in it, and no word was understood',
};

const sentenceOf = ({ file, state }: DocumentOutcome): string => {
  const name = quoted(file.name);
  if ('reason' in file) return `${name} is not kept: it ${oneLine(file.reason)}.`;
  if (!state) return `${name} was deleted meanwhile.`;
  const kept = `${name} ${file.isKnown ? 'was here already' : 'is kept'}`;
  return `${kept}${readOf(state)} It is ${file.id}.`;
};

const readOf = ({ status, pages, error }: DocumentState): string => {
  if (status === 'completed')
    return pages === 1 ? ' and read: 1 page.' : ` and read: ${pages} pages.`;
  if (status === 'queued' || status === 'processing') return ' and is still being read.';
  return `, but it was not read: ${oneLine(error ?? status)}.`;
};

const quoted = (name: string): string =>
  `"${name.slice(0, MAX_NAME_LENGTH).replace(BREAKS, '').replaceAll('"', "'")}"`;

const oneLine = (text: string): string =>
  text
    .replace(BREAKS, ' ')
    .slice(0, MAX_REASON_LENGTH)
    .replace(/[.\s]+$/, '');
