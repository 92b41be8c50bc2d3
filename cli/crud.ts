import type { ObjectSchema } from 'joi';
import type { Client, Endpoint } from '../src/client/index.js';
import { type TableColumn, valueAt } from './columns.js';
import { type CommandFlags, type CommandInput, type Context, command } from './command.js';
import { changedByEditor, editFlag, isEdited } from './edit.js';
import { failed } from './exit.js';
import { type ArgsOf, requestFields, requestFrom } from './fields.js';
import { freshPasswordFile, withPassword } from './input.js';
import { namePages } from './pages.js';
import {
  type ListEndpoint,
  type ListOptions,
  listCommand,
  type RequestOptions,
  requestCommand,
} from './request.js';
import { type Named, type NamedKind, resolveId } from './resolve.js';
import { safe } from './text.js';

/** An endpoint that answers with one row of the list. */
export interface RowEndpoint<T> extends Endpoint {
  reply: ObjectSchema<T>;
}

export interface ChangeEndpoint<T> extends RowEndpoint<T> {
  body: ObjectSchema;
}

/** The options that all verbs of a noun share. */
export interface CrudNoun<K extends string, T extends object> {
  /** `hook`: the beginning of its ids, and the name of its argument unless another is given. */
  noun: string;
  /** The word for one of them in messages, where the beginning of its ids is none. */
  called?: string;
  argument?: string;
  /** The key of its rows in the reply of the list. */
  rows: K;
  /** The words before its verbs where they are not the key: `auth tokens`. */
  path?: string;
  /** The name of the verb that lists them; `list` unless given. */
  listed?: string;
  columns: TableColumn<T>[];
  endpoints: {
    list: ListEndpoint<K, T>;
    get?: RowEndpoint<T>;
    update?: ChangeEndpoint<T>;
    delete?: Endpoint;
  };
  /** The id and the name by which a row is known. */
  named(row: T): Named;
  /** The things that its verbs may name; the rows of its list unless given. */
  kind?(client: Client): NamedKind;
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
  /** True if it takes several of them. */
  several?: true;
  /** Makes the note on what is deleted with it, printed before the question. */
  loss?(client: Client, row: T): Promise<string>;
}

interface EndOptions extends VerbHelp {
  /** The question to the person, about what was typed. */
  ask(typed: string): string;
  /** The sentence printed when it is done. */
  message: string;
}

interface ActOptions<T> extends VerbHelp {
  body?: object;
  /** The question before the request, about what was typed. */
  ask?(typed: string): string;
  /** The sentence printed when it is done. */
  message(row: T): string;
}

/** A request about one thing, which the first argument names. */
type NounRequest<E extends Endpoint, A extends string, F extends CommandFlags> = Omit<
  RequestOptions<E, A, F>,
  'at'
> & {
  /** Finds what the further arguments name, as parameters of the path. */
  within?(client: Client, id: string, args: ArgsOf<A>): Promise<Record<string, string>>;
};

type UpdateGiven<F> = Pick<CommandInput<string, F>, 'flags' | 'fields' | 'data'>;

interface UpdateOptions<T, F extends CommandFlags> extends VerbHelp {
  flags?: F;
  /** Paths of the body that have no flag. */
  except?: string[];
  /** Paths of the body that no editor is shown. */
  secrets?: string[];
  /** True if the daemon asks for the password when the login is older than ten minutes. */
  isPrivileged?: true;
  /** The sentence printed when it is done. */
  message?(is: Named, row: T): string;
  /** Makes the request from what was found, where the flags alone do not say it. */
  body?(context: Context, given: UpdateGiven<F>, found: CrudTarget): Promise<unknown>;
  /** Changes it in an editor in a form of its own, in place of JSON. null: nothing was changed. */
  edit?(context: Context, found: CrudTarget): Promise<T | null>;
}

/**
 * Makes the verbs that every noun has: list, get, update, delete, and verbs that act on one thing.
 */
