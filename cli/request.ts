import type { ObjectSchema } from 'joi';
import type { Client, Endpoint } from '../src/client/index.js';
import { usesScreenReader } from '../src/client/session.js';
import { type TableColumn, valueAt } from './columns.js';
import {
  type CliCommand,
  type CommandDefinition,
  type CommandFlags,
  type CommandInput,
  type Context,
  command,
  switchFlag,
} from './command.js';
import {
  type ArgsOf,
  type RequestField,
  requestFields,
  requestFrom,
  withArguments,
} from './fields.js';
import { freshPasswordFile, readPipedText, withPassword } from './input.js';
import { withOrgColumn } from './orgslugs.js';
import type { OutputPage } from './output.js';
import { everyPage, maxPageQuery, type PageReply, retryWhenLimited } from './pages.js';
import { hasTags, listFields, splitTags } from './tags.js';

interface TypedFields {
  fields: Record<string, unknown>;
  data?: string;
}

/**
 * Asks for each required field that is missing. Asks nothing without a terminal, or if `--data`
 * sets the whole request.
 */
export const askNeeded = async (
  context: Context,
  fields: readonly RequestField[],
  { fields: commandInput, data }: TypedFields,
): Promise<Record<string, unknown>> => {
  if (!context.ask.isPossible || data !== undefined) return {};
  const inputs: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.isNeeded && commandInput[field.path] === undefined) {
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
    refuse: (text: string) => (text === '' ? 'A value is required.' : undefined),
  };
  const input = await ask.text(question);
  return kind === 'list' ? input.split(/[\s,]+/).filter(Boolean) : input;
};

type PathParameters = Record<string, string>;

/** The client, and the parameters of the endpoint's path. */
export interface RequestTarget {
  client: Client;
  at: PathParameters;
}

const call = <E extends Endpoint>(client: Client, endpoint: E, input: object) =>
  client.call(endpoint, { ...input });
type ReplyTo<E extends Endpoint> = ReturnType<typeof call<E>> extends Promise<infer T> ? T : never;

/** A command that sends one request. */
export interface RequestOptions<E extends Endpoint, A extends string, F extends CommandFlags>
  extends Omit<CommandDefinition<A, F>, 'calls' | 'fields' | 'run'> {
  endpoint: E;
  /** Fields of the request without a flag. Without this list no field has a flag. */
  except?: string[];
  /** Fields that a terminal does not ask for. Without this list it asks for none. */
  asks?: string[];
  /** Whether the arguments are fields of the request. */
  areFields?: true;
  /** Argument for which `-` reads standard input. */
  mayBePiped?: string;
  /** Whether the daemon asks for the password if the login is older than ten minutes. */
  isPrivileged?: true;
  /** Resolves the arguments to parameters of the path. */
  at?(client: Client, args: ArgsOf<A>): PathParameters | Promise<PathParameters>;
  /** Fields from arguments, files and questions. */
  more?(context: Context, commandInput: CommandInput<A, F>, target: RequestTarget): object;
  /** The question before the request. */
  confirm?(commandInput: CommandInput<A, F>): string;
  /** Shows the reply in every format. */
  show?(context: Context, reply: ReplyTo<E>, commandInput: CommandInput<A, F>): unknown;
  /** Shows it in every format except JSON, which prints the reply. */
  say?(context: Context, reply: ReplyTo<E>, commandInput: CommandInput<A, F>): unknown;
}

/** Creates the command: flags from the contract, the request, and the output. */
export const requestCommand = <
  E extends Endpoint,
  const A extends string = '',
  F extends CommandFlags = CommandFlags,
>(
  options: RequestOptions<E, A, F>,
): CliCommand<A, F> => {
  const { endpoint, except, asks, isPrivileged, areFields, ...rest } = options;
  const { mayBePiped = '', at, more, confirm, show, say, ...definition } = rest;
  const schema = endpoint.body ?? endpoint.query;
  const part = endpoint.body ? 'body' : 'query';
  const requestOf = async (
    context: Context,
    commandInput: CommandInput<A, F>,
    target?: RequestTarget,
  ): Promise<object | undefined> => {
    const typed = areFields
      ? withArguments(commandInput.fields, commandInput.args)
      : commandInput.fields;
    const needed = asks && schema ? requestFields(schema, asks) : [];
    const inputs = await askNeeded(context, needed, { fields: typed, data: commandInput.data });
    const added = target && (await more?.(context, commandInput, target));
    if (!except || !schema) return added;
    const filled = { fields: { ...typed, ...inputs }, data: commandInput.data, more: { ...added } };
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
      const commandInput = await withPiped(context, typed, mayBePiped);
      // If nothing must be asked for, the request is validated before any other request.
      const plain = more || asks ? undefined : await requestOf(context, commandInput);
      const client = await context.client();
      const target = { client, at: (await at?.(client, commandInput.args)) ?? {} };
      const request = plain ?? (await requestOf(context, commandInput, target));
      if (confirm) await context.ask.confirm(confirm(commandInput));
      const send = (password: object = {}) => {
        const whole = request || isPrivileged ? { [part]: { ...request, ...password } } : {};
        return call(client, endpoint, { ...target.at, ...whole });
      };
      const reply = await (isPrivileged ? withPassword(context, commandInput.flags, send) : send());
      if (say && context.out.format === 'json') return context.out.json(reply);
      await (say ?? show)?.(context, reply, commandInput);
    },
  });
};

