import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectSchema } from 'joi';
import type { Client, Endpoint } from '../src/client/index.js';
import { isReadAloud } from '../src/client/session.js';
import type { TableColumn } from './columns.js';
import { type ArgsOf, type CliCommand, command, on } from './command.js';
import type { Context } from './context.js';
import { requestFields, requestFrom } from './fields.js';

type PageReply<K extends string, T> = Record<K, T[]> & { nextCursor: string | null };

/** An endpoint that lists, page by page. */
export interface ListEndpoint<K extends string, T> extends Endpoint {
  query: ObjectSchema;
  reply: ObjectSchema<PageReply<K, T>>;
}

/** The differences between two verbs that list. */
export interface ListOptions<K extends string, T extends object, A extends string> {
  endpoint: ListEndpoint<K, T>;
  /** `list` unless given. */
  name?: string;
  args?: A;
  /** The endpoint's unless given. */
  summary?: string;
  examples: string[];
  /** The key of the rows in the reply. */
  rows: K;
  columns: TableColumn<T>[];
  /** Finds what the arguments name, once, as parameters of the endpoint's path. */
  within?(client: Client, args: ArgsOf<A>): Promise<Record<string, string>>;
  /** Goes over what was typed. */
  query?: object;
  /** The advice below the table, for the rows or for their absence. */
  next?(rows: T[], args: ArgsOf<A>): string | undefined;
  seeAlso?: string;
}

const WATCH_MS = 2000;
const CLEAR = '\u001b[H\u001b[2J';

/** The command of a list: its filters from the contract, `--all` pages, `--watch`. */
export const listCommand = <K extends string, T extends object, const A extends string = ''>(
  options: ListOptions<K, T, A>,
): CliCommand<A> => {
  const { endpoint, within } = options;
  return command({
    name: options.name ?? 'list',
    args: options.args,
    calls: [endpoint],
    summary: options.summary,
    examples: options.examples,
    fields: () => requestFields(endpoint.query),
    flags: { all: on('Every page, not the first alone'), watch: on('Again every two seconds') },
    seeAlso: options.seeAlso,
    run: async (context, { args, flags, fields }) => {
      const query = await requestFrom(endpoint.query, { fields }, context.at);
      const client = await context.client();
      const parameters = await within?.(client, args);
      const page = (cursor?: object): Promise<PageReply<K, T>> =>
        client.call(endpoint, { ...parameters, query: { ...query, ...options.query, ...cursor } });
      const read = () => (flags.all ? everyPage(options.rows, page) : page());
      const show = (reply: PageReply<K, T>) => showPage(context, options, { args, reply });
      if (!flags.watch) show(await read());
      else if (context.out.format === 'table' && !isReadAloud()) await redraw(context, read, show);
      else await append(context, options, read);
    },
  });
};

const showPage = <K extends string, T extends object, A extends string>(
  { out }: Context,
  { rows: key, columns, next }: ListOptions<K, T, A>,
  { args, reply }: { args: ArgsOf<A>; reply: PageReply<K, T> },
): void => {
  const rows: T[] = reply[key];
  out.page({ reply, rows, columns });
  if (out.format !== 'table') return;
  if (reply.nextCursor) out.note('There are more: add --all, or --limit 200.');
  const advice = next?.(rows, args);
  if (advice) out.note(advice);
};

const everyPage = async <K extends string, T>(
  key: K,
  read: (cursor?: object) => Promise<PageReply<K, T>>,
): Promise<PageReply<K, T>> => {
  const first = await read();
  const rows = [...first[key]];
  let cursor = first.nextCursor;
  while (cursor !== null) {
    const page = await read({ cursor });
    rows.push(...page[key]);
    cursor = page.nextCursor;
  }
  return { ...first, [key]: rows, nextCursor: null };
};

const redraw = async <R>(
  context: Context,
  read: () => Promise<R>,
  show: (reply: R) => void,
): Promise<never> => {
  for (;;) {
    const reply = await read();
    context.out.line(CLEAR);
    show(reply);
    await pause(WATCH_MS, undefined, { signal: context.signal });
  }
};

/** In a pipe, or read aloud, a row comes when it is new or has changed, the oldest first. */
const append = async <K extends string, T extends object>(
  context: Context,
  { rows: key, columns }: { rows: K; columns: TableColumn<T>[] },
  read: () => Promise<PageReply<K, T>>,
): Promise<never> => {
  let before = new Set<string>();
  for (;;) {
    const rows: T[] = (await read())[key];
    const news = rows.filter((row) => !before.has(JSON.stringify(row)));
    for (const row of news.reverse()) context.out.item(row, columns);
    before = new Set(rows.map((row) => JSON.stringify(row)));
    await pause(WATCH_MS, undefined, { signal: context.signal });
  }
};
