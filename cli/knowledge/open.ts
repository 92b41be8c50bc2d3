import type { Client, KnowledgeResults } from '../../src/client/index.js';
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
  const { out } = context;
  const result = results[n - 1];
  if (!result) {
    throw failed(`There is no result ${n}: the search found ${results.length || 'nothing'}.`);
  }
  const client = await context.client();
  const { entryId, chunk } = result;
  const piece = await client.knowledge.chunk({ id: entryId, n: String(chunk) });
  const source = await sourceOf(client, result);
  if (out.format !== 'table') {
    const { title, sourceType, uri, trust } = result;
    const { text, page, heading, before, after } = piece;
    const place = { id: entryId, chunk, title, sourceType, uri, trust, page, heading };
    return out.item({ ...place, before, after, source, text }, []);
  }
  for (const line of wrapText(headOf(result), out.width)) out.line(line);
  for (const line of [result.uri, piece.heading]) if (line) out.line(oneLine(line));
  out.line('');
  for (const line of safe(piece.text)
    .split('\n')
    .flatMap((each) => wrapText(each, out.width)))
    out.line(line);
  out.note(`Its source: ${source}`);
};

/** Returns the command, or the address, that opens what the result is from. */
const sourceOf = async (
  client: Client,
  { entryId, sourceType, uri, page }: FoundResult,
): Promise<string> => {
  if (sourceType === 'page' && uri !== null) return oneLine(uri);
  const { sourceId } = await client.knowledge.get({ id: entryId });
  const tail = (sourceId ?? '').slice(-6);
  if (sourceType === 'document' && sourceId !== null) {
    return `adjutant documents text ${tail}${page === null ? '' : ` --page ${page}`}`;
  }
  if (sourceType === 'research' && sourceId !== null) return `adjutant research get ${tail}`;
  return `adjutant knowledge get ${entryId.slice(-6)}`;
};