/** Reads the argument from standard input if it is `-`, without its last line feed. */
const withPiped = async <G extends { args: object }>(
  context: Context,
  commandInput: G,
  argument: string,
): Promise<G> => {
  if (valueAt(commandInput.args, argument) !== '-') return commandInput;
  const text = await readPipedText(context);
  return {
    ...commandInput,
    args: { ...commandInput.args, [argument]: text.replace(/\r?\n$/, '') },
  };
};

export interface ListEndpoint<K extends string, T> extends Endpoint {
  query: ObjectSchema;
  reply: ObjectSchema<PageReply<K, T>>;
}

export interface ListOptions<K extends string, T extends object, A extends string> {
  endpoint: ListEndpoint<K, T>;
  /** Defaults to `list`. */
  name?: string;
  args?: A;
  /** Defaults to that of the endpoint. */
  summary?: string;
  examples: string[];
  /** Key of the rows in the reply. */
  rows: K;
  columns: TableColumn<T>[];
  named?: OutputPage<T>['named'];
  /** Resolves the arguments to parameters of the path, once. */
  within?(client: Client, args: ArgsOf<A>): Promise<Record<string, string>>;
  /** Query that applies unless the switch, or a field of it, is typed. */
  narrow?: { flag: string; about: string; query: object };
  /** A query that overrides the typed one. */
  query?: object;
  /** Advice below the table, for the rows or for an empty list. */
  next?(
    rows: T[],
    args: ArgsOf<A>,
    client: Client,
  ): string | undefined | Promise<string | undefined>;
  /** Explains why rows may be missing; printed to stderr in every format. */
  missing?(client: Client): Promise<string | undefined>;
  seeAlso?: string;
}

const WATCH_MS = 2000;
const CLEAR = '\u001b[H\u001b[2J';

/** A list command: filters from the contract, `--all`, `--watch`. */
export const listCommand = <K extends string, T extends object, const A extends string = ''>(
  options: ListOptions<K, T, A>,
): CliCommand<A> => {
  const { endpoint, within, narrow } = options;
  return command({
    name: options.name ?? 'list',
    args: options.args,
    calls: [endpoint],
    summary: options.summary,
    examples: options.examples,
    fields: () => listFields(requestFields(endpoint.query)),
    flags: {
      all: switchFlag('Fetch all pages, not only the first'),
      watch: switchFlag('Refresh every two seconds'),
      ...(narrow && { [narrow.flag]: switchFlag(narrow.about) }),
    },
    seeAlso: options.seeAlso,
    run: async (context, { args, flags, fields: commandInput }) => {
      const { fields, others } = splitTags(commandInput);
      const typed = await requestFrom(endpoint.query, { fields }, context.at);
      const isWhole = flags.all || others.length > 0;
      const isNarrow =
        narrow && !Object.entries(flags).some(([name, on]) => on && name === narrow.flag);
      const chosen = { ...(isNarrow && narrow.query), ...typed };
      const query = isWhole ? { ...maxPageQuery(endpoint), ...chosen } : chosen;
      const client = await context.client();
      const parameters = await within?.(client, args);
      const page = (cursor?: object): Promise<PageReply<K, T>> =>
        client.call(endpoint, { ...parameters, query: { ...query, ...options.query, ...cursor } });
      const read = async (): Promise<PageReply<K, T>> => {
        if (!isWhole) return page();
        const reply = await everyPage(options.rows, retryWhenLimited(context, page));
        const rows: T[] = reply[options.rows];
        return { ...reply, [options.rows]: rows.filter((row) => hasTags(row, others)) };
      };
      const show = (reply: PageReply<K, T>) => showPage(context, options, { args, reply, client });
      if (!flags.watch) await show(await read());
      else if (context.out.format === 'table' && !usesScreenReader())
        await redraw(context, read, show);
      else await append(context, options, read);
    },
  });
};

const showPage = async <K extends string, T extends object, A extends string>(
  context: Context,
  { rows: key, columns, named, next, missing }: ListOptions<K, T, A>,
  { args, reply, client }: { args: ArgsOf<A>; reply: PageReply<K, T>; client: Client },
): Promise<void> => {
  const { out } = context;
  const rows: T[] = reply[key];
  out.page({ reply, rows, columns: await withOrgColumn(context, rows, columns), named });
  const why = await missing?.(client);
  if (why) out.warn(why);
  if (out.format !== 'table') return;
  if (reply.nextCursor) out.note('There are more. Add --all, or --limit 200.');
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
    await context.clock.wait(WATCH_MS, context.signal);
  }
};

/** Prints a row when it is new or has changed, oldest first, for a pipe or a screen reader. */
const append = async <K extends string, T extends object>(
  context: Context,
  { rows: key, columns }: { rows: K; columns: TableColumn<T>[] },
  read: () => Promise<PageReply<K, T>>,
): Promise<never> => {
  let before = new Set<string>();
  for (;;) {
    const rows: T[] = (await read())[key];
    const news = rows.filter((row) => !before.has(JSON.stringify(row)));
    const shown = await withOrgColumn(context, news, columns);
    for (const row of news.reverse()) context.out.item(row, shown);
    before = new Set(rows.map((row) => JSON.stringify(row)));
    await context.clock.wait(WATCH_MS, context.signal);
  }
};
