import type { ObjectSchema } from 'joi';
import type { Client, Endpoint } from '../src/client/index.js';
import type { TableColumn } from './columns.js';
import { type CliCommand, type CommandFlags, type CommandInput, command } from './command.js';
import type { Context } from './context.js';
import { changedByEditor, editFlag, isEdited } from './edit.js';
import { requestFields, requestFrom } from './fields.js';
import { type ListEndpoint, type ListOptions, listCommand } from './list.js';
import { type Named, resolveId } from './resolve.js';
import { safe } from './text.js';

/** An endpoint that answers with one row of the list. */
interface RowEndpoint<T> extends Endpoint {
  reply: ObjectSchema<T>;
}

interface ChangeEndpoint<T> extends RowEndpoint<T> {
  body: ObjectSchema;
}

/** The common ground of a noun's verbs. */
export interface CrudNoun<K extends string, T extends object> {
  /** `hook`: the beginning of its ids, and the name of its argument unless another is given. */
  noun: string;
  argument?: string;
  /** The key of its rows in the reply of the list. */
  rows: K;
  /** The words before its verbs where they are not the key: `auth tokens`. */
  path?: string;
  columns: TableColumn<T>[];
  endpoints: {
    list: ListEndpoint<K, T>;
    get?: RowEndpoint<T>;
    update?: ChangeEndpoint<T>;
    delete?: Endpoint;
  };
  /** The id and the name by which a row is known. */
  named(row: T): Named;
  /** True where the typed word is the id itself; the daemon then says that there is no such thing. */
  isExact?: true;
}

/** Help of a verb beside what follows from the contract. */
interface VerbHelp {
  summary?: string;
  examples: string[];
  notes?: string[];
  seeAlso?: string;
}

interface CrudTarget {
  client: Client;
  id: string;
}

interface DeleteOptions<T> extends VerbHelp {
  /** The question to the person, about what was found. */
  ask(row: T): string;
  /** Makes the note on what is deleted with it, printed before the question. */
  loss?(client: Client, row: T): Promise<string>;
}

interface EndOptions extends VerbHelp {
  /** The question to the person, about what was typed. */
  ask(typed: string): string;
  /** The sentence printed when it is done. */
  said: string;
}

interface ActOptions<T> extends VerbHelp {
  body?: unknown;
  /** Asked first, of what was typed. */
  ask?(typed: string): string;
  /** The sentence printed when it is done. */
  said(row: T): string;
}

interface RowVerb<T> {
  name: string;
  endpoint: RowEndpoint<T>;
}

type UpdateGiven<F> = Pick<CommandInput<string, F>, 'flags' | 'fields' | 'data'>;

interface UpdateOptions<F extends CommandFlags> extends VerbHelp {
  flags?: F;
  /** Paths of the body that have no flag. */
  except?: string[];
  /** Paths of the body that no editor is shown. */
  secrets?: string[];
  /** `Changed` unless given. */
  said?: string;
  /** Makes the request where the flags alone do not say it. */
  body?(context: Context, given: UpdateGiven<F>, found: CrudTarget): Promise<unknown>;
}

/** The verbs that are alike for every noun: its list, show, change, delete, and what acts on one. */
export const crud = <K extends string, T extends object>(noun: CrudNoun<K, T>) => ({
  find: (context: Context, typed: string) => find(noun, context, typed),
  id: (client: Client, typed: string) => idIn(noun, client, typed),
  list: (options: Pick<ListOptions<K, T, ''>, 'examples' | 'next' | 'seeAlso'>) =>
    listCommand({ ...noun, ...options, endpoint: noun.endpoints.list }),
  get: (options: VerbHelp) => getCommand(noun, options),
  update: <F extends CommandFlags>(options: UpdateOptions<F>) => updateCommand(noun, options),
  delete: (options: DeleteOptions<T>) => deleteCommand(noun, options),
  end: (options: EndOptions) => endCommand(noun, options),
  act: (name: string, endpoint: RowEndpoint<T>, options: ActOptions<T>) =>
    actCommand(noun, { ...options, name, endpoint }),
});

const find = async <K extends string, T extends object>(
  noun: CrudNoun<K, T>,
  context: Context,
  typed: string,
): Promise<CrudTarget> => {
  const client = await context.client();
  return { client, id: await idIn(noun, client, typed) };
};

const idIn = <K extends string, T extends object>(
  { noun, rows, path = rows, endpoints, named, isExact }: CrudNoun<K, T>,
  client: Client,
  typed: string,
): Promise<string> => {
  if (isExact) return Promise.resolve(typed);
  const page = async (cursor: string | undefined) => {
    const reply = await client.call(endpoints.list, { query: { limit: 200, cursor } });
    return { rows: reply[rows].map(named), nextCursor: reply.nextCursor };
  };
  return resolveId(typed, { noun, listed: `${path} list`, page });
};

const argumentOf = ({ noun, argument = noun }: { noun: string; argument?: string }): string =>
  argument;