export const crud = <K extends string, T extends object>(noun: CrudNoun<K, T>) => {
  const { argument = noun.noun, rows, endpoints, columns, named } = noun;
  const args = `<${argument}>`;
  const typedIn = (given: object): string => String(valueAt(given, argument) ?? '');

  const id = async (client: Client, typed: string): Promise<string> => {
    if (noun.isExact) return typed;
    return resolveId(typed, noun.kind?.(client) ?? rowKind(noun, client));
  };

  const find = async (context: Context, typed: string): Promise<CrudTarget> => {
    const client = await context.client();
    return { client, id: await id(client, typed) };
  };

  /** Reads one row; from the list where no endpoint shows one. */
  const read = async (client: Client, found: string, cursor?: string): Promise<T> => {
    const { get, list } = endpoints;
    if (get) return client.call(get, parameter(get, found));
    const reply = await client.call(list, { query: { limit: 200, cursor } });
    const row = reply[rows].find((each) => named(each).id === found);
    if (row) return row;
    if (reply.nextCursor === null)
      throw failed(`No ${noun.called ?? noun.noun} has the id "${safe(found)}".`);
    return read(client, found, reply.nextCursor);
  };

  const request = <
    E extends Endpoint,
    const A extends string = string,
    F extends CommandFlags = CommandFlags,
  >({
    within,
    ...options
  }: NounRequest<E, A, F>) =>
    requestCommand<E, A, F>({
      ...options,
      at: async (client, given) => {
        const found = await id(client, typedIn(given));
        return { ...parameter(options.endpoint, found), ...(await within?.(client, found, given)) };
      },
    });

  const update = <F extends CommandFlags>({
    flags,
    except,
    secrets,
    isPrivileged,
    message = ({ name }) => `Changed ${safe(name)}.`,
    body: bodyOf,
    edit: ownEdit,
    ...help
  }: UpdateOptions<T, F>) => {
    const endpoint = declared(endpoints.update, rows);
    const schema = endpoint.body;
    return command({
      ...help,
      name: 'update',
      args,
      calls: [endpoint],
      fields: () => requestFields(schema, except),
      takesData: true,
      flags: Object.assign({}, flags, {
        edit: editFlag,
        ...(isPrivileged && { passwordFile: freshPasswordFile }),
      }),
      run: async (context, given) => {
        const first = bodyOf && (await find(context, typedIn(given.args)));
        const isByEditor = isEdited(context, given);
        const plain =
          isByEditor || bodyOf ? undefined : await requestFrom(schema, given, context.at);
        const found = first ?? (await find(context, typedIn(given.args)));
        const at = parameter(endpoint, found.id);
        const send = (body: object) => {
          const call = (password: object) =>
            found.client.call(endpoint, { ...at, body: { ...body, ...password } });
          return isPrivileged ? withPassword(context, given.flags, call) : call({});
        };
        const inJson = async () => {
          const present = await read(found.client, found.id);
          const title = `${noun.called ?? noun.noun} ${named(present).name}`;
          return changedByEditor(context, { title, schema, present, secrets, send });
        };
        const row = isByEditor
          ? await (ownEdit ?? inJson)(context, found)
          : await send(plain ?? (await bodyOf?.(context, given, found)));
        if (row) context.out.done(message(named(row), row), row, columns);
      },
    });
  };

  /** Makes a `delete` that reads the row first, so that the question can describe it. */
  const deletion = ({ ask, loss, several, ...help }: DeleteOptions<T>) => {
    const remove = declared(endpoints.delete, rows);
    return command({
      ...help,
      name: 'delete',
      args: several ? `<${argument}...>` : args,
      calls: [remove],
      run: async (context, given) => {
        for (const typed of [valueAt(given.args, argument)].flat()) {
          const { client, id: found } = await find(context, String(typed));
          const row = await read(client, found);
          if (loss) context.out.note(await loss(client, row));
          await context.ask.confirm(ask(row));
          await client.call(remove, parameter(remove, named(row).id));
          context.out.done(`Deleted ${safe(named(row).name)}.`);
        }
      },
    });
  };

  return {
    find,
    id,
    request,
    update,
    delete: deletion,
    list: (options: Pick<ListOptions<K, T, ''>, 'examples' | 'next' | 'missing' | 'seeAlso'>) =>
      listCommand({ ...noun, ...options, endpoint: endpoints.list }),
    get: (help: VerbHelp) =>
      request({
        ...help,
        name: 'get',
        args,
        endpoint: declared(endpoints.get, rows),
        show: ({ out }, row) => out.item(row, columns),
      }),
    /** Makes a `delete` that asks about the typed name, without reading the row first. */
    end: ({ ask, message, ...help }: EndOptions) =>
      request({
        ...help,
        name: 'delete',
        args,
        endpoint: declared(endpoints.delete, rows),
        confirm: (given) => ask(typedIn(given.args)),
        show: ({ out }) => out.note(message),
      }),
    act: (name: string, endpoint: RowEndpoint<T>, { body, ask, message, ...help }: ActOptions<T>) =>
      request({
        ...help,
        name,
        args,
        endpoint,
        more: body && (() => body),
        confirm: ask && ((given) => ask(typedIn(given.args))),
        show: ({ out }, row) => out.done(message(row), row, columns),
      }),
  };
};

/** The rows of a list, for the words that name one of them. */
const rowKind = <K extends string, T extends object>(
  { noun, called = noun, rows, path = rows, listed = 'list', endpoints, named }: CrudNoun<K, T>,
  client: Client,
): NamedKind => ({
  noun,
  called,
  listed: `${path} ${listed}`,
  page: namePages(rows, (query) => client.call(endpoints.list, { query }), named),
});

/** The id as the first parameter of the endpoint's path. */
const parameter = ({ path }: Endpoint, id: string): Record<string, string> => ({
  [/\{(\w+)\}/.exec(path)?.[1] ?? 'id']: id,
});

/** TypeError: the contract has none. */
const declared = <E>(endpoint: E | undefined, rows: string): E => {
  if (!endpoint) throw new TypeError(`No such endpoint for ${rows}`);
  return endpoint;
};
