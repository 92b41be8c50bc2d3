import type { KnowledgeResults, Reply } from '../../src/client/index.js';
import type { Context, Flag } from '../command.js';
import { failed, usageFault } from '../exit.js';
import { oneLine, safe, wrapText } from '../text.js';
import { type FoundResult, headOf } from './results.js';

/** The most results of a search. */
const MOST = 50;

/** The number of a result, whose whole text is shown. */
export const openFlag: Flag<number> = {
  value: '<n>',
  about: 'Show the whole text of one result; 1 is the best',
  read: (text) => {
    if (/^[1-9]\d?$/.test(text) && Number(text) <= MOST) return Number(text);
    throw usageFault(`A result is a number from 1 to ${MOST} (got "${text}").`);
  },
};

/** Shows the chunk of one result, and how to open what it is from. Failed: there are fewer. */
export const openResult = async (
  context: Context,
  { results }: KnowledgeResults,
  n: number,
): Promise<void> => {
  const result = results[n - 1];
  if (!result) {
    throw failed(`There is no result ${n}: the search found ${results.length || 'nothing'}.`);
  }
  const client = await context.client();
  const { entryId, chunk } = result;
  showChunk(context, await client.knowledge.chunk({ id: entryId, n: String(chunk) }));
};

/** Shows a chunk with its place, and how to open what it is from. */
export const showChunk = ({ out }: Context, piece: Reply<'knowledge', 'chunk'>): void => {
  const source = sourceCommand(piece);
  if (out.format !== 'table') {
    const { entryId, text, ...facts } = piece;
    out.item({ id: entryId, ...facts, source, text }, []);
    return;
  }
  for (const line of wrapText(headOf(piece), out.width)) out.line(line);
  for (const line of [piece.uri, piece.heading]) if (line) out.line(oneLine(line));
  out.line('');
  for (const line of safe(piece.text)
    .split('\n')
    .flatMap((each) => wrapText(each, out.width)))
    out.line(line);
  out.note(`Its source: ${source}`);
};

type TextPlace = Pick<
  FoundResult,
  'entryId' | 'chunk' | 'sourceType' | 'sourceId' | 'uri' | 'page'
>;

/** Returns the command, or the address, that opens what a chunk is from. */
const sourceCommand = ({ entryId, sourceType, sourceId, uri, page }: TextPlace): string => {
  if (sourceType === 'page' && uri !== null) return oneLine(uri);
  const tail = (sourceId ?? '').slice(-6);
  if (sourceType === 'document' && sourceId !== null) {
    return `adjutant documents text ${tail}${page === null ? '' : ` --page ${page}`}`;
  }
  if (sourceType === 'research' && sourceId !== null) return `adjutant research get ${tail}`;
  return `adjutant knowledge get ${entryId.slice(-6)}`;
};

/**
 * Returns the command that opens a quote where it stands: its page of a document, else its chunk, with
 * the address of a web page, which may say something else by now.
 */
export const quotePlace = (place: TextPlace): string => {
  const { entryId, chunk, sourceType, page, uri } = place;
  if (sourceType === 'document' && page !== null) return sourceCommand(place);
  const address = sourceType === 'page' && uri !== null ? `   ${oneLine(uri)}` : '';
  return `adjutant knowledge chunk ${entryId.slice(-6)} ${chunk}${address}`;
};