/** The id as the one parameter of the endpoint's path. */
const parameter = ({ path }: Endpoint, id: string): Record<string, string> => ({
  [/\{(\w+)\}/.exec(path)?.[1] ?? 'id']: id,
});

/** TypeError: the contract has none. */
const declared = <E>(endpoint: E | undefined, rows: string): E => {
  if (!endpoint) throw new TypeError(`No such endpoint for ${rows}`);
  return endpoint;
};

/** A verb on one thing, which its argument names. */
interface NounVerb extends VerbHelp {
  name: string;
  endpoint: Endpoint;
}

const verbCommand = <K extends string, T extends object>(
  noun: CrudNoun<K, T>,
  { endpoint, ...verb }: NounVerb,
  run: (context: Context, typed: string) => Promise<void>,
): CliCommand =>
  command({
    ...verb,
    args: `<${argumentOf(noun)}>`,
    calls: [endpoint],
    run: (context, { args }) => run(context, args[argumentOf(noun)] ?? ''),
  });

const getCommand = <K extends string, T extends object>(
  noun: CrudNoun<K, T>,
  help: VerbHelp,
): CliCommand => {
  const get = declared(noun.endpoints.get, noun.rows);
  return verbCommand(noun, { ...help, name: 'get', endpoint: get }, async (context, typed) => {
    const { client, id } = await find(noun, context, typed);
    context.out.item(await client.call(get, parameter(get, id)), noun.columns);
  });
};

const updateCommand = <K extends string, T extends object, F extends CommandFlags>(
  noun: CrudNoun<K, T>,
  { flags, except, secrets, said = 'Changed', body: bodyOf, ...help }: UpdateOptions<F>,
): CliCommand => {
  const update = declared(noun.endpoints.update, noun.rows);
  const get = declared(noun.endpoints.get, noun.rows);
  return command({
    ...help,
    name: 'update',
    args: `<${argumentOf(noun)}>`,
    calls: [update],
    fields: () => requestFields(update.body, except),
    takesData: true,
    flags: Object.assign({}, flags, { edit: editFlag }),
    run: async (context, given) => {
      const typed = given.args[argumentOf(noun)] ?? '';
      // A request that is made from what there is comes after the search for it.
      const first = bodyOf && (await find(noun, context, typed));
      const isByEditor = isEdited(context, given);
      const isPlain = !isByEditor && bodyOf === undefined;
      const plain = isPlain ? await requestFrom(update.body, given, context.at) : undefined;
      const found = first ?? (await find(noun, context, typed));
      const at = parameter(update, found.id);
      const send = (body: unknown) => found.client.call(update, { ...at, body });
      const edit = async () => {
        const present = await found.client.call(get, parameter(get, found.id));
        const title = `${noun.noun} ${noun.named(present).name}`;
        return changedByEditor(context, { title, schema: update.body, present, secrets, send });
      };
      const row = isByEditor
        ? await edit()
        : await send(plain ?? (await bodyOf?.(context, given, found)));
      if (row) context.out.done(`${said} ${safe(noun.named(row).name)}.`, row, noun.columns);
    },
  });
};

const deleteCommand = <K extends string, T extends object>(
  noun: CrudNoun<K, T>,
  { ask, loss, ...help }: DeleteOptions<T>,
): CliCommand => {
  const get = declared(noun.endpoints.get, noun.rows);
  const remove = declared(noun.endpoints.delete, noun.rows);
  return verbCommand(
    noun,
    { ...help, name: 'delete', endpoint: remove },
    async (context, typed) => {
      const found = await find(noun, context, typed);
      const row = await found.client.call(get, parameter(get, found.id));
      if (loss) context.out.note(await loss(found.client, row));
      await context.ask.confirm(ask(row));
      const { id, name } = noun.named(row);
      await found.client.call(remove, parameter(remove, id));
      context.out.done(`Deleted ${safe(name)}.`);
    },
  );
};

/** `delete` of what is not read again before. */
const endCommand = <K extends string, T extends object>(
  noun: CrudNoun<K, T>,
  { ask, said, ...help }: EndOptions,
): CliCommand => {
  const remove = declared(noun.endpoints.delete, noun.rows);
  return verbCommand(
    noun,
    { ...help, name: 'delete', endpoint: remove },
    async (context, typed) => {
      const { client, id } = await find(noun, context, typed);
      await context.ask.confirm(ask(typed));
      await client.call(remove, parameter(remove, id));
      context.out.note(said);
    },
  );
};

const actCommand = <K extends string, T extends object>(
  noun: CrudNoun<K, T>,
  { name, endpoint, body, ask, said, ...help }: ActOptions<T> & RowVerb<T>,
): CliCommand =>
  verbCommand(noun, { ...help, name, endpoint }, async (context, typed) => {
    const { client, id } = await find(noun, context, typed);
    if (ask) await context.ask.confirm(ask(typed));
    const row = await client.call(endpoint, { ...parameter(endpoint, id), body });
    context.out.done(said(row), row, noun.columns);
  });
