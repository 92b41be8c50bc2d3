import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectSchema } from 'joi';
import type { Client, Endpoint } from '../src/client/index.js';
import { isReadAloud } from '../src/client/session.js';
import { type TableColumn, valueAt } from './columns.js';
import {
  type CliCommand,
  type CommandDefinition,
  type CommandFlags,
  type CommandInput,
  type Context,
  command,
  on,
} from './command.js';
import { usageFault } from './exit.js';
import {
  type ArgsOf,
  type RequestField,
  requestFields,
  requestFrom,
  withArguments,
} from './fields.js';
import { freshPasswordFile, readText, withPassword } from './input.js';
import { everyPage, inPace, longestPage, type PageReply } from './pages.js';
import { hasTags, listFields, splitTags } from './tags.js';

/** Input of a command by flags, arguments and `--data`. */
interface GivenFields {
  fields: Record<string, unknown>;
  data?: string;
}

/**
 * Asks, field by field, for what a request needs and was not given. Without a terminal nothing is
 * asked, nor where the whole request is given.
 */
export const askNeeded = async (
  context: Context,
  fields: readonly RequestField[],
  { fields: given, data }: GivenFields,
): Promise<Record<string, unknown>> => {
  if (!context.ask.isPossible || data !== undefined) return {};
  const inputs: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.isNeeded && given[field.path] === undefined) {
      inputs[field.path] = await inputFor(context, field);
    }
  }
  return inputs;
};

const inputFor = async ({ ask }: Context, field: RequestField): Promise<unknown> => {
  const { name, values, kind, about } = field;
  const phrase = name.replaceAll(/[-.]/g, ' ');
  const title = `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}`;
  const instead = `--${name}`;
  if (values.length > 0) return values[await ask.choose({ ask: title, choices: values, instead })];
  const question = {
    ask: about === '' ? title : `${title} (${about})`,
    instead,
    refuse: (text: string) => (text === '' ? 'It is needed.' : undefined),
  };
  const input = await ask.text(question);
  return kind === 'list' ? input.split(/[\s,]+/).filter(Boolean) : input;
};

type PathParameters = Record<string, string>;

/** The target of a request: the client, and the parameters of the endpoint's path. */
export interface RequestTarget {
  client: Client;
  at: PathParameters;
}

const call = <E extends Endpoint>(client: Client, endpoint: E, input: object) =>
  client.call(endpoint, { ...input });
type ReplyTo<E extends Endpoint> = ReturnType<typeof call<E>> extends Promise<infer T> ? T : never;

/** A command that is one request to an endpoint. */
export interface RequestOptions<E extends Endpoint, A extends string, F extends CommandFlags>
  extends Omit<CommandDefinition<A, F>, 'calls' | 'fields' | 'run'> {
  endpoint: E;
  /** Fields of the request without a flag; without this list no field has one. */
  except?: string[];
  /** On a terminal all that is needed and not given is asked for, but for these fields. */
  asks?: string[];
  /** The arguments are fields of the request. */
  areFields?: true;
  /** The argument for which `-` reads standard input. */
  mayBePiped?: string;
  /** True if the daemon asks for the password when the login is older than ten minutes. */
  isPrivileged?: true;
  /** A limit that is longer than usual, where `--timeout` gives none. */
  patienceMs?: number;
  /** Finds what the arguments name, as parameters of the endpoint's path. */
  at?(client: Client, args: ArgsOf<A>): PathParameters | Promise<PathParameters>;
  /** The fields that come from arguments, files and questions. */
  more?(context: Context, given: CommandInput<A, F>, target: RequestTarget): object;
  /** The question before the request. */
  confirm?(given: CommandInput<A, F>): string;
  /** Shows the reply in every format. */
  show?(context: Context, reply: ReplyTo<E>, given: CommandInput<A, F>): unknown;
  /** Shows it in every format but JSON, which is the reply itself. */
  say?(context: Context, reply: ReplyTo<E>, given: CommandInput<A, F>): unknown;
}

/** Makes the command: flags from the contract, the request, and what is shown of the reply. */
export const requestCommand = <
  E extends Endpoint,
  const A extends string = '',
  F extends CommandFlags = CommandFlags,
