import type { DocumentOfFile, DocumentState } from '../documents/module.js';

/** A file of a message, with the state of its document; null if there is none. */
export interface FileOutcome {
  file: DocumentOfFile;
  state: DocumentState | null;
}

const LONGEST_NAME = 255;
const LONGEST_REASON = 500;
/** The signs that may not stand in one line. */
const BREAKS = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns the words of a message for the agents, with a line about each of its files. */
export const withDocuments = (text: string, outcomes: FileOutcome[]): string => {
  const lines = outcomes.map(({ file }) =>
    'id' in file
      ? `[With this came the file ${quoted(file.name)}, kept as ${file.id}]`
      : `[With this came the file ${quoted(file.name)}, which is not kept]`,
  );
  return [text, '', ...lines].join('\n');
};

/** Returns the answer to the sender of files: a sentence about each, and what else was refused. */
export const answerOf = (outcomes: FileOutcome[], left: number, refusal: string | null): string => {
  const more = left > 0 ? [`${left} more are not kept: send 10 files at most at once.`] : [];
  return [...outcomes.map(sentenceOf), ...more, ...(refusal === null ? [] : [refusal])].join('\n');
};

const sentenceOf = ({ file, state }: FileOutcome): string => {
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
  `"${name.slice(0, LONGEST_NAME).replace(BREAKS, '').replaceAll('"', "'")}"`;

const oneLine = (text: string): string =>
  text
    .replace(BREAKS, ' ')
    .slice(0, LONGEST_REASON)
    .replace(/[.\s]+$/, '');
