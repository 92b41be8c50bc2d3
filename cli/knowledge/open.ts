import type { KnowledgeResults, Reply } from '../../src/client/index.js';
import type { Context, Flag } from '../command.js';
import { failed, usageFault } from '../exit.js';
import { oneLine, safe, wrapText } from '../text.js';
import { type FoundResult, formatResultHeader } from './results.js';

/** Maximum number of results of a search. */
const MAX_RESULTS = 50;

export const openFlag: Flag<number> = {
  value: '<n>',
  about: 'Number of the result whose full text is shown. 1 is the best result',
  read: (text) => {
    if (/^[1-9]\d?$/.test(text) && Number(text) <= MAX_RESULTS) return Number(text);
    throw usageFault(`--open must be a number from 1 to ${MAX_RESULTS} (got "${text}").`);
  },
};

export const openResult = async (
  context: Context,
  { results }: KnowledgeResults,
  n: number,
): Promise<void> => {
  const result = results[n - 1];
  if (!result) {
    throw failed(
      results.length === 0
        ? 'The search found no results.'
        : `There is no result ${n}. Pass a number from 1 to ${results.length}.`,
    );
  }
  const client = await context.client();
  const { entryId, chunk } = result;
  showChunk(context, await client.knowledge.chunk({ id: entryId, n: String(chunk) }));
};

export const showChunk = ({ out }: Context, piece: Reply<'knowledge', 'chunk'>): void => {
  const source = sourceCommand(piece);
  if (out.format !== 'table') {
    const { entryId, text, ...facts } = piece;
    out.item({ id: entryId, ...facts, source, text }, []);
    return;
  }
  for (const line of wrapText(formatResultHeader(piece), out.width)) out.line(line);
  for (const line of [piece.uri, piece.heading]) if (line) out.line(oneLine(line));
  out.line('');
  for (const line of safe(piece.text)
    .split('\n')
    .flatMap((each) => wrapText(each, out.width)))
    out.line(line);
  out.note(`Source: ${source}`);
};

type TextPlace = Pick<
  FoundResult,
  'entryId' | 'chunk' | 'sourceType' | 'sourceId' | 'uri' | 'page'
>;

/** The command, or the address, that opens the source of a chunk. */
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
 * The command that opens a quote in its context: the page of a document, or else the chunk. A web
 * page also has its address, because its content may have changed.
 */
export const quotePlace = (place: TextPlace): string => {
  const { entryId, chunk, sourceType, page, uri } = place;
  if (sourceType === 'document' && page !== null) return sourceCommand(place);
  const address = sourceType === 'page' && uri !== null ? `   ${oneLine(uri)}` : '';
  return `adjutant knowledge chunk ${entryId.slice(-6)} ${chunk}${address}`;
};