>(
  options: RequestOptions<E, A, F>,
): CliCommand<A, F> => {
  const { endpoint, except, asks, isPrivileged, patienceMs, areFields, ...rest } = options;
  const { mayBePiped = '', at, more, confirm, show, say, ...definition } = rest;
  const schema = endpoint.body ?? endpoint.query;
  const part = endpoint.body ? 'body' : 'query';
  const requestOf = async (
    context: Context,
    given: CommandInput<A, F>,
    target?: RequestTarget,
  ): Promise<object | undefined> => {
    const typed = areFields ? withArguments(given.fields, given.args) : given.fields;
    const needed = asks && schema ? requestFields(schema, asks) : [];
    const inputs = await askNeeded(context, needed, { fields: typed, data: given.data });
    const added = target && (await more?.(context, given, target));
    if (!except || !schema) return added;
    const filled = { fields: { ...typed, ...inputs }, data: given.data, more: { ...added } };
    return requestFrom(schema, filled, context.at);
  };
  return command<A, F>({
    ...definition,
    calls: [endpoint],
    flags: isPrivileged
      ? Object.assign({}, definition.flags, { passwordFile: freshPasswordFile })
      : definition.flags,
    fields: except && schema && (() => requestFields(schema, except)),
    run: async (context, typed) => {
      const given = await withPiped(context, typed, mayBePiped);
      // A request that asks nobody is held against its schema before the daemon is asked anything.
      const plain = more || asks ? undefined : await requestOf(context, given);
      const client = patient(context, await context.client(), patienceMs);
      const target = { client, at: (await at?.(client, given.args)) ?? {} };
      const request = plain ?? (await requestOf(context, given, target));
      if (confirm) await context.ask.confirm(confirm(given));
      const send = (password: object = {}) => {
        const whole = request || isPrivileged ? { [part]: { ...request, ...password } } : {};
        return call(client, endpoint, { ...target.at, ...whole });
      };
      const reply = await (isPrivileged ? withPassword(context, given.flags, send) : send());
      if (say && context.out.format === 'json') return context.out.json(reply);
      await (say ?? show)?.(context, reply, given);
    },
  });
};

/**
 * Reads the argument from standard input if it is `-`, without its last line feed. Usage: there is
 * no text.
 */
const withPiped = async <G extends { args: object }>(
  context: Context,
  given: G,
  argument: string,
): Promise<G> => {
  if (valueAt(given.args, argument) !== '-') return given;
  const text = await readText(context, '-');
  if (!text?.trim()) throw usageFault('Standard input holds no text.');
  return { ...given, args: { ...given.args, [argument]: text.replace(/\r?\n$/, '') } };
};

/** Returns the client with a limit that is longer than usual, unless `--timeout` gives one. */
export const patient = (context: Context, client: Client, timeoutMs: number | undefined): Client =>
  timeoutMs === undefined || context.flags.timeout ? client : client.with({ timeoutMs });

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
  /** A query that overrides what was typed. */
  query?: object;
  /** The advice below the table, for the rows or for their absence. */
  next?(
    rows: T[],
    args: ArgsOf<A>,
    client: Client,
  ): string | undefined | Promise<string | undefined>;
  /** Returns why rows may be missing, which is said on stderr in every format. */
  missing?(client: Client): Promise<string | undefined>;
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
    fields: () => listFields(requestFields(endpoint.query)),
    flags: { all: on('Every page, not the first alone'), watch: on('Again every two seconds') },
    seeAlso: options.seeAlso,
    run: async (context, { args, flags, fields: given }) => {
      const { fields, others } = splitTags(given);
      const typed = await requestFrom(endpoint.query, { fields }, context.at);
      const isWhole = flags.all || others.length > 0;
      const query = isWhole ? { ...longestPage(endpoint), ...typed } : typed;
      const client = await context.client();
      const parameters = await within?.(client, args);
      const page = (cursor?: object): Promise<PageReply<K, T>> =>
        client.call(endpoint, { ...parameters, query: { ...query, ...options.query, ...cursor } });
      const read = async (): Promise<PageReply<K, T>> => {
        if (!isWhole) return page();
        const reply = await everyPage(options.rows, inPace(context, page));
        const rows: T[] = reply[options.rows];
        return { ...reply, [options.rows]: rows.filter((row) => hasTags(row, others)) };
      };
      const show = (reply: PageReply<K, T>) => showPage(context, options, { args, reply, client });
      if (!flags.watch) await show(await read());
      else if (context.out.format === 'table' && !isReadAloud()) await redraw(context, read, show);
      else await append(context, options, read);
    },
  });
};

const showPage = async <K extends string, T extends object, A extends string>(
  { out }: Context,
  { rows: key, columns, next, missing }: ListOptions<K, T, A>,
  { args, reply, client }: { args: ArgsOf<A>; reply: PageReply<K, T>; client: Client },
): Promise<void> => {
  const rows: T[] = reply[key];
  out.page({ reply, rows, columns });
  const why = await missing?.(client);
  if (why) out.warn(why);
  if (out.format !== 'table') return;
  if (reply.nextCursor) out.note('There are more: add --all, or --limit 200.');
  const advice = await next?.(rows, args, client);
  if (advice) out.note(advice);
};

const redraw = async <R>(
  context: Context,
  read: () => Promise<R>,
  show: (reply: R) => Promise<void>,
): Promise<never> => {
  for (;;) {
    const reply = await read();
    context.out.line(CLEAR);
    await show(reply);
    await pause(WATCH_MS, undefined, { signal: context.signal });
  }
};

/** Prints a row when it is new or has changed, oldest first: for a pipe or a screen reader. */
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
